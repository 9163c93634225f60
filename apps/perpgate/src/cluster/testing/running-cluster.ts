/** A cluster for tests: real nats-servers, and gateways as processes of the built command. */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ClusterSettings, NatsCluster } from "@perpgate/cluster/testing";
import { freePort, until } from "@perpgate/journal/testing";
import { newLogKey } from "@perpgate/venue";
import { onTestFinished } from "vitest";
import { newAuthorityFiles, newCertificateFiles } from "../../operator/link-keys.js";
import { readConfiguration } from "../../serve/configuration.js";
import {
  configurationFile,
  MAIN,
  PerpgateProcess,
  temporaryFolder,
  UNLIMITED,
  type WhenDone,
} from "../../testing/perpgate-process.js";
import { createPrivateFile } from "../../trader/private-file.js";
import { beginCluster } from "../init.js";

const SHIFTED_CLOCK = fileURLToPath(new URL("../../testing/shifted-clock.mjs", import.meta.url));
const NEWER_RELEASE = fileURLToPath(new URL("../../testing/newer-release.mjs", import.meta.url));

export interface ClusterChanges {
  readonly gateways?: number;
  /** How many cores there may be, which lead by turns; as many as gateways by default. */
  readonly cores?: number;
  /** Servers that a gateway is given; by default all, each gateway from another one on. */
  readonly servers?: (nats: NatsCluster, member: number) => Promise<readonly string[]>;
  /** By how much a gateway's wall clock is wrong. */
  readonly clockShiftMs?: (member: number) => number;
  /** For a gateway's process. */
  readonly environment?: (member: number) => NodeJS.ProcessEnv;
  readonly settings?: object;
  /** Of one gateway, instead of those of all. */
  readonly own?: (member: number) => object;
  /** Of the servers. */
  readonly nats?: ClusterSettings;
}

export class RunningGateway {
  readonly data: string;
  url = "";
  /** Runs as a release that knows one more version of the rules, from the next start on. */
  isNewer = false;
  /** By how much its wall clock is wrong, from the next start on. */
  clockShiftMs = 0;
  private child: PerpgateProcess | undefined;

  constructor(
    readonly name: string,
    folder: string,
    private readonly args: readonly string[],
    private readonly environment: NodeJS.ProcessEnv,
    private readonly atEnd: WhenDone,
  ) {
    this.data = join(folder, name);
  }

  get process(): PerpgateProcess {
    if (this.child === undefined) throw new Error(`${this.name} does not run`);
    return this.child;
  }

  /** Starts it; resolves once it serves. */
  async start(): Promise<void> {
    const port = this.url === "" ? "0" : new URL(this.url).port;
    const args = ["serve", "--name", this.name, "--port", port, "--data", this.data, ...this.args];
    const preloaded = [SHIFTED_CLOCK, ...(this.isNewer ? [NEWER_RELEASE] : [])];
    const imports = preloaded.flatMap((module) => ["--import", module]);
    const command = [process.execPath, ...imports, MAIN] as const;
    const environment = { ...this.environment, CLOCK_SHIFT_MS: String(this.clockShiftMs) };
    this.child = new PerpgateProcess(args, environment, command, this.atEnd);
    this.url = await this.child.url();
  }

  async kill(): Promise<void> {
    this.process.killAll();
    await this.process.ended;
  }

  /** Kills it, if it ever ran. */
  end(): void {
    this.child?.killAll();
  }

  async stop(): Promise<void> {
    this.process.signal("SIGTERM");
    const { code, stderr } = await this.process.ended;
    if (code !== 0) throw new Error(`${this.name} ended with ${code}: ${stderr}`);
  }

  async status() {
    const answer = await fetch(`${this.url}/v1/status`);
    if (!answer.ok) throw new Error(`the status is ${answer.status}: ${await answer.text()}`);
    const status: {
      readonly position: string | number;
      /** The last sealed block. */
      readonly block: string | number;
      readonly time: number;
      readonly cluster: {
        readonly cores: readonly {
          readonly name: string;
          readonly state: string;
          readonly clockAheadMs?: number;
        }[];
        readonly lagMessages: number;
        readonly replicasCurrent: number;
      };
    } = JSON.parse(await answer.text());
    return status;
  }

  /** A sealed block, as it publishes it. */
  async block(number: number): Promise<unknown> {
    const answer = await fetch(`${this.url}/v1/blocks/${number}`);
    return { status: answer.status, block: JSON.parse(await answer.text()) };
  }

  /** Why it is not ready; undefined if it is, or does not answer. */
  async notReadyReason(): Promise<string | undefined> {
    const answer = await fetch(`${this.url}/readyz`);
    if (answer.ok) return undefined;
    const body: { readonly message?: string } = JSON.parse(await answer.text());
    return body.message;
  }

