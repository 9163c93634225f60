/**
 * The connections of the HTTP server: how many one address may hold, and when each is first read.
 *
 * A new connection is counted before Node's HTTP sees it. Past the bound of its address it is closed
 * at once. While its address owes processor time it stays open and unread. A trusted proxy holds
 * connections for many clients, so it has no bound of its own; the requests that it forwards are
 * charged to the clients they came from.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientKeyOf } from "../limits/client-key.js";
import { COST } from "../limits/costs.js";
import { type ConnectionOptions, type Exchange, HttpConnection } from "./http-connection.js";

export interface ConnectionsOptions extends ConnectionOptions {
  readonly connectionsPerAddress: number;
  /** Whether the peer is a proxy that this gateway believes. */
  isTrustedProxy(address: string): boolean;
  onRefused(): void;
}

/** Connections of one address whose first read is not paid in advance. */
const FREE_CONNECTIONS = 16;

export class HttpConnections {
  private readonly connections = new WeakMap<Socket, HttpConnection>();
  private readonly perAddress = new Map<string, number>();
  /** Accepted and not read yet. */
  private readonly parked = new Set<Socket>();

  constructor(private readonly options: ConnectionsOptions) {}

  /** Takes over the server's new connections; `listeners` are Node's own. */
  attach(server: Server): void {
    const listeners = server.listeners("connection");
    const toNode = (socket: Socket): void => {
      for (const listener of listeners) Reflect.apply(listener, server, [socket]);
      this.connections.get(socket)?.keepPaused();
    };
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => this.accept(socket, toNode));
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    this.connectionOf(request).receive(request, response);
  }

  /** The exchange that the request belongs to, while it is served. */
  exchangeOf(request: IncomingMessage): Exchange {
    const exchange = this.connectionOf(request).current;
    if (exchange === undefined) throw new Error("the request is not being served");
    return exchange;
  }

  /** Whether the request's connection may become something other than HTTP; if not, it is closed. */
  mayUpgrade(request: IncomingMessage): boolean {
    return this.connectionOf(request).mayUpgrade();
  }

  /** Closes connections that were never read. */
  close(): void {
    for (const socket of [...this.parked]) socket.destroy();
  }

  private connectionOf({ socket }: IncomingMessage): HttpConnection {
    const connection = this.connections.get(socket);
    if (connection === undefined) throw new Error("the connection was not accepted here");
    return connection;
  }

  private accept(socket: Socket, toNode: (socket: Socket) => void): void {
    // After a declined upgrade the same socket is handed to HTTP a second time.
    if (this.connections.has(socket)) {
      toNode(socket);
      return;
    }
    const address = socket.remoteAddress;
    if (address === undefined) {
      // The peer has reset it already. What it sent could be read, but nobody would get the answer.
      socket.destroy();
      return;
    }
    const key = clientKeyOf(address);
    const isProxy = this.options.isTrustedProxy(address);
    const { budgets } = this.options;
    const isOneOfMany = (this.perAddress.get(key) ?? 0) >= FREE_CONNECTIONS;
    budgets.charge(key, isOneOfMany ? COST.connectionOfMany : COST.connection);
    if (!isProxy && !this.count(key, socket)) return;
    const connection = new HttpConnection(socket, key, this.options);
    this.connections.set(socket, connection);
    if (isProxy || !budgets.isOwing(key)) {
      toNode(socket);
      return;
    }
    this.park(socket, key, toNode);
  }

  /** Counts the connection against its address, or closes it. */
  private count(key: string, socket: Socket): boolean {
    const open = this.perAddress.get(key) ?? 0;
    if (open >= this.options.connectionsPerAddress) {
      this.options.onRefused();
      socket.destroy();
      return false;
    }
    this.perAddress.set(key, open + 1);
    socket.once("close", () => {
      const left = (this.perAddress.get(key) ?? 1) - 1;
      if (left === 0) this.perAddress.delete(key);
      else this.perAddress.set(key, left);
    });
    return true;
  }

  private park(socket: Socket, key: string, toNode: (socket: Socket) => void): void {
    const ignoreReset = (): void => undefined;
    // Raised while parked only if nothing was sent before it; HTTP, attached later, would miss it.
    const leave = (): void => void socket.destroy();
    socket.on("error", ignoreReset);
    socket.on("end", leave);
    this.parked.add(socket);
    const giveUp = this.options.budgets.whenPaid(key, () => {
      this.parked.delete(socket);
      socket.off("error", ignoreReset);
      socket.off("end", leave);
      this.options.budgets.charge(key, COST.connectionOfMany);
      if (!socket.destroyed) toNode(socket);
    });
    socket.once("close", () => {
      this.parked.delete(socket);
      giveUp();
    });
  }
}
