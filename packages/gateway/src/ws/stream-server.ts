/**
 * `/ws/v1` on the gateway's own HTTP server: from the upgrade to the last byte.
 *
 *   upgrade → path → origin → caps → token → handshake → messages ⇄ frames → close
 *
 * A socket is refused before the handshake in the shape of every other error, and closed after it
 * with a code of `close-codes.ts`. Once a while every socket is asked whether anyone is still there.
 */

import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@perpgate/protocol";
import type { Venue } from "@perpgate/venue";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import { bearerTokenOf } from "../http/bearer-token.js";
import type { GatewayContext } from "../http/context.js";
import type { AllowedOrigins } from "../http/cors.js";
import { hasTooManyHeaders, tooManyHeaders } from "../http/header-count.js";
import { SampledLog } from "../http/request-log.js";
import { clientKeyOf } from "../limits/client-key.js";
import { COST } from "../limits/costs.js";
import { overBudget } from "../limits/over-budget.js";
import { CLOSE } from "./close-codes.js";
import { Connection, type ConnectionSession } from "./connection.js";
import { Messages } from "./messages.js";
import { SessionSockets } from "./session-sockets.js";
import { DEFAULT_SOCKET_LIMITS, type SocketLimits, socketLimitsProblem } from "./socket-limits.js";
import { refuseForeignPage } from "./stream-origins.js";
import { StreamHub } from "./streams/stream-hub.js";
import { isStreamPath, refuseUpgrade, serveWithoutUpgrade } from "./upgrade.js";

export interface StreamLogger {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface StreamServerOptions {
  readonly venue: Venue;
  readonly log: StreamLogger;
  readonly limits?: Partial<SocketLimits>;
}

/** Options of `ws` that its types do not know yet. */
interface FragmentLimits {
  readonly maxFragments: number;
  readonly maxBufferedChunks: number;
  readonly closeTimeout: number;
}

/** Parts that TCP may deliver one message in; far above what any network makes of 64 KiB. */
const MAX_CHUNKS = 4_096;

export class StreamServer {
  private readonly limits: SocketLimits;
  private readonly log: StreamLogger;
  /** Sockets come and go as clients please. */
  private readonly endings: SampledLog;
  private readonly hub: StreamHub;
  private readonly sessions: SessionSockets;
  private readonly sockets: WebSocketServer;
  private readonly connections = new Set<Connection>();
  private readonly perAddress = new Map<string, number>();
  private readonly liveness: NodeJS.Timeout;
  private origins: AllowedOrigins = "*";
  private opened = 0;
  private isStopping = false;

  constructor({ venue, log, limits }: StreamServerOptions) {
    this.limits = { ...DEFAULT_SOCKET_LIMITS, ...limits };
    const problem = socketLimitsProblem(this.limits);
    if (problem !== undefined) throw new RangeError(problem);
    this.log = log;
    this.endings = new SampledLog(log, "ended sockets");
    this.sessions = new SessionSockets(venue, (error) =>
      log.error({ err: error }, "a lost connection could not be told"),
    );
    this.hub = new StreamHub(
      venue,
      (session) => this.sessions.closeSession(session),
      (error) => log.error({ err: error }, "a stream failed"),
    );
    const options: ServerOptions & FragmentLimits = {
      noServer: true,
      clientTracking: false,
      // Small frames gain little and every socket would pay with a window of memory.
      perMessageDeflate: false,
      // `ws` would answer every ping, however many answers wait already.
      autoPong: false,
      maxPayload: this.limits.messageBytes,
      maxFragments: this.limits.messageFragments,
      maxBufferedChunks: MAX_CHUNKS,
      closeTimeout: this.limits.closeTimeoutMs,
    };
    this.sockets = new WebSocketServer(options);
    this.sockets.on("wsClientError", (error, socket) => {
      refuseUpgrade(socket, new ApiError("malformed_request", { problem: error.message }));
    });
    // Not before what has arrived was read: after a pause of this process pongs may wait there.
    const look = () => setImmediate(() => this.lookForTheDead());
    this.liveness = setInterval(look, this.limits.pingIntervalMs);
    this.liveness.unref();
  }

  /** How many sockets are open. */
  get size(): number {
    return this.connections.size;
  }

  /** How many streams they read, all together. */
  get readerCount(): number {
    return this.hub.readerCount;
  }

  /** Bytes that wait for readers, in this process. */
  get bufferedBytes(): number {
    let bytes = 0;
    for (const connection of this.connections) bytes += connection.bufferedBytes;
    return bytes;
  }