  async isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok;
    } catch {
      return false;
    }
  }
}

export class RunningCluster {
  readonly gateways: RunningGateway[] = [];

  /** Of each core, for the edges of other gateways. */
  private readonly links: string[] = [];

  private constructor(
    readonly nats: NatsCluster,
    /** The file that all gateways read. */
    readonly config: string,
    private readonly content: object,
    private readonly folder: string,
    private readonly changes: ClusterChanges,
    private readonly atEnd: WhenDone,
  ) {}

  static async start(
    changes: ClusterChanges = {},
    atEnd: WhenDone = onTestFinished,
  ): Promise<RunningCluster> {
    const nats = await NatsCluster.start(changes.nats);
    const folder = temporaryFolder(atEnd);
    atEnd(() => void nats.remove());
    const logKey = join(folder, "log.key");
    createPrivateFile(logKey, newLogKey().secret);
    const content = {
      logLevel: "warn",
      limits: UNLIMITED,
      metrics: { port: false },
      receipts: { logKey },
      auth: { nonceKey: randomBytes(32).toString("hex") },
      ...changes.settings,
    };
    const config = configurationFile(content, atEnd);
    await beginCluster(readConfiguration({ config, log: { servers: nats.urls() } }, {}), 3);
    const cluster = new RunningCluster(nats, config, content, folder, changes, atEnd);
    // Also those that a test starts: `afterAll` registers nothing once tests run.
    atEnd(() => cluster.end());
    await cluster.prepareLinks();
    // In order, so that the first one leads.
    for (let member = 0; member < cluster.count; member++) await cluster.add();
    return cluster;
  }

  /** Starts another gateway, on an empty folder. */
  async add(): Promise<void> {
    const { nats, changes } = this;
    const member = this.gateways.length;
    const servers = (await changes.servers?.(nats, member)) ?? nats.urls(member);
    const own = { ...this.linked(member), ...changes.own?.(member) };
    const config = configurationFile({ ...this.content, ...own }, this.atEnd);
    const args = ["--log", servers.join(","), "--config", config];
    const environment = changes.environment?.(member) ?? {};
    const gateway = new RunningGateway(nameOf(member), this.folder, args, environment, this.atEnd);
    gateway.clockShiftMs = changes.clockShiftMs?.(member) ?? 0;
    this.gateways.push(gateway);
    await gateway.start();
  }

  get urls(): readonly string[] {
    return this.gateways.map(({ url }) => url);
  }

  gateway(member: number): RunningGateway {
    const found = this.gateways[member];
    if (found === undefined) throw new Error(`no gateway ${member}`);
    return found;
  }

  /** Resolves once all gateways are ready. */
  async ready(): Promise<void> {
    for (const gateway of this.gateways) {
      await until(() => gateway.isReady(), { everyMs: 50 });
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.gateways.map((gateway) => gateway.stop()));
  }

  /** Until a core leads and the others stand by. */
  async whole(): Promise<void> {
    const hasAll = async () => {
      const leader = await this.leader();
      const { cores } = (await leader.status()).cluster;
      const heard = cores.filter(({ state }) => state !== "silent");
      return heard.length === this.gateways.length;
    };
    await until(() => hasAll().catch(() => false), { everyMs: 50 });
  }

  /** The gateway whose core leads, as the others know it. */
  async leader(): Promise<RunningGateway> {
    return until(
      async () => {
        for (const gateway of this.gateways) {
          const seen = await gateway.status().catch(() => undefined);
          const name = seen?.cluster.cores.find(({ state }) => state === "leads")?.name;
          const found = this.gateways.find((each) => each.name === name);
          if (found !== undefined) return found;
        }
        return undefined;
      },
      { everyMs: 50 },
    );
  }

  private get count(): number {
    return this.changes.gateways ?? 3;
  }

  /** Authority, certificate and addresses of the links between the gateways. */
  private async prepareLinks(): Promise<void> {
    for (let core = 0; core < (this.changes.cores ?? this.count); core++) {
      this.links.push(`127.0.0.1:${await freePort()}`);
    }
    const ca = join(this.folder, "ca");
    newAuthorityFiles(ca, {});
    newCertificateFiles("either", join(this.folder, "core"), { ca });
  }

  private linked(member: number): object {
    const [ca, core] = [join(this.folder, "ca"), join(this.folder, "core")];
    return {
      log: { servers: this.nats.urls(), cores: this.links.map((_, at) => nameOf(at)) },
      link: {
        listen: this.links[member],
        cores: this.links.filter((_, at) => at !== member),
        tls: { ca: `${ca}.pem`, cert: `${core}.pem`, key: `${core}.key` },
      },
    };
  }

  private end(): void {
    for (const gateway of this.gateways) gateway.end();
  }
}

function nameOf(member: number): string {
  return `gateway-${member + 1}`;
}
