/**
 * The connections of the HTTP server, counted per address before Node's HTTP sees them.
 *
 * Above `connectionsPerAddress` a new connection is closed immediately; `connection-places.ts` decides
 * whether there is a place at all, `unread-connections.ts` closes connections that are not read. While its address is over its
 * budget it stays open and unread ("parked"). A trusted proxy has connections for many clients, so it
 * has no bound; the requests that it forwards are charged to the addresses of their clients.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientKeyOf } from "@perpgate/link";
import { AddressReaders } from "../limits/address-readers.js";
import { COST } from "../limits/costs.js";
import {
  ConnectionPlaces,
  type Evicted,
  KEPT_PER_ADDRESS,
  type PlaceLog,
} from "./connection-places.js";
import {
  type Exchange,
  HttpConnection,
  type HttpConnectionOptions,
  type SharedByConnections,
} from "./http-connection.js";
import { answerClientError } from "./refuse-directly.js";
import { UnreadConnections } from "./unread-connections.js";

export interface ConnectionsOptions extends HttpConnectionOptions {
  readonly connectionsPerAddress: number;
  readonly maxConnections: number;
  readonly unreadTimeoutMs: number;
  readonly unreadBytesPerAddress: number;
  readonly log: PlaceLog;
  isTrustedProxy(address: string): boolean;
  /** Closed on arrival: their address had too many, or no place was left. */
  onRefused(why: "address" | "full"): void;
  /** Closed by the server: for a newcomer, or because its peer does not read. */
  onEvicted(why: Evicted | "unread"): void;
}

/** Connections of one address whose first read is not charged in advance. */
const FREE_CONNECTIONS = 4;

export class HttpConnections implements SharedByConnections {
  private readonly connections = new WeakMap<Socket, HttpConnection>();
  readonly readers: AddressReaders;
  /** Accepted and not read yet, since their address is over its budget. */
  private readonly parked = new Set<Socket>();

  readonly places: ConnectionPlaces;
  readonly unread: UnreadConnections;

  constructor(private readonly options: ConnectionsOptions) {
    this.readers = new AddressReaders(options.budgets);
    const { maxConnections, log, unreadTimeoutMs, unreadBytesPerAddress } = options;
    const events = {
      onRefused: () => options.onRefused("full"),
      onEvicted: (why: Evicted) => options.onEvicted(why),
    };
    this.places = new ConnectionPlaces(maxConnections, events, log);
    this.unread = new UnreadConnections({
      timeoutMs: unreadTimeoutMs,
      bytesPerAddress: unreadBytesPerAddress,
      onClosed: () => options.onEvicted("unread"),
    });
  }

  /** Open connections, sockets included. */
  get size(): number {
    return this.places.taken;
  }

  /** Replaces Node's `connection` listeners, and calls them once a connection may be read. */
  attach(server: Server): void {
    const listeners = server.listeners("connection");
    const toNode = (socket: Socket): void => {
      for (const listener of listeners) Reflect.apply(listener, server, [socket]);
      this.connections.get(socket)?.attached();
    };
    server.removeAllListeners("connection");
    this.unread.start();
    server.on("connection", (socket: Socket) => this.accept(socket, toNode));
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    this.connectionOf(request).receive(request, response);
  }

  protects(key: string): boolean {
    return this.readers.count(key) <= KEPT_PER_ADDRESS && this.options.budgets.hasSession(key);
  }

  /** The exchange of a request that is being served. */
  exchangeOf(request: IncomingMessage): Exchange {
    const exchange = this.connectionOf(request).current;
    if (exchange === undefined) throw new Error("the request is not being served");
    return exchange;
  }

  /** Whether the request's connection may be upgraded; if not, it is closed. */
  mayUpgrade(request: IncomingMessage): boolean {
    return this.connectionOf(request).mayUpgrade();
  }

  /** A connection has failed, or has sent bytes that are not a request. */
  onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    const isBehind = socket.writable && this.connections.get(socket)?.closesBehindRequests();
    if (isBehind !== true) answerClientError(error, socket);
  }

  /** Destroys parked connections. */
  close(): void {
    this.unread.stop();
    for (const socket of [...this.parked]) socket.destroy();
  }

  private connectionOf({ socket }: IncomingMessage): HttpConnection {
    const connection = this.connections.get(socket);
    if (connection === undefined) throw new Error("the connection was not accepted here");
    return connection;
  }

  private accept(socket: Socket, toNode: (socket: Socket) => void): void {
    // A declined upgrade emits the same socket a second time.
    if (this.connections.has(socket)) {
      toNode(socket);
      return;
    }
    const address = socket.remoteAddress;
    if (address === undefined) {
      // The peer has reset it; nobody would get a response.
      socket.destroy();
      return;
    }
    const key = clientKeyOf(address);
    const isProxy = this.options.isTrustedProxy(address);
    const { budgets } = this.options;
    const isOneOfMany = !isProxy && this.readers.count(key) >= FREE_CONNECTIONS;
    budgets.charge(key, COST.connection);
    if (!this.hasPlace(key, isProxy, socket)) return;
    const connection = new HttpConnection(socket, key, this.options, this);
    this.connections.set(socket, connection);
    this.unread.add(socket, isProxy ? undefined : key);
    if (!isProxy) socket.once("close", this.readers.add(key, connection));
    if (!isProxy && budgets.mustWait(key)) {
      this.park(socket, connection, key, toNode);
      return;
    }
    if (isOneOfMany) connection.chargeFirstRead();
    toNode(socket);
  }

  /** Whether the address may have one more connection and there is a place; otherwise it is destroyed. */
  private hasPlace(key: string, isProxy: boolean, socket: Socket): boolean {
    const count = this.readers.count(key);
    const { budgets, connectionsPerAddress, onRefused } = this.options;
    const isAllowed = isProxy || count < connectionsPerAddress;
    const isKnown = isProxy || (count < KEPT_PER_ADDRESS && budgets.hasSession(key));
    if (isAllowed && this.places.hasRoom(isKnown)) return true;
    if (!isAllowed) onRefused("address");
    socket.destroy();
    return false;
  }

  private park(
    socket: Socket,
    connection: HttpConnection,
    key: string,
    toNode: (socket: Socket) => void,
  ): void {
    const ignoreReset = (): void => undefined;
    // Emitted only if the peer sent nothing before it; HTTP is attached later and would miss it.
    const destroy = (): void => void socket.destroy();
    socket.on("error", ignoreReset);
    socket.on("end", destroy);
    this.parked.add(socket);
    const cancelWait = this.options.budgets.whenPaid(key, () => {
      this.parked.delete(socket);
      socket.off("error", ignoreReset);
      socket.off("end", destroy);
      connection.chargeFirstRead();
      if (!socket.destroyed) toNode(socket);
    });
    socket.once("close", () => {
      this.parked.delete(socket);
      cancelWait();
    });
  }
}
