/**
 * The connections of the HTTP server, counted per address before Node's HTTP sees them.
 *
 * Above `connectionsPerAddress` a new connection is closed immediately. While its address is over its
 * budget it stays open and unread ("parked"). A trusted proxy has connections for many clients, so it
 * has no bound; the requests that it forwards are charged to the addresses of their clients.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { AddressReaders } from "../limits/address-readers.js";
import { clientKeyOf } from "../limits/client-key.js";
import { COST } from "../limits/costs.js";
import { type ConnectionOptions, type Exchange, HttpConnection } from "./http-connection.js";
import { answerClientError } from "./refuse-directly.js";

export interface ConnectionsOptions extends ConnectionOptions {
  readonly connectionsPerAddress: number;
  isTrustedProxy(address: string): boolean;
  onRefused(): void;
}

/** Connections of one address whose first read is not charged in advance. */
const FREE_CONNECTIONS = 4;

export class HttpConnections {
  private readonly connections = new WeakMap<Socket, HttpConnection>();
  private readonly readers: AddressReaders;
  /** Accepted and not read yet, since their address is over its budget. */
  private readonly parked = new Set<Socket>();

  constructor(private readonly options: ConnectionsOptions) {
    this.readers = new AddressReaders(options.budgets);
  }

  /** Replaces Node's `connection` listeners, and calls them once a connection may be read. */
  attach(server: Server): void {
    const listeners = server.listeners("connection");
    const toNode = (socket: Socket): void => {
      for (const listener of listeners) Reflect.apply(listener, server, [socket]);
      this.connections.get(socket)?.attached();
    };
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => this.accept(socket, toNode));
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    this.connectionOf(request).receive(request, response);
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
    if (!isProxy && !this.hasPlace(key, socket)) return;
    const connection = new HttpConnection(socket, key, this.options, this.readers);
    this.connections.set(socket, connection);
    if (!isProxy) socket.once("close", this.readers.add(key, connection));
    if (!isProxy && budgets.mustWait(key)) {
      this.park(socket, connection, key, toNode);
      return;
    }
    if (isOneOfMany) connection.chargeFirstRead();
    toNode(socket);
  }

  /** Whether the address may have one more connection; otherwise it is destroyed. */
  private hasPlace(key: string, socket: Socket): boolean {
    if (this.readers.count(key) < this.options.connectionsPerAddress) return true;
    this.options.onRefused();
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
