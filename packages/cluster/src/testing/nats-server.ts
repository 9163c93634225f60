/** One real nats-server as a child process, on fixed loopback ports, with its store in a folder. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, cpSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Where it exists, the kernel ends the server with this process, also when that one is killed. */
const SETPRIV = "/usr/bin/setpriv";
const ENDING_WITH_US = existsSync(SETPRIV) ? [SETPRIV, "--pdeathsig", "KILL"] : [];

export interface ServerPorts {
  readonly client: number;
  readonly route: number;
  readonly monitor: number;
}

export interface ServerSettings {
  readonly binary: string;
  readonly folder: string;
  readonly name: string;
  readonly ports: ServerPorts;
  /** Ports of all servers' routes; empty for a server alone. */
  readonly routes: readonly number[];
  /** Where the other servers reach its routes. */
  readonly advertisedRoute: number;
  /** More lines of its configuration. */
  readonly extra: string;
}

export class NatsServer {
  readonly name: string;
  readonly url: string;
  readonly monitorUrl: string;
  readonly storeFolder: string;
  readonly logFile: string;
  private readonly configFile: string;
  private child: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();

  constructor(private readonly settings: ServerSettings) {
    const { folder, name, ports } = settings;
    this.name = name;
    this.url = `nats://127.0.0.1:${ports.client}`;
    this.monitorUrl = `http://127.0.0.1:${ports.monitor}`;
    mkdirSync(folder, { recursive: true });
    this.storeFolder = join(folder, "store");
    this.logFile = join(folder, "server.log");
    this.configFile = join(folder, "server.conf");
  }

  get isRunning(): boolean {
    return this.child !== undefined;
  }

  /**
   * `isolated`: it serves clients, but has no routes to the other servers. `extra` replaces the lines of
   * the settings.
   */
  start({ isolated = false, extra = this.settings.extra } = {}): void {
    this.requireStopped();
    writeFileSync(this.configFile, this.configuration(isolated, extra));
    const log = openSync(this.logFile, "a");
    const [program = "", ...args] = [
      ...ENDING_WITH_US,
      this.settings.binary,
      "-c",
      this.configFile,
    ];
    const child = spawn(program, args, { stdio: ["ignore", log, log] });
    closeSync(log);
    this.child = child;
    // A test process that ends early must not leave servers behind.
    const endWithUs = (): void => {
      child.kill("SIGKILL");
    };
    process.on("exit", endWithUs);
    this.ended = new Promise((resolve) => {
      child.once("close", () => {
        process.off("exit", endWithUs);
        this.child = undefined;
        resolve();
      });
      child.once("error", () => resolve());
    });
  }

  /** A graceful stop: it hands its leaderships over first. */
  stop(): Promise<void> {
    return this.signalAndWait("SIGTERM");
  }

  kill(): Promise<void> {
    return this.signalAndWait("SIGKILL");
  }

  /** SIGSTOP: its connections stay open and silent. */
  pause(): void {
    this.child?.kill("SIGSTOP");
  }

  resume(): void {
    this.child?.kill("SIGCONT");
  }

  /** Resolves once it serves clients. */
  async ready(withinMs = 15_000): Promise<void> {
    const until = Date.now() + withinMs;
    while (!(await this.isServing())) {
      if (Date.now() > until)
        throw new Error(`too late: ${this.name} does not serve; see ${this.logFile}`);
      if (this.child === undefined) throw new Error(`${this.name} ended; see ${this.logFile}`);
      await delay(25);
    }
  }

  /** A page of its monitoring interface, such as "varz" or "jsz?streams=1". */
  async monitor(page: string): Promise<unknown> {
    const response = await fetch(`${this.monitorUrl}/${page}`, {
      signal: AbortSignal.timeout(2000),
    });
    return response.json();
  }

  /** Copies the store of a stopped server, to be put back by `restoreStore`. */
  copyStore(to: string): void {
    this.requireStopped();
    rmSync(to, { recursive: true, force: true });
    if (existsSync(this.storeFolder)) cpSync(this.storeFolder, to, { recursive: true });
  }

  restoreStore(from: string): void {
    this.requireStopped();
    rmSync(this.storeFolder, { recursive: true, force: true });
    if (existsSync(from)) cpSync(from, this.storeFolder, { recursive: true });
  }

  /** As on a new machine. */
  emptyStore(): void {
    this.requireStopped();
    rmSync(this.storeFolder, { recursive: true, force: true });
  }

  private requireStopped(): void {
    if (this.child !== undefined) throw new Error(`${this.name} is running`);
  }

  private async isServing(): Promise<boolean> {
    try {
      const response = await fetch(`${this.monitorUrl}/healthz?js-server-only=true`, {
        signal: AbortSignal.timeout(1000),
      });
      return response.ok;
    } catch {
      return false;
    }
  }

  private async signalAndWait(signal: NodeJS.Signals): Promise<void> {
    this.child?.kill(signal);
    // A paused process receives SIGTERM only once it runs again.
    if (signal !== "SIGKILL") this.child?.kill("SIGCONT");
    await this.ended;
  }

  private configuration(isolated: boolean, extra: string): string {
    const { name, ports, routes, advertisedRoute } = this.settings;
    const listen = isolated ? -1 : ports.route;
    // Nothing listens on port 1; a server of a cluster does not start without any route.
    const reached = (isolated ? [1] : routes).map((port) => `"nats://127.0.0.1:${port}"`);
    const cluster = `cluster {
  name: perpgate
  listen: "127.0.0.1:${listen}"
  ${isolated ? "" : `advertise: "127.0.0.1:${advertisedRoute}"`}
  routes: [${reached.join(", ")}]
}`;
    return `server_name: ${name}
listen: "127.0.0.1:${ports.client}"
http: "127.0.0.1:${ports.monitor}"
jetstream {
  store_dir: ${JSON.stringify(this.storeFolder)}
  sync_interval: always
}
${routes.length === 0 ? "" : cluster}
${extra}
`;
  }
}
