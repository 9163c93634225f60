/**
 * Links between machines: TCP with TLS 1.3, in which both sides show a certificate of the venue's own
 * authority. A peer without one never reaches the codec. No other authority counts, and no name is
 * compared: whoever has a server's certificate of the authority is a core, whoever has a client's an edge.
 */

import { createServer as createTcpServer, type Socket } from "node:net";
import {
  connect,
  createSecureContext,
  createServer,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import type { Identity } from "./certificates.js";
import { Handshakes, MAX_HANDSHAKES } from "./handshakes.js";
import type { KnownAddresses } from "./known-addresses.js";
import { SocketTransport } from "./socket-transport.js";
import { type Connect, type EdgeListener, MAX_EDGES } from "./unix-socket.js";

/** The own certificate and key, and the certificate of the venue's authority, in PEM. */
export interface LinkIdentity extends Identity {
  readonly ca: string;
}

export interface CoreAddress {
  readonly host: string;
  readonly port: number;
}

export interface RemoteEdge {
  /** The common name of its certificate. */
  readonly name: string;
  readonly address: string;
}

interface TlsListenerEvents {
  edge(connect: Connect, edge: RemoteEdge): void;
  /** A connection that was no edge's; `count` of them since the last call, at most one call in ten seconds. */
  refused(address: string, reason: string, count: number): void;
}

export interface TlsListener extends EdgeListener {
  /** The port that it listens on, which was asked for as 0. */
  readonly port: number;
  /** Connections that have begun a handshake and are not done. */
  readonly handshakes: number;
}

const TLS_VERSION = "TLSv1.3";
const HANDSHAKE_MS = 5_000;
const REFUSALS_EACH_MS = 10_000;

/** @throws Error if the certificate, its key or the authority cannot be used. */
export function secureContextOf({ ca, cert, key }: LinkIdentity): SecureContext {
  return createSecureContext({ ca, cert, key, minVersion: TLS_VERSION, maxVersion: TLS_VERSION });
}

export async function listenForRemoteEdges(
  { host, port }: CoreAddress,
  { ca, cert, key }: LinkIdentity,
  known: KnownAddresses,
  events: TlsListenerEvents,
): Promise<TlsListener> {
  const handshakes = new Handshakes(known);
  const refusals = new Refusals(events);
  const server = createServer({
    ca,
    cert,
    key,
    minVersion: TLS_VERSION,
    requestCert: true,
    rejectUnauthorized: true,
    handshakeTimeout: HANDSHAKE_MS,
  });
  /** By the address and port of the peer. */
  const pending = new Map<string, () => void>();
  server.on("secureConnection", (socket) => {
    const address = socket.remoteAddress ?? "";
    pending.get(nameOf(socket))?.();
    // From here on: in a handshake a peer that ends is gone.
    socket.allowHalfOpen = true;
    const { subject } = socket.getPeerCertificate();
    events.edge((receiver) => new SocketTransport(socket, "core", receiver), {
      name: String(subject?.CN ?? ""),
      address,
    });
  });
  server.on("tlsClientError", (error, socket) => {
    refusals.add(socket.remoteAddress ?? "", error.message);
    socket.destroy();
  });
  // Before any of its bytes is read.
  const listener = createTcpServer({ noDelay: true }, (socket) => {
    const address = socket.remoteAddress ?? "";
    const refusal = handshakes.begin(address);
    if (refusal !== undefined) {
      refusals.add(address, refusal);
      socket.destroy();
      return;
    }
    const name = nameOf(socket);
    let isOver = false;
    const over = (isEdge: boolean): void => {
      if (isOver) return;
      isOver = true;
      pending.delete(name);
      handshakes.ended(address, isEdge);
    };
    pending.set(name, () => over(true));
    socket.once("close", () => over(false));
    server.emit("connection", socket);
  });
  listener.maxConnections = MAX_EDGES + MAX_HANDSHAKES;
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(port, host, resolve);
  });
  // Of one connection, such as when no descriptor is left for it.
  listener.on("error", ({ message }) => refusals.add("", message));
  const bound = listener.address();
  return {
    port: bound !== null && typeof bound === "object" ? bound.port : port,
    get handshakes() {
      return handshakes.inProgress;
    },
    close: () => new Promise((resolve) => listener.close(() => resolve())),
  };
}

/**
 * Resolves once the core has shown its certificate; whether it accepts the own one shows in the link.
 * Rejects if nobody answers there, or no core does.
 */
export function connectToRemoteCore(
  place: CoreAddress,
  secureContext: SecureContext,
): Promise<Connect> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({
      host: place.host,
      port: place.port,
      secureContext,
      checkServerIdentity: () => undefined,
    });
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new Error(`no handshake within ${HANDSHAKE_MS} ms`)),
      HANDSHAKE_MS,
    );
    const closed = (): void => fail(new Error("the core has closed the connection"));
    // Not taken away: it may fail before the link has its own listener.
    socket.on("error", fail);
    socket.once("close", closed);
    socket.once("secureConnect", () => {
      clearTimeout(timer);
      socket.off("close", closed);
      socket.allowHalfOpen = true;
      socket.setNoDelay(true);
      resolve((receiver) => new SocketTransport(socket, "edge", receiver));
    });
  });
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Strangers may be many; what is said of them is not. */
class Refusals {
  private count = 0;
  private saidAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly events: TlsListenerEvents) {}

  add(address: string, reason: string): void {
    this.count++;
    const nowMs = performance.now();
    if (nowMs - this.saidAtMs < REFUSALS_EACH_MS) return;
    this.saidAtMs = nowMs;
    this.events.refused(address, reason, this.count);
    this.count = 0;
  }
}