  attach(
    server: Server,
    gateway: GatewayContext,
    addressOf: (request: IncomingMessage) => string,
    /** Pages that may open sockets from a browser. */
    origins: AllowedOrigins = "*",
    /** Whether a request's connection is free to leave HTTP. */
    mayUpgrade: (request: IncomingMessage) => boolean = () => true,
  ): void {
    this.origins = origins;
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (!mayUpgrade(request)) return;
      if (hasTooManyHeaders(request)) {
        // By its peer: of too many headers not all are seen, so none says whose request it is.
        const peer = clientKeyOf(request.socket.remoteAddress ?? "");
        gateway.budgets.charge(peer, COST.request);
        refuseUpgrade(socket, tooManyHeaders());
        return;
      }
      if (!isStreamPath(request.url)) {
        serveWithoutUpgrade(server, request, socket, head);
        return;
      }
      const address = clientKeyOf(addressOf(request));
      this.admitWhenPaid(socket, address, gateway, () =>
        this.accept(request, socket, head, address, gateway),
      );
    });
  }

  /** Says goodbye to everyone; resolves once all are gone, and the log knows whom that concerns. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearInterval(this.liveness);
    this.hub.stop();
    const gone = [...this.connections].map((connection) => {
      connection.close(CLOSE.stopping);
      return connection.closed;
    });
    await Promise.all(gone);
    await this.sessions.settled();
  }

  /** Cuts whoever has not said goodbye. */
  cut(): void {
    for (const connection of [...this.connections]) connection.destroy();
  }

  /** An address over its budget waits for its handshake; the socket is not read meanwhile. */
  private admitWhenPaid(
    socket: Duplex,
    address: string,
    { budgets }: GatewayContext,
    accept: () => void,
  ): void {
    const pay = (): void => {
      budgets.charge(address, COST.upgrade);
      accept();
    };
    if (!budgets.isOwing(address)) {
      pay();
      return;
    }
    if (budgets.waitingCount(address) >= this.limits.socketsPerAddress) {
      budgets.charge(address, COST.request);
      refuseUpgrade(socket, overBudget());
      return;
    }
    // Until `ws` takes over, a reset would be an unhandled error.
    const ignore = () => undefined;
    socket.on("error", ignore);
    const giveUp = budgets.whenPaid(address, () => {
      socket.off("error", ignore);
      if (socket.destroyed) return;
      pay();
    });
    socket.once("close", giveUp);
  }

  private accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    address: string,
    gateway: GatewayContext,
  ): void {
    // Until `ws` takes over, a reset would be an unhandled error.
    const ignore = () => undefined;
    socket.on("error", ignore);
    try {
      const session = this.admit(request, address);
      this.sockets.handleUpgrade(request, socket, head, (webSocket) => {
        socket.off("error", ignore);
        this.begin(webSocket, socket, address, session, gateway);
      });
    } catch (error) {
      const isRefusal = error instanceof ApiError;
      if (!isRefusal) this.log.error({ err: error }, "an upgrade failed");
      refuseUpgrade(socket, isRefusal ? error : new ApiError("internal_error", {}));
    }
  }

  private admit(request: IncomingMessage, address: string): ConnectionSession | undefined {
    if (this.isStopping) throw new ApiError("stopped", {});
    refuseForeignPage(request, this.origins);
    const { socketsPerAddress: limit, pingIntervalMs } = this.limits;
    if ((this.perAddress.get(address) ?? 0) >= limit) {
      // Sockets that nobody answers on are found once in so long.
      throw new ApiError(
        "too_many_sockets",
        { limit },
        { details: { retryAfterMs: pingIntervalMs } },
      );
    }
    const { authorization } = request.headers;
    if (authorization === undefined) return undefined;
    const token = bearerTokenOf(authorization);
    if (token === undefined) throw new ApiError("token_required", {});
    return this.sessions.sessionOf(token);
  }

  private begin(
    webSocket: WebSocket,
    socket: Duplex,
    address: string,
    session: ConnectionSession | undefined,
    gateway: GatewayContext,
  ): void {
    const id = `ws${++this.opened}`;
    const { budgets } = gateway;
    const connection = new Connection(id, address, webSocket, socket, this.limits, budgets);
    const { hub, sessions, limits } = this;
    const messages = new Messages(
      connection,
      { gateway, hub, sessions, limits },
      (error, requestId) => this.log.error({ err: error, requestId }, "unexpected failure"),
    );
    this.connections.add(connection);
    this.perAddress.set(address, (this.perAddress.get(address) ?? 0) + 1);
    if (session !== undefined) this.sessions.bind(connection, session);
    webSocket.on("message", (data, isBinary) => {
      connection.isAlive = true;
      messages.receive(bufferOf(data), isBinary);
    });
    webSocket.on("ping", (data) => {
      connection.isAlive = true;
      messages.receivePing(data);
    });
    webSocket.on("pong", () => {
      connection.isAlive = true;
      messages.receivePong();
    });
    // What breaks the protocol: `ws` closes with the code for it, and tells here why.
    webSocket.on("error", (error) =>
      this.endings.info({ id, reason: error.message }, "socket error"),
    );
    webSocket.on("close", (code) => {
      this.connections.delete(connection);
      this.leaveAddress(address);
      this.sessions.leave(connection);
      messages.end();
      this.endings.info({ id, code }, "socket closed");
    });
  }

  private leaveAddress(address: string): void {
    const count = (this.perAddress.get(address) ?? 1) - 1;
    if (count === 0) this.perAddress.delete(address);
    else this.perAddress.set(address, count);
  }

  private lookForTheDead(): void {
    if (this.isStopping) return;
    for (const connection of [...this.connections]) {
      if (!connection.isAlive) {
        connection.destroy();
        continue;
      }
      connection.isAlive = false;
      connection.ping();
    }
  }
}

function bufferOf(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
