/**
 * The connection to one of the servers, moved to the next server when it is lost or silent.
 *
 * Every connection is a new one of the client library, with its own reconnecting off: the library
 * waits for its socket's buffer to empty before it leaves a server, which never happens when that
 * server's process is stopped. Those who use the link subscribe again on each connection.
 */

import { readFile } from "node:fs/promises";
import {
  AuthorizationError,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type NatsConnection,
  type TlsOptions,
} from "@nats-io/transport-node";
import { ClusterError, textOf } from "./errors.js";
import { addressOf, greets } from "./greeting.js";

/** How to reach the servers. */
export interface ServerAccess {
  /**
   * Addresses such as "nats://10.0.0.1:4222", or "tls://10.0.0.1:4222" to ask for TLS; the first one is
   * preferred.
   */
  readonly servers: readonly string[];
  /** Shown in the server's list of connections. */
  readonly name: string;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** A .creds file, read for each connection. */
  readonly credentialsFile?: string;
  /** The library reads its files for each connection. */
  readonly tls?: TlsOptions;
}

export interface Logger {
  info(text: string): void;
  warn(text: string): void;
}

/** Without a byte from the server for this long, the link moves to the next one. */
export const SILENT_MS = 1000;
/** Without a byte for this long, the server is pinged. */
const PING_AFTER_MS = 400;
const CONNECT_MS = 1000;
/** Between two rounds over all servers. */
const ROUND_PAUSE_MS = 100;

export async function connectTo(access: ServerAccess, server: string): Promise<NatsConnection> {
  const { name, user, password, token, credentialsFile } = access;
  const credentials = credentialsFile === undefined ? undefined : await readFile(credentialsFile);
  const tls = tlsFor(access, server);
  // With `handshakeFirst` a server waits for the client instead.
  if (tls?.handshakeFirst !== true) await greets(server, CONNECT_MS);
  const options: ConnectionOptions = {
    servers: [server],
    name,
    reconnect: false,
    timeout: CONNECT_MS,
    // The link watches the connection.
    pingInterval: 3_600_000,
    noAsyncTraces: true,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: password }),
    ...(token === undefined ? {} : { token }),
    ...(tls === undefined ? {} : { tls }),
    ...(credentials === undefined ? {} : { authenticator: credsAuthenticator(credentials) }),
  };
  return connect(options);
}

/** If this is set, the client library refuses a server that does not offer TLS. */
function tlsFor({ tls }: ServerAccess, server: string): TlsOptions | undefined {
  if (tls === undefined && !server.startsWith("tls://")) return undefined;
  // The client library names no host for an IP address, and Node would then expect "localhost" in the
  // certificate. A name that the library gives comes first.
  const { host } = addressOf(server);
  const named: TlsOptions & { readonly host: string } = { ...tls, host };
  return named;
}

/** Connects to the first server that accepts; for commands that need no moving connection. */
export async function connectToAny(access: ServerAccess): Promise<NatsConnection> {
  const problems = new Map<string, unknown>();
  for (const server of access.servers) {
    try {
      return await connectTo(access, server);
    } catch (error) {
      problems.set(server, error);
    }
  }
  throw unreachable(problems);
}

/** Why servers accept no connection: the newest error of each. */
type Problems = ReadonlyMap<string, unknown>;

function textOfAll(problems: Problems): string {
  return [...problems].map(([server, error]) => `${server}: ${textOf(error).trim()}`).join("; ");
}

function unreachable(problems: Problems): ClusterError {
  const text = `no NATS server accepts a connection: ${textOfAll(problems)}`;
  return new ClusterError("unreachable", text);
}

export class Link {
  /** Connections made after the first. */
  moves = 0;
  private current: NatsConnection | undefined;
  private next = 0;
  private silentMs = 0;
  private messagesSeen = 0;
  private isPinging = false;
  private isClosed = false;
  private address = "";
  /** By server, since the last connection was made. */
  private readonly problems = new Map<string, unknown>();

  constructor(
    private readonly access: ServerAccess,
    private readonly logger: Logger,
    private readonly onConnected: (connection: NatsConnection) => void,
  ) {}

  get connection(): NatsConnection | undefined {
    return this.current;
  }

  /** The server's address, or "" while there is no connection. */
  get server(): string {
    return this.current === undefined ? "" : this.address;
  }

  /** How many servers there are. */
  get servers(): number {
    return this.access.servers.length;
  }

  /** Why there is no connection, by server; "" while there is one, and before the first failed try. */
  get problem(): string {
    return textOfAll(this.problems);
  }

  /** Resolves with the first connection; rejects when there is none within the time. */
  async open(withinMs: number): Promise<void> {
    const untilMs = performance.now() + withinMs;
    while (!this.isClosed) {
      for (let tried = 0; tried < this.access.servers.length; tried++) {
        if (await this.connectToNext()) return;
      }
      // Waiting does not make credentials valid.
      const isRefused = [...this.problems.values()].every(
        (error) => error instanceof AuthorizationError,
      );
      if (isRefused || performance.now() > untilMs) break;
      await pause();
    }
    throw unreachable(this.problems);
  }

  /** Leaves the current server. */
  move(reason: string): void {
    const left = this.current;
    if (left === undefined || this.isClosed) return;
    this.logger.warn(`leaving NATS server ${this.address}: ${reason}`);
    this.current = undefined;
    void left.close().catch(() => undefined);
    void this.reconnect();
  }

  /** `elapsedMs`: time that this process ran, so that its own pauses are no silence of the server. */
  tick(elapsedMs: number): void {
    const connection = this.current;
    if (connection === undefined) return;
    const { inMsgs } = connection.stats();
    this.silentMs = inMsgs === this.messagesSeen ? this.silentMs + elapsedMs : 0;
    this.messagesSeen = inMsgs;
    if (this.silentMs >= SILENT_MS) this.move(`silent for ${SILENT_MS} ms`);
    else if (this.silentMs >= PING_AFTER_MS && !this.isPinging) this.ping(connection);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const left = this.current;
    this.current = undefined;
    await left?.close().catch(() => undefined);
  }

  private ping(connection: NatsConnection): void {
    this.isPinging = true;
    const done = (wasHeard: boolean): void => {
      if (connection !== this.current) return;
      this.isPinging = false;
      if (wasHeard) this.silentMs = 0;
    };
    connection.flush().then(
      () => done(true),
      () => done(false),
    );
  }

  private async reconnect(): Promise<void> {
    for (let tried = 0; !this.isClosed; tried++) {
      if (tried > 0 && tried % this.access.servers.length === 0) await pause();
      if (await this.connectToNext()) {
        this.moves++;
        this.logger.info(`connected to NATS server ${this.address}`);
        return;
      }
    }
  }

  private async connectToNext(): Promise<boolean> {
    const { servers } = this.access;
    const server = servers[this.next % servers.length] ?? "";
    this.next++;
    try {
      const connection = await connectTo(this.access, server);
      if (this.isClosed) await connection.close();
      else this.use(connection, server);
      return true;
    } catch (error) {
      this.problems.set(server, error);
      return false;
    }
  }

  private use(connection: NatsConnection, server: string): void {
    this.current = connection;
    this.address = server;
    this.problems.clear();
    this.silentMs = 0;
    this.messagesSeen = 0;
    this.isPinging = false;
    void connection.closed().then((error) => {
      if (connection === this.current) {
        this.move(error instanceof Error ? error.message : "it closed the connection");
      }
    });
    this.onConnected(connection);
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ROUND_PAUSE_MS);
  });
}
