/**
 * How an operator reaches the running process: a socket in the data folder, so that whoever may
 * write there, and nobody on the network, may change the venue.
 *
 * One request a connection: a line of JSON in, a line of JSON out.
 */

import { rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Logger } from "pino";
import { type CohortChange, type CohortControl, isCohortChange } from "./cohort-control.js";
import { StartError } from "./start-error.js";

const SOCKET_NAME = "control.sock";
/** A change of the allow list with a few thousand addresses fits; a runaway does not. */
const MAX_REQUEST_BYTES = 1_048_576;

export interface ControlRequest {
  readonly cohort: CohortChange;
}

export class ControlSocket {
  private readonly path: string;
  private readonly server: Server;

  constructor(
    dataFolder: string,
    private readonly cohort: CohortControl,
    private readonly log: Logger,
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
        this.log.warn({ err: error }, "no control socket; perpgate cohort will not work");
        resolve();
      });
      this.server.listen(this.path, resolve);
    });
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.length > MAX_REQUEST_BYTES) socket.destroy();
    });
    socket.once("end", () => {
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
    if (typeof request !== "object" || request === null || !("cohort" in request)) {
      throw new Error("unknown request");
    }
    const change = request.cohort;
    if (!isCohortChange(change)) throw new Error("not a change of the cohort");
    await this.cohort.change(change);
    const { stage, allow, disallow } = change;
    this.log.info({ stage, allowed: allow.length, disallowed: disallow.length }, "cohort changed");
  }
}

/** Asks the process that serves the data folder; refuses with its reason, or that there is none. */
export async function askControl(dataFolder: string, request: ControlRequest): Promise<void> {
  const path = join(dataFolder, SOCKET_NAME);
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(path);
    let text = "";
    socket.once("error", () => {
      reject(new StartError(`no perpgate is running on the data folder ${dataFolder}`));
    });
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.once("end", () => resolve(text));
    socket.end(JSON.stringify(request));
  });
  const { error }: { error?: string } = JSON.parse(answer);
  if (error !== undefined) throw new StartError(error);
}
