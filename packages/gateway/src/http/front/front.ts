/**
 * The front: plain orders and reads of a book, recognised and answered at the socket.
 *
 * Node's parser, request, response and streams cost an order more than matching it does. They are
 * made for every request there is; most requests here are of one form, written by programs. So every
 * connection begins in the front, which answers that form by the same exchange as the lane, and
 * hands the connection over to Node with the first bytes that are anything else. Node then has it for
 * good and sees what the client sent, byte for byte. Time-outs, the idle limit, the count of
 * connections and the way a server stops are those of Node's own connections.
 */

import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { LaneOptions } from "../lane/exchange.js";
import { type KeepAlive, keepAliveLines } from "./answer-head.js";
import { FrontConnection, type FrontHouse } from "./front-connection.js";
import { PlainRequest } from "./plain-request.js";

export class Front implements FrontHouse {
  readonly request: PlainRequest;
  readonly keepAlive: KeepAlive;
  readonly toNode: (socket: Socket) => void;
  isClosing = false;
  private readonly connections = new Set<FrontConnection>();
  /** Sockets that were handed over: one that comes as new once more, after an upgrade, stays Node's. */
  private readonly isNodes = new WeakSet<Socket>();
  private checks: NodeJS.Timeout | undefined;

  constructor(
    private readonly server: Server,
    readonly options: LaneOptions,
  ) {
    const { bodyBytes, keepAliveTimeoutMs } = options.limits;
    this.request = new PlainRequest(bodyBytes);
    this.keepAlive = keepAliveLines(keepAliveTimeoutMs);
    const listeners = server.listeners("connection");
    this.toNode = (socket) => {
      this.isNodes.add(socket);
      for (const listener of listeners) Reflect.apply(listener, server, [socket]);
    };
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => this.accept(socket));
    server.on("listening", () => this.watchTime());
  }

  /** No new connection is taken, and one that has begun a request is Node's, or has its last answer. */
  close(): void {
    this.isClosing = true;
    clearInterval(this.checks);
    for (const connection of [...this.connections]) connection.leave();
  }

  /** Closes connections that wait for nothing; one that has begun a request since is Node's too. */
  closeIdle(): void {
    for (const connection of [...this.connections]) {
      connection.closeIdle();
      connection.leave();
    }
  }

  /** Cuts whoever is left. */
  cut(): void {
    for (const connection of [...this.connections]) connection.destroy();
  }

  forget(connection: FrontConnection): void {
    this.connections.delete(connection);
  }

  refuse(socket: Socket, code: "ERR_HTTP_REQUEST_TIMEOUT" | "HPE_INVALID_EOF_STATE"): void {
    this.server.emit("clientError", Object.assign(new Error(code), { code }), socket);
  }

  private accept(socket: Socket): void {
    if (this.isClosing || this.isNodes.has(socket)) this.toNode(socket);
    else this.connections.add(new FrontConnection(socket, this));
  }

  /** One look at all of them every so often, in place of a timer for each request. */
  private watchTime(): void {
    clearInterval(this.checks);
    this.checks = setInterval(() => {
      const nowMs = performance.now();
      for (const connection of [...this.connections]) connection.checkTime(nowMs);
    }, this.options.limits.timeoutCheckIntervalMs);
    this.checks.unref();
  }
}
