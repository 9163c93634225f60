/**
 * `perpgate cluster up`: three NATS servers, and three gateways with a core each, on this machine, for trying
 * out and for tests. A group of processes each, so that each can be killed. A process that ends is started again after a
 * second; Ctrl-C ends all of them, the gateways first.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { newLogKey } from "@perpgate/venue";
import { Output } from "../cli/output.js";
import { StartError } from "../cli/start-error.js";
import { newAuthorityFiles, newCertificateFiles } from "../operator/link-keys.js";
import { readConfiguration, readSettingsFile } from "../serve/configuration.js";
import type { Settings } from "../serve/settings.js";
import type { PartialSettings } from "../serve/settings-schema.js";
import { createPrivateFile } from "../trader/private-file.js";
import { beginCluster } from "./init.js";
import { findNatsServer, startNats } from "./nats-server.js";
import { type ClusterPlan, type GatewayPlace, planCluster } from "./plan.js";
import { beginningOf } from "./venue-beginning.js";

interface UpOptions {
  readonly dir?: string;
  readonly config?: string;
  readonly port?: number;
  readonly natsPort?: number;
  readonly natsServer?: string;
  readonly bots: boolean;
}

const DEFAULT_FOLDER = ".cluster";
const RESTART_MS = 1_000;
const WATCH_MS = 1_000;
const BEGIN_ATTEMPTS = 60;

export async function up(options: UpOptions): Promise<number> {
  const output = new Output(false);
  const folder = resolve(options.dir ?? DEFAULT_FOLDER);
  const program = findNatsServer(options.natsServer);
  const given = options.config === undefined ? {} : readSettingsFile(options.config);
  const plan = planCluster(folder, options.port ?? 8080, options.natsPort ?? 4222);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const config = sharedConfiguration(folder, plan, given);
  const settings = readConfiguration({ config }, {});
  // Throws for settings that no venue can begin with.
  beginningOf(settings, Date.now());
  const cluster = new RunningCluster(output);
  // A second signal must not end this process before the servers.
  const stop = new Promise<void>((done) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => done());
  });
  process.once("exit", () => cluster.killAll());
  try {
    for (const place of plan.servers) cluster.keep(place.name, () => startNats(program, place));
    const isStopped = stop.then(() => true);
    if (await Promise.race([isStopped, beginOnce(settings, output)])) {
      await cluster.stop();
      // The beginning would wait for its servers, for minutes.
      process.exit(0);
    }
    for (const place of plan.gateways) {
      const own = ownConfiguration(folder, plan, place);
      cluster.keep(place.name, () => startGateway(place, own, plan.log, options.bots));
    }
    const watching = setInterval(() => void cluster.show(plan.gateways), WATCH_MS);
    await stop;
    clearInterval(watching);
  } finally {
    await cluster.stop();
  }
  return 0;
}

/**
 * The gateways' settings: those of the given file, the log and who leads it by turns, the venue's log key, a
 * key with which they recognise each other's sign-in nonces, and their addresses for the trading page.
 */
function sharedConfiguration(
  folder: string,
  { gateways, log }: ClusterPlan,
  settings: PartialSettings,
): string {
  const keyFile = join(folder, "nonce.key");
  if (!existsSync(keyFile)) {
    writeFileSync(keyFile, randomBytes(32).toString("hex"), { mode: 0o600 });
  }
  const logKey = join(folder, "log.key");
  if (!existsSync(logKey)) createPrivateFile(logKey, `${newLogKey().secret}\n`);
  const file = join(folder, "perpgate.json");
  write(file, {
    edges: 1,
    ...settings,
    log: { ...settings.log, servers: log.split(","), cores: gateways.map(({ name }) => name) },
    receipts: { logKey, ...settings.receipts },
    auth: { nonceKey: readFileSync(keyFile, "utf8"), ...settings.auth },
    metrics: { port: false, ...settings.metrics },
    server: { gateways: gateways.map(({ url }) => url), ...settings.server },
  });
  return file;
}

/** The shared settings, and how the gateway's edges reach the other cores. */
function ownConfiguration(
  folder: string,
  { gateways }: ClusterPlan,
  { name, link }: GatewayPlace,
): string {
  const others = gateways.filter((other) => other.name !== name);
  const shared = readSettingsFile(join(folder, "perpgate.json"));
  const file = join(folder, `${name}.json`);
  write(file, {
    ...shared,
    link: { listen: link, cores: others.map((other) => other.link), tls: linkFiles(folder) },
  });
  return file;
}

