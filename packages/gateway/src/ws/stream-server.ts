/**
 * `/ws/v1` on the gateway's HTTP server.
 *
 *   upgrade → path → budget → origin → caps → token → handshake → messages ⇄ frames → close
 *
 * A request is refused before the handshake with an HTTP error, and a socket closed after it with a code
 * of `close-codes.ts`. Every `pingIntervalMs` each socket is pinged, or destroyed if it has sent nothing
 * since the last ping.
 */

import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { clientKeyOf } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import type { Registry } from "prom-client";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import { bearerTokenOf } from "../auth/session-token.js";
import type { Edge } from "../edge.js";
import type { GatewayContext } from "../http/context.js";
import type { AllowedOrigins } from "../http/cors.js";
import { whenReached } from "../http/log-position.js";
import { refuseUpgrade } from "../http/refuse-directly.js";
import { SampledLog } from "../http/request-log.js";
import { AddressReaders } from "../limits/address-readers.js";
import { overBudget } from "../limits/charge-operation.js";
import { COST } from "../limits/costs.js";
import { SocketCounts } from "../metrics/socket-counts.js";
import { CLOSE } from "./close-codes.js";
import { ClientSocket, type ConnectionSession } from "./connection.js";
import { inPieces } from "./in-pieces.js";
import { KNOWN_OPERATIONS, Messages } from "./messages.js";
import { readInPieces } from "./read-in-pieces.js";
import { SessionSockets } from "./session-sockets.js";
import { DEFAULT_SOCKET_LIMITS, type SocketLimits, socketLimitsProblem } from "./socket-limits.js";
import { StreamHub } from "./streams/stream-hub.js";
import { isStreamPath, refuseForeignPage, serveWithoutUpgrade } from "./upgrade.js";

interface StreamLogger {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface StreamServerOptions {
  readonly edge: Edge;
  /** Log seq of the last command that an order was answered with. */
  readonly seq: () => number;
  readonly log: StreamLogger;
  readonly limits?: Partial<SocketLimits>;
  /** The release of this gateway, for the stream `status`. */
  readonly release: string;
}

/** Options of `ws` that its types lack. */
interface FragmentLimits {
  readonly maxFragments: number;
  readonly maxBufferedChunks: number;
  readonly closeTimeout: number;
}

/** Chunks in which TCP may deliver one message; no network splits 64 KiB into as many. */
const MAX_CHUNKS = 4_096;

export class StreamServer {
  private readonly limits: SocketLimits;
  private readonly log: StreamLogger;
  /** Sampled: clients decide how often they connect. */
  private readonly endings: SampledLog;
  private readonly hub: StreamHub;
  private readonly sessions: SessionSockets;
  private readonly sockets: WebSocketServer;
  private readonly connections = new Set<ClientSocket>();
  /** From the first socket on. */
  private readers: AddressReaders | undefined;
  private readonly heartbeat: NodeJS.Timeout;
  private readonly counts = new SocketCounts(KNOWN_OPERATIONS);
  private origins: AllowedOrigins = "*";
  private isStopping = false;

