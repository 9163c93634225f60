/**
 * Three real nats-servers on free loopback ports in a temporary folder, which tests stop, kill, pause
 * and restore. Every write is synced, as in a venue.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { freePort } from "@perpgate/journal/testing";
import { natsServerPath } from "./nats-binary.js";
import { NatsServer } from "./nats-server.js";
import { RouteProxies } from "./route-proxies.js";

/** Restored servers may take half a minute to elect a leader. */
const WAIT_MS = 120_000;

export interface ClusterSettings {
  /** 3, or 1 for a server alone. */
  readonly servers?: number;
  /** Lines for every server's configuration. */
  readonly extra?: string;
  readonly binary?: string;
  /** Routes pass through this process, for `cutOff`. */
  readonly canCutOff?: boolean;
}

export class NatsCluster {
  private constructor(
    readonly servers: readonly NatsServer[],
    readonly folder: string,
    private readonly proxies: RouteProxies | undefined,
  ) {}

  static async start(settings: ClusterSettings = {}): Promise<NatsCluster> {
    const binary = settings.binary ?? natsServerPath();
    if (binary === undefined) throw new Error("nats-server was not found");
    const count = settings.servers ?? 3;
    const folder = mkdtempSync(join(tmpdir(), "nats-"));
    const ports = await Promise.all(Array.from({ length: 3 * count }, freePort));
    const routed = ports.slice(count, 2 * count).map((port, index) => ({
      name: nameOf(index),
      port,
    }));
    const proxies = settings.canCutOff === true ? await RouteProxies.start(routed) : undefined;
    const routes = count === 1 ? [] : (proxies?.ports ?? routed.map(({ port }) => port));
    const servers = Array.from({ length: count }, (_, index) => {
      const [client = 0, route = 0, monitor = 0] = [0, 1, 2].map(
        (kind) => ports[kind * count + index],
      );
      const name = nameOf(index);
      return new NatsServer({
        binary,
        folder: join(folder, name),
        name,
        ports: { client, route, monitor },
        routes,
        advertisedRoute: proxies?.ports[index] ?? route,
        extra: settings.extra ?? "",
      });
    });
    const cluster = new NatsCluster(servers, folder, proxies);
    for (const server of servers) server.start();
    await cluster.ready();
    return cluster;
  }

  /** Addresses of all servers for a client, in their order from the given one on. */
  urls(from = 0): string[] {
    const urls = this.servers.map(({ url }) => url);
    return [...urls.slice(from), ...urls.slice(0, from)];
  }

  server(name: string): NatsServer {
    const found = this.servers.find((server) => server.name === name);
    if (found === undefined) throw new Error(`no server ${name}`);
    return found;
  }

  /** No other server reaches this one until `rejoin`; clients do. */
  cutOff({ name }: NatsServer): void {
    if (this.proxies === undefined) throw new Error("started without canCutOff");
    this.proxies.cutOff(name);
  }

  rejoin(): void {
    this.proxies?.rejoin();
  }

  /** Every running server serves, and they have elected the leader of JetStream's metadata. */
  async ready(): Promise<void> {
    const running = this.servers.filter(({ isRunning }) => isRunning);
    await Promise.all(running.map((server) => server.ready()));
    await this.until("a meta leader", async () => {
      const leader = await this.metaLeader();
      return leader !== undefined && (await knowsPeers(leader, running.length));
    });
  }

  /** Runs with a connection to any running server. */
  async withManager<T>(
    run: (manager: JetStreamManager, connection: NatsConnection) => Promise<T>,
  ): Promise<T> {
    const running = this.servers.filter(({ isRunning }) => isRunning).map(({ url }) => url);
    const connection = await connect({ servers: running, reconnect: false, timeout: 1000 });
    try {
      return await run(
        await jetstreamManager(connection, { checkAPI: false, timeout: 2000 }),
        connection,
      );
    } finally {
      await connection.close();
    }
  }