/** Certificates of the links between the gateways, by an authority of this cluster. */
function linkFiles(folder: string) {
  const ca = join(folder, "ca");
  const core = join(folder, "core");
  if (!existsSync(`${core}.pem`)) {
    // What a start left that was interrupted.
    for (const file of [ca, core])
      for (const end of [".key", ".pem"]) rmSync(file + end, { force: true });
    newAuthorityFiles(ca, {});
    newCertificateFiles("either", core, { ca });
  }
  return { ca: `${ca}.pem`, cert: `${core}.pem`, key: `${core}.key` };
}

function write(file: string, settings: PartialSettings): void {
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
}

/** Returns false: nothing stopped it. */
async function beginOnce(settings: Settings, output: Output): Promise<false> {
  for (let attempt = 1; ; attempt++) {
    try {
      await beginCluster(settings, 3);
      output.line("the venue has begun");
      return false;
    } catch (error) {
      if (!(error instanceof StartError) || error.message.includes("has its Genesis already")) {
        if (error instanceof StartError) return false;
        throw error;
      }
      // The servers elect their leaders.
      if (attempt === BEGIN_ATTEMPTS) throw error;
      await new Promise((done) => setTimeout(done, 500));
    }
  }
}

function startGateway(
  { name, port, folder }: GatewayPlace,
  config: string,
  log: string,
  areBotsWanted: boolean,
): ChildProcess {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const output = openSync(join(folder, "gateway.log"), "a", 0o600);
  const [program = ""] = process.argv.slice(1);
  const words = [program, "serve", "--name", name, "--port", String(port), "--log", log];
  words.push("--data", join(folder, "data"), "--config", config);
  if (!areBotsWanted) words.push("--no-bots");
  const child = spawn(process.execPath, [...process.execArgv, ...words], {
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  return child;
}

class RunningCluster {
  private readonly children = new Map<string, ChildProcess>();
  private readonly shown = new Map<string, string>();
  private isStopping = false;

  constructor(private readonly output: Output) {}

  /** Starts the process, and again whenever it ends. */
  keep(name: string, start: () => ChildProcess): void {
    const child = start();
    this.children.set(name, child);
    this.say(name, `started, process ${child.pid}`);
    child.once("error", (error) => {
      this.say(name, error.message);
      if (child.pid === undefined) this.children.delete(name);
    });
    child.once("exit", (code, signal) => {
      this.children.delete(name);
      if (this.isStopping) return;
      this.say(name, `ended (${signal ?? `code ${code}`}); it is started again`);
      setTimeout(() => {
        if (!this.isStopping) this.keep(name, start);
      }, RESTART_MS);
    });
  }

  /** A line for each gateway whose state has changed. */
  async show(places: readonly GatewayPlace[]): Promise<void> {
    await Promise.all(
      places.map(async ({ name, url }) => {
        const state = await stateOf(url);
        if (this.shown.get(name) === state) return;
        this.shown.set(name, state);
        this.say(name, `${url} ${state}`);
      }),
    );
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    const names = [...this.children.keys()];
    await this.end(names.filter((name) => name.startsWith("gateway")));
    await this.end(names.filter((name) => !name.startsWith("gateway")));
  }

  killAll(): void {
    for (const child of this.children.values()) child.kill("SIGKILL");
  }

  private async end(names: readonly string[]): Promise<void> {
    await Promise.all(
      names.map((name) => {
        const child = this.children.get(name);
        if (child === undefined || child.exitCode !== null) return undefined;
        const ended = new Promise((done) => child.once("exit", done));
        child.kill("SIGTERM");
        return ended;
      }),
    );
  }

  private say(name: string, text: string): void {
    this.output.line(`${name.padEnd(10)} ${text}`);
  }
}

async function stateOf(url: string): Promise<string> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(WATCH_MS) });
    if (answer.ok) return "ready";
    const body: { message?: unknown } = JSON.parse(await answer.text());
    return String(body.message ?? `status ${answer.status}`);
  } catch {
    return "not reachable";
  }
}
