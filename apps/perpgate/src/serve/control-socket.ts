/**
 * The operator's access to the running process: a socket in the data folder, so that users with write
 * access to the folder, and nobody on the network, can change the venue.
 *
 * One request per connection: a line of JSON in, a line of JSON out. An idle connection is closed after
 * a time-out, and when the process stops; complete requests are answered first.
 */

import { rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { LogSeq } from "@perpgate/journal";
import type { Logger } from "pino";
import { codeOf, reasonOf, StartError } from "../cli/start-error.js";
import type { BridgeChange, BridgeControl } from "./bridge/bridge-control.js";
import { type CohortChange, type CohortControl, isCohortChange } from "./cohort-control.js";
import type { MarketChange, MarketControl } from "./market-control.js";
import type { SteppedDown } from "./step-down-control.js";
import type { UpgradeControl } from "./upgrade-control.js";

const SOCKET_NAME = "control.sock";
/** Enough for an allow list of a few thousand addresses. */
const MAX_REQUEST_BYTES = 1_048_576;
/** How long a connection may be idle before its request is complete. */
const IDLE_MS = 10_000;

export type ControlRequest =
  | { readonly cohort: CohortChange }
  /** The result is the stage and the list. */
  | { readonly showCohort: true }
  | { readonly bridge: BridgeChange }
  | { readonly market: MarketChange }
  /** Activates the next version of the rules; the result is its number. */
  | { readonly upgrade: true }
  /** Appends the configuration of this file. */
  | { readonly configure: string }
  /** Ends the process as SIGTERM does. */
  | { readonly leave: true }
  /** Has this core lead, or any that is able if it is empty; the result is a `SteppedDown`. */
  | { readonly stepDown: string }
  /** Removes the log below this place. */
  | { readonly prune: LogSeq };

/** The changes that an operator can make. */
export interface Controls {
  readonly cohort: CohortControl;
  readonly bridge: BridgeControl;
  readonly market: MarketControl;
  readonly upgrade: UpgradeControl;
  /** Removes the log below a place; resolves with the number of segments removed. */
  prune(below: LogSeq): Promise<number>;
  /** Appends the configuration of a file; rejects if the engine refuses it. */
  configure(file: string): Promise<void>;
  /** Begins to end the process. */
  leave(): void;
  /** Resolves once another core leads: the one named, or any if the name is empty. */
  stepDown(to: string): Promise<SteppedDown>;
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

  /** Does not throw: a venue can run without its control socket. */
  async open(): Promise<void> {
    // This process holds the lock of the journal, so an existing socket is stale.
    rmSync(this.path, { force: true });
    await new Promise<void>((resolve) => {
      this.server.once("error", (error) => {
        this.log.warn(
          { err: error },
          "no control socket; perpgate cohort, bridge, market, configure, upgrade, prune, cluster leave and step-down will not work",
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
        (result) => socket.end(`${JSON.stringify({ ok: true, result })}\n`),
        (error: unknown) => {
          socket.end(`${JSON.stringify({ error: reasonOf(error) })}\n`);
        },
      );
    });
  }

  /** Returns a figure that only the running venue knows, if there is one. */
  private async answer(text: string): Promise<unknown> {
    const request: unknown = JSON.parse(text);
    if (typeof request !== "object" || request === null) throw new Error("unknown request");
    if ("upgrade" in request) return this.upgrade();
    if ("stepDown" in request) return this.stepDown(request.stepDown);
    if ("showCohort" in request) return this.controls.cohort.show();
    if ("cohort" in request) await this.changeCohort(request.cohort);
    else if ("bridge" in request) await this.changeBridge(request.bridge);
    else if ("market" in request) await this.changeMarket(request.market);
    else if ("prune" in request) await this.pruneBelow(request.prune);
    else if ("configure" in request) await this.configure(request.configure);
    else if ("leave" in request) this.leave();
    else throw new Error("unknown request");
    return undefined;
  }

  private async upgrade(): Promise<number> {
    const version = await this.controls.upgrade.upgrade();
    this.log.info({ version }, "engine upgraded");
    return version;
  }

  private async stepDown(to: unknown): Promise<SteppedDown> {
    if (typeof to !== "string") throw new Error("not the name of a core");
    const done = await this.controls.stepDown(to);
    this.log.warn({ ...done }, "another core leads, as the operator asked");
    return done;
  }

  private async changeBridge(change: unknown): Promise<void> {
    const { bridge } = this.controls;
    if (!bridge.isChange(change)) throw new Error("not a change of the bridge");
    await bridge.change(change);
    this.log.info({ ...change }, "bridge changed");
  }

  private async changeMarket(change: unknown): Promise<void> {
    const { market } = this.controls;
    if (!market.isChange(change)) throw new Error("not a change of a market");
    await market.change(change);
    this.log.warn({ ...change }, "market changed");
  }

  private async changeCohort(change: unknown): Promise<void> {
    if (!isCohortChange(change)) throw new Error("not a change of the cohort");
    await this.controls.cohort.change(change);
    const { stage, allow, disallow } = change;
    this.log.info({ stage, allowed: allow.length, disallowed: disallow.length }, "cohort changed");
  }

  private async configure(file: unknown): Promise<void> {
    if (typeof file !== "string") throw new Error("not the name of a file");
    await this.controls.configure(file);
    this.log.warn({ file }, "the configuration has changed");
  }

  private leave(): void {
    this.log.info("the operator ends this process");
    // After the answer is written.
    setImmediate(() => this.controls.leave());
  }

  private async pruneBelow(below: unknown): Promise<void> {
    if (!isPosition(below)) throw new Error("not a place in the log");
    const segments = await this.controls.prune(below);
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

/** Nothing could be sent: no process serves the data folder, or the system refused the connection. */
export class Unreachable extends StartError {
  constructor(dataFolder: string, error: unknown) {
    const code = codeOf(error);
    const advice = code === "EACCES" ? "; run the command as the venue's user" : "";
    super(
      code === "ENOENT" || code === "ECONNREFUSED"
        ? `no perpgate is running on the data folder ${dataFolder}`
        : `cannot reach the perpgate on the data folder ${dataFolder}: ${reasonOf(error)}${advice}`,
    );
  }
}

/** Sends a request to the process that serves the data folder; returns its result, throws its error. */
export async function askControl(dataFolder: string, request: ControlRequest): Promise<unknown> {
  const path = join(dataFolder, SOCKET_NAME);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(path);
    let received = "";
    let isConnected = false;
    socket.once("connect", () => {
      isConnected = true;
    });
    socket.once("error", (error) => {
      if (!isConnected) reject(new Unreachable(dataFolder, error));
    });
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString();
    });
    // Also after an error, with the bytes received until then.
    socket.once("close", () => resolve(received));
    socket.end(JSON.stringify(request));
  });
  const answer = answerIn(text);
  if (answer === undefined) {
    throw new StartError(
      `the perpgate on ${dataFolder} ended before it answered; ` +
        "the change may or may not have been made: repeat the command",
    );
  }
  if (answer.error !== undefined) throw new StartError(answer.error);
  return answer.result;
}

/** Undefined if the answer is incomplete. */
function answerIn(
  text: string,
): { readonly error?: string; readonly result?: unknown } | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== "object" || answer === null) return undefined;
    if ("error" in answer) return { error: String(answer.error) };
    if (!("ok" in answer)) return undefined;
    return "result" in answer ? { result: answer.result } : {};
  } catch {
    return undefined;
  }
}
