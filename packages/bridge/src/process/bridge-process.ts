/**
 * The venue's side of the attestors' process: serves its requests from the port, in parts so that large
 * pages do not delay orders, and forwards its events. A process that ends unexpectedly is restarted
 * after a pause; attestors have no state to lose.
 */

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type ChildProgram, sendTo, startChild, stopChild } from "@perpgate/journal/child";
import type { BridgeOptions } from "../attest/bridge.js";
import { publicKeyHex } from "../attestor-key.js";
import type { ChainBridgeConfig } from "../config/bridge-config.js";
import type { DepositPort } from "../venue-port.js";
import type {
  AttestorData,
  AttestorRequest,
  FromAttestors,
  ResponseRows,
  ToAttestors,
} from "./messages.js";

interface BridgeProcessParts extends Omit<BridgeOptions, "uniform"> {
  readonly config: ChainBridgeConfig;
  /** The hash of the venue's Genesis. */
  readonly venueId: string;
  /** Receives votes whose signatures the process has verified. */
  readonly port: DepositPort;
  /** The process ended unexpectedly; it will be started again. */
  readonly onEnded: (error: Error) => void;
}

const HEAP_MB = 512;
const ROWS_PER_TURN = 64;
const RESTART_AFTER_MS = 5_000;
/** A process that has not ended by then is killed; its votes are repeated later. */
const STOP_WITHIN_MS = 5_000;

export class BridgeProcess {
  private program: ChildProgram | undefined;
  private restart: NodeJS.Timeout | undefined;
  private isStopping = false;

  constructor(private readonly parts: BridgeProcessParts) {}

  start(): void {
    if (this.program !== undefined) return;
    const { config, venueId, clock } = this.parts;
    const chains = config.chains.map(({ dialect: _, ...chain }) => chain);
    const data: AttestorData = {
      ...config,
      chains,
      members: config.members.map(publicKeyHex),
      attestors: config.attestors.map(({ index, privateKey }) => ({
        index,
        privateKey: privateKey.export({ format: "jwk" }),
      })),
      venueId,
      nowMs: clock(),
    };
    const program = startChild<FromAttestors>(
      "attestor",
      "./attestor-process.js",
      import.meta.url,
      { data, heapMb: HEAP_MB, onMessage: (message) => this.onMessage(program, message) },
    );
    this.program = program;
    void program.exited.then((reason) => this.onExit(reason));
  }

  /** Waits for votes in flight and for the process to end. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restart);
    if (this.program === undefined) return;
    const message: ToAttestors = { kind: "stop" };
    await stopChild(this.program, message, STOP_WITHIN_MS);
  }

  private onExit(reason: Error): void {
    this.program = undefined;
    if (this.isStopping) return;
    this.parts.onEnded(reason);
    this.restart = setTimeout(() => this.start(), RESTART_AFTER_MS);
    this.restart.unref();
  }

  private onMessage(program: ChildProgram, message: FromAttestors): void {
    if (message.kind === "event") this.parts.observe(message.event);
    else void this.respond(program, message.id, message.request);
  }

  private async respond(
    program: ChildProgram,
    id: number,
    request: AttestorRequest,
  ): Promise<void> {
    try {
      const { rows, next } = await this.pageOf(request);
      for (let at = 0; ; at += ROWS_PER_TURN) {
        const isLast = at + ROWS_PER_TURN >= rows.length;
        const part = rows.slice(at, at + ROWS_PER_TURN);
        sendTo(program, {
          kind: "response",
          id,
          rows: part,
          isLast,
          next,
          nowMs: this.parts.clock(),
        });
        if (isLast) return;
        await yieldToEventLoop();
      }
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      sendTo(program, { kind: "failure", id, message: text });
    }
  }

  private async pageOf(
    request: AttestorRequest,
  ): Promise<{ rows: ResponseRows; next: number | null }> {
    const { port } = this.parts;
    switch (request.kind) {
      case "terms":
        return { rows: [await port.terms()], next: null };
      case "pending": {
        const { chain, attestor, order, after } = request;
        return port.pending(chain, attestor, order, after);
      }
      case "credited": {
        const { chain, attestor, sinceMs, after } = request;
        return port.credited(chain, attestor, sinceMs, after);
      }
      case "submit":
        return { rows: await port.submit(request.votes), next: null };
    }
  }
}