  constructor({ edge, seq, log, limits, release }: StreamServerOptions) {
    this.limits = { ...DEFAULT_SOCKET_LIMITS, ...limits };
    const problem = socketLimitsProblem(this.limits);
    if (problem !== undefined) throw new RangeError(problem);
    this.log = log;
    this.endings = new SampledLog(log, "ended sockets");
    const { link } = edge;
    this.sessions = new SessionSockets(link, edge.sessions, (error) =>
      log.error({ err: error }, "the core was not told of a socket"),
    );
    const onFault = (error: unknown): void => log.error({ err: error }, "a stream failed");
    this.hub = new StreamHub({ link, seq, onFault, release });
    void link.closed.then(() => this.closeAll());
    link.onLead({ lost: () => this.beginAgain(), begun: () => undefined });
    const options: ServerOptions & FragmentLimits = {
      noServer: true,
      clientTracking: false,
      // Small frames gain little, and each socket would need memory for a window.
      perMessageDeflate: false,
      // `ws` would buffer a pong for every ping, without a bound.
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
    // After one turn of reads: if the process was paused, pongs may be unread in the sockets.
    const check = () => inPieces([...this.connections], (each) => this.pingOrClose(each));
    this.heartbeat = setInterval(check, this.limits.pingIntervalMs).unref();
  }

  static async open(options: StreamServerOptions): Promise<StreamServer> {
    const server = new StreamServer(options);
    await server.ready;
    return server;
  }

  /** Rejects if the link ends before the core has named its markets, without which no socket is served. */
  get ready(): Promise<void> {
    return this.hub.ready;
  }

  /** Open sockets. */
  get size(): number {
    return this.connections.size;
  }

  /** Open subscriptions of all sockets. */
  get readerCount(): number {
    return this.hub.readerCount;
  }

  /** Bytes in the write buffers of all sockets. */
  get bufferedBytes(): number {
    let bytes = 0;
    for (const connection of this.connections) bytes += connection.bufferedBytes;
    return bytes;
  }

  measure(registry: Registry): void {
    this.counts.register(registry, this);
  }

  attach(
    server: Server,
    gateway: GatewayContext,
    addressOf: (request: IncomingMessage) => string,
    /** Pages that may open sockets from a browser. */
    origins: AllowedOrigins = "*",
    /** Whether the request's connection has no unanswered HTTP request. */
    mayUpgrade: (request: IncomingMessage) => boolean = () => true,
  ): void {
    this.origins = origins;
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // Node has removed its listener, and a reset without one ends the process. A declined upgrade is
      // followed by another one on the same socket.
      socket.off("error", destroyOnError);
      socket.on("error", destroyOnError);
      if (!mayUpgrade(request)) return;
      if (!isStreamPath(request.url)) {
        serveWithoutUpgrade(server, request, socket, head);
        return;
      }
      const address = clientKeyOf(addressOf(request));
      this.admitWhenPaid(socket, address, gateway, () =>
        whenReached(
          request,
          gateway.edge,
          () =>
            this.learnSession(request, socket, gateway, () =>
              this.accept(request, socket, head, address, gateway),
            ),
          (error) => refuseUpgrade(socket, error, gateway.refusals),
        ),
      );
    });
  }