  async metaLeader(): Promise<NatsServer | undefined> {
    if (this.servers.length === 1) return this.servers[0];
    const seen = await Promise.all(
      this.servers.filter(({ isRunning }) => isRunning).map((server) => metaLeaderSeenBy(server)),
    );
    return this.servers.find(({ name }) => seen.includes(name));
  }

  async streamLeader(stream: string): Promise<NatsServer> {
    return this.leader("a stream leader", async (manager) => {
      const { cluster } = await manager.streams.info(stream);
      return cluster?.leader;
    });
  }

  /** A server that is not the stream's leader. */
  async streamFollower(stream: string): Promise<NatsServer> {
    const { name } = await this.streamLeader(stream);
    const found = this.servers.find((server) => server.name !== name && server.isRunning);
    if (found === undefined) throw new Error("no follower is running");
    return found;
  }

  /** The servers that host the readers' consumers, each once; at least one. */
  async consumerHosts(stream: string): Promise<NatsServer[]> {
    let hosts: NatsServer[] = [];
    await this.until("a consumer's host", async () => {
      const names = await this.withManager(async (manager) => {
        const found: (string | undefined)[] = [];
        for await (const { cluster } of manager.consumers.list(stream)) found.push(cluster?.leader);
        return found;
      });
      hosts = this.servers.filter(({ name }) => names.includes(name));
      return hosts.length > 0;
    });
    return hosts;
  }

  /** Again until the servers answer: on a busy machine they may be late. */
  async stepDown(stream: string): Promise<void> {
    const subject = `$JS.API.STREAM.LEADER.STEPDOWN.${stream}`;
    await this.until("a step-down", () =>
      this.withManager(async (_, connection) => {
        await connection.request(subject, "", { timeout: 2000 });
        return true;
      }),
    );
  }

  /** Waits until all servers run and hold every message of the stream. */
  async inSync(stream: string): Promise<void> {
    await this.until("all replicas in sync", async () => {
      const { cluster } = await this.withManager((manager) => manager.streams.info(stream));
      const others = cluster?.replicas ?? [];
      return others.length === this.servers.length - 1 && others.every(({ current }) => current);
    });
  }

  async restartAll(): Promise<void> {
    for (const server of this.servers) if (!server.isRunning) server.start();
    await this.ready();
  }

  /** All servers begin again with empty stores. */
  async empty(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    for (const server of this.servers) server.emptyStore();
    await this.restartAll();
  }

  /** Ends every server and removes the folder. */
  async remove(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    await this.proxies?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async leader(
    what: string,
    nameOf: (manager: JetStreamManager) => Promise<string | undefined>,
  ): Promise<NatsServer> {
    let name: string | undefined;
    await this.until(what, async () => {
      name = await this.withManager(nameOf);
      return this.servers.length === 1 || this.servers.some((server) => server.name === name);
    });
    return this.servers.length === 1 ? this.servers[0]! : this.server(name ?? "");
  }

  private async until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
    const until = Date.now() + WAIT_MS;
    while (!(await isTrue().catch(() => false))) {
      if (Date.now() > until)
        throw new Error(`too late: waited ${WAIT_MS} ms for ${what}; see ${this.folder}`);
      await delay(50);
    }
  }
}

function nameOf(index: number): string {
  return `n${index + 1}`;
}

async function metaLeaderSeenBy(server: NatsServer): Promise<string> {
  try {
    const { leader } = await metaOf(server);
    return typeof leader === "string" ? leader : "";
  } catch {
    return "";
  }
}

/** Whether the leader of the metadata sees this many servers, itself included. */
async function knowsPeers(leader: NatsServer, count: number): Promise<boolean> {
  if (count === 1) return true;
  const { replicas } = await metaOf(leader);
  // `current` needs recent traffic, which an idle group does not have.
  const online = Array.isArray(replicas) ? replicas.filter((peer) => peer.offline !== true) : [];
  return online.length >= count - 1;
}

async function metaOf(server: NatsServer): Promise<Record<string, unknown>> {
  const page = await server.monitor("jsz");
  const meta = isObject(page) ? page.meta_cluster : undefined;
  return isObject(meta) ? meta : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
