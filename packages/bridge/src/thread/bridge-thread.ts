/**
 * The venue's side of the attestors' thread: serves its requests from the port, in parts so that large
 * pages do not delay orders, and forwards its events. A thread that exits unexpectedly is restarted
 * after a pause; attestors have no state to lose.
 */

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { startWorker, stopWorker, type WorkerThread } from "@perpgate/journal/worker";
import type { BridgeOptions } from "../attest/bridge.js";
import type { ChainBridgeConfig } from "../config/bridge-config.js";
import type { DepositPort } from "../venue-port.js";
import type { FromThread, ResponseRows, ThreadData, ThreadRequest, ToThread } from "./messages.js";

export interface BridgeThreadParts extends Omit<BridgeOptions, "uniform"> {
  readonly config: ChainBridgeConfig;
  /** The hash of the venue's Genesis. */
  readonly venueId: string;
  /** Receives votes whose signatures the thread has verified. */
  readonly port: DepositPort;
  /** The thread exited unexpectedly; it will be restarted. */
  readonly onEnded: (error: Error) => void;
}

const ROWS_PER_TURN = 64;
const RESTART_AFTER_MS = 5_000;
/** A thread that has not exited by then is terminated; its votes are repeated later. */
const STOP_WITHIN_MS = 5_000;

export class BridgeThread {
  private thread: WorkerThread | undefined;
  private restart: NodeJS.Timeout | undefined;
  private isStopping = false;

  constructor(private readonly parts: BridgeThreadParts) {}

  start(): void {
    if (this.thread !== undefined) return;
    const { config, venueId, clock } = this.parts;
    const chains = config.chains.map(({ dialect: _, ...chain }) => chain);
    const workerData: ThreadData = { ...config, chains, venueId, nowMs: clock() };
    const thread = startWorker("attestor", "./attestor-thread.js", import.meta.url, { workerData });
    const { worker, exited } = thread;
    this.thread = thread;
    worker.on("message", (message: FromThread) => this.onMessage(worker, message));
    void exited.then((reason) => this.onExit(reason));
    // Does not keep the process alive.
    worker.unref();
  }

  /** Waits for votes in flight and for the thread to exit. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restart);
    if (this.thread === undefined) return;
    const message: ToThread = { kind: "stop" };
    await stopWorker(this.thread, message, STOP_WITHIN_MS);
  }

  private onExit(reason: Error): void {
    this.thread = undefined;
    if (this.isStopping) return;
    this.parts.onEnded(reason);
    this.restart = setTimeout(() => this.start(), RESTART_AFTER_MS);
    this.restart.unref();
  }

  private onMessage(worker: Worker, message: FromThread): void {
    if (message.kind === "event") this.parts.observe(message.event);
    else void this.respond(worker, message.id, message.request);
  }

  private async respond(worker: Worker, id: number, request: ThreadRequest): Promise<void> {
    try {
      const { rows, next } = await this.pageOf(request);
      for (let at = 0; ; at += ROWS_PER_TURN) {
        const isLast = at + ROWS_PER_TURN >= rows.length;
        const part = rows.slice(at, at + ROWS_PER_TURN);
        post(worker, { kind: "response", id, rows: part, isLast, next, nowMs: this.parts.clock() });
        if (isLast) return;
        await yieldToEventLoop();
      }
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      post(worker, { kind: "failure", id, message: text });
    }
  }

  private async pageOf(
    request: ThreadRequest,
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

function post(worker: Worker, message: ToThread): void {
  worker.postMessage(message);
}