  /**
   * Closes all sockets, those with calls in flight once these are answered; resolves once they are closed
   * and every end of a session's connection is durable, or given up by a log that stalls.
   */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearInterval(this.heartbeat);
    this.hub.stop();
    await this.closeAll();
    await this.sessions.settled();
  }

  /** The streams of all sockets have a gap: they close, and clients resume over new ones. */
  private beginAgain(): void {
    this.sessions.unbindAll();
    for (const connection of this.connections) {
      connection.endSubscriptions();
      connection.isStopping = true;
    }
    inPieces([...this.connections], (connection) => connection.closeWhenAnswered(CLOSE.stopping));
  }

  /** Closes sockets once their calls in flight are answered; resolves once they are closed. */
  private async closeAll(): Promise<void> {
    // Without a core there is nothing to answer either.
    this.isStopping = true;
    const connections = [...this.connections];
    inPieces(connections, (connection) => connection.closeWhenAnswered(CLOSE.stopping));
    await Promise.all(connections.map(({ closed }) => closed));
  }

  /** Destroys sockets that are not closed yet. */
  cut(): void {
    inPieces([...this.connections], (connection) => connection.destroy());
  }

  /** Delays the handshake of an address over its budget; the socket is not read until then. */
  private admitWhenPaid(
    socket: Duplex,
    address: string,
    { budgets, refusals }: GatewayContext,
    accept: () => void,
  ): void {
    const chargeAndAccept = (): void => {
      budgets.charge(address, COST.upgrade);
      accept();
    };
    if (!budgets.mustWait(address)) {
      chargeAndAccept();
      return;
    }
    if (budgets.waitingCount(address) >= this.limits.socketsPerAddress) {
      budgets.charge(address, COST.request);
      refuseUpgrade(socket, overBudget(), refusals);
      return;
    }
    const cancelWait = budgets.whenPaid(address, () => {
      if (socket.destroyed) return;
      chargeAndAccept();
    });
    socket.once("close", cancelWait);
  }

  /** Asks the core for the session of a token that is not known here. */
  private learnSession(
    { headers }: IncomingMessage,
    socket: Duplex,
    { edge, refusals }: GatewayContext,
    proceed: () => void,
  ): void {
    const token = bearerTokenOf(headers.authorization);
    if (token === undefined || edge?.sessions.isUnknown(token) !== true) {
      proceed();
      return;
    }
    edge.sessions.learn(token).then(proceed, (error: unknown) => {
      const isRefusal = error instanceof ApiError;
      refuseUpgrade(socket, isRefusal ? error : new ApiError("internal_error", {}), refusals);
    });
  }

  private accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    address: string,
    gateway: GatewayContext,
  ): void {
    if (socket.destroyed) return;
    try {
      const session = this.admit(request, address);
      this.sockets.handleUpgrade(request, socket, head, (webSocket) => {
        this.begin(webSocket, socket, address, session, gateway);
      });
    } catch (error) {
      const isRefusal = error instanceof ApiError;
      if (!isRefusal) this.log.error({ err: error }, "an upgrade failed");
      const refusal = isRefusal ? error : new ApiError("internal_error", {});
      refuseUpgrade(socket, refusal, gateway.refusals);
    }
  }

  private admit(request: IncomingMessage, address: string): ConnectionSession | undefined {
    if (this.isStopping) throw new ApiError("stopped", {});
    refuseForeignPage(request, this.origins);
    const { socketsPerAddress: limit, pingIntervalMs } = this.limits;
    if ((this.readers?.count(address) ?? 0) >= limit) {
      // Silent sockets are closed once per interval.
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
    const { hub, sessions, limits, counts } = this;
    const id = `ws${++counts.opened}`;
    const { budgets } = gateway;
    const connection = new ClientSocket(id, address, webSocket, socket, limits, budgets, counts);
    const messages = new Messages(
      connection,
      { gateway, hub, sessions, limits },
      (error, requestId) => this.log.error({ err: error, requestId }, "unexpected failure"),
    );
    this.connections.add(connection);
    this.readers ??= new AddressReaders(budgets);
    const { readers } = this;
    const leaveAddress = readers.add(address, connection);
    if (session !== undefined) void this.sessions.bind(connection, session);
    webSocket.on("message", (data, isBinary) => {
      connection.isAlive = true;
      const message = bufferOf(data);
      readers.yieldIfUsed(address);
      connection.onMessage(message.length);
      messages.receive(message, isBinary);
    });
    readInPieces(socket, connection);
    webSocket.on("ping", (data) => {
      connection.isAlive = true;
      readers.yieldIfUsed(address);
      connection.onControlFrame(data.length);
      counts.pings++;
      messages.receivePing(data);
    });
    webSocket.on("pong", (data) => {
      connection.isAlive = true;
      readers.yieldIfUsed(address);
      connection.onControlFrame(data.length);
      counts.pongs++;
      messages.receivePong();
    });
    // A violation of the protocol; `ws` closes the socket with the code for it.
    webSocket.on("error", (error) =>
      this.endings.info({ id, reason: error.message }, "socket error"),
    );
    webSocket.on("close", (code) => {
      this.connections.delete(connection);
      leaveAddress();
      this.sessions.leave(connection);
      messages.end();
      counts.onClosed(code);
      this.endings.info({ id, code }, "socket closed");
    });
  }

  private pingOrClose(connection: ClientSocket): void {
    if (this.isStopping) return;
    if (!connection.isAlive) {
      connection.destroy();
      return;
    }
    connection.isAlive = false;
    connection.noteSession();
    connection.ping();
  }
}

function destroyOnError(this: Duplex): void {
  this.destroy();
}

function bufferOf(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
