/**
 * How an operator reaches the running process: a socket in the data folder, so that whoever may
 * write there, and nobody on the network, may change the venue.
 *
 * One request a connection: a line of JSON in, a line of JSON out. Whoever connects and says nothing
 * is sent away after a while, and at once when the process ends; what was asked is answered first.
 */

import { rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { LogSeq } from "@perpgate/journal";
import type { Logger } from "pino";
import type { BridgeChange, BridgeControl } from "../bridge/bridge-control.js";
import { StartError } from "../cli/start-error.js";
import { type CohortChange, type CohortControl, isCohortChange } from "../cohort-control.js";

const SOCKET_NAME = "control.sock";
/** A change of the allow list with a few thousand addresses fits; a runaway does not. */
const MAX_REQUEST_BYTES = 1_048_576;
/** How long a connection may stay silent before its request is complete. */
const IDLE_MS = 10_000;

export type ControlRequest =
  | { readonly cohort: CohortChange }
  | { readonly bridge: BridgeChange }
  /** The log is given up below this place. */
  | { readonly prune: LogSeq };

/** What an operator can change. */
export interface Controls {
  readonly cohort: CohortControl;
  readonly bridge: BridgeControl;
  /** Gives up the log below a place; returns how many segments went. */
  prune(below: LogSeq): number;
}

export class ControlSocket {
  private readonly path: string;
  private readonly server: Server;
  /** Connections whose request is not complete. */
  private readonly asking = new Set<Socket>();

  constructor(
    dataFolder: string,
    private readonly controls: Controls,
    private readonly log: Logger,
    private readonly idleMs = IDLE_MS,
  ) {
    this.path = join(dataFolder, SOCKET_NAME);
    this.server = createServer({ allowHalfOpen: true }, (socket) => this.serve(socket));
  }

  /** Never keeps the process from starting: without the socket only control is missing. */
  async open(): Promise<void> {
    // The journal's lock proves that no other process lives here, so a socket is a dead one's.
    rmSync(this.path, { force: true });
    await new Promise<void>((resolve) => {
      this.server.once("error", (error) => {
        this.log.warn(
          { err: error },
          "no control socket; perpgate cohort, bridge and prune will not work",
        );
        resolve();
      });
      this.server.listen(this.path, resolve);
    });
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.asking) socket.destroy();
    await closed;
  }

  private serve(socket: Socket): void {
    this.asking.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.asking.delete(socket));
    socket.setTimeout(this.idleMs, () => socket.destroy());
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.length > MAX_REQUEST_BYTES) socket.destroy();
    });
    socket.once("end", () => {
      this.asking.delete(socket);
      socket.setTimeout(0);
      this.answer(text).then(
        () => socket.end('{"ok":true}\n'),
        (error: unknown) => {
          const message = error instanceof Error ? error.message : String(error);
          socket.end(`${JSON.stringify({ error: message })}\n`);
        },
      );
    });
  }

  private async answer(text: string): Promise<void> {
    const request: unknown = JSON.parse(text);
    if (typeof request !== "object" || request === null) throw new Error("unknown request");
    if ("cohort" in request) return this.changeCohort(request.cohort);
    if ("bridge" in request) return this.changeBridge(request.bridge);
    if ("prune" in request) return this.pruneBelow(request.prune);
    throw new Error("unknown request");
  }

  private async changeBridge(change: unknown): Promise<void> {
    const { bridge } = this.controls;
    if (!bridge.isChange(change)) throw new Error("not a change of the bridge");
    await bridge.change(change);
    this.log.info({ ...change }, "bridge changed");
  }

  private async changeCohort(change: unknown): Promise<void> {
    if (!isCohortChange(change)) throw new Error("not a change of the cohort");
    await this.controls.cohort.change(change);
    const { stage, allow, disallow } = change;
    this.log.info({ stage, allowed: allow.length, disallowed: disallow.length }, "cohort changed");
  }

  private pruneBelow(below: unknown): void {
    if (!isPosition(below)) throw new Error("not a place in the log");
    const segments = this.controls.prune(below);
    this.log.info({ below, segments }, "the log was pruned");
  }
}

function isPosition(value: unknown): value is LogSeq {
  return (
    typeof value === "object" &&
    value !== null &&
    "batch" in value &&
    Number.isSafeInteger(value.batch) &&
    "record" in value &&
    Number.isSafeInteger(value.record)
  );
}

/** No process serves the data folder. */
export class NotRunning extends StartError {
  constructor(dataFolder: string) {
    super(`no perpgate is running on the data folder ${dataFolder}`);
  }
}

/** Asks the process that serves the data folder; refuses with its reason, or that there is none. */
export async function askControl(dataFolder: string, request: ControlRequest): Promise<void> {
  const path = join(dataFolder, SOCKET_NAME);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(path);
    let received = "";
    let isConnected = false;
    socket.once("connect", () => {
      isConnected = true;
    });
    socket.once("error", () => {
      if (!isConnected) reject(new NotRunning(dataFolder));
    });
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString();
    });
    // Also after an error, with what had come by then.
    socket.once("close", () => resolve(received));
    socket.end(JSON.stringify(request));
  });
  const answer = answerIn(text);
  if (answer === undefined) {
    throw new StartError(
      `the perpgate on ${dataFolder} ended before it answered; ` +
        "the change may or may not have been made: give the same command again",
    );
  }
  if (answer.error !== undefined) throw new StartError(answer.error);
}

/** The answer, if all of it came. */
function answerIn(text: string): { readonly error?: string } | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== "object" || answer === null) return undefined;
    if ("error" in answer) return { error: String(answer.error) };
    return "ok" in answer ? {} : undefined;
  } catch {
    return undefined;
  }
}
