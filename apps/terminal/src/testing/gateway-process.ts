/** The built gateway in a process on a free port, serving the page. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../../../perpgate/bin/perpgate.js", import.meta.url));

/** All tests share one address; limits are tested elsewhere. */
export const UNLIMITED = {
  ordersPerSecond: 1e6,
  ordersBurst: 1e6,
  cancelsPerSecond: 1e6,
  cancelsBurst: 1e6,
  depositsPerMinute: 1_000,
  addressDepositsPerMinute: 1_000,
  newAccountsBurst: 10_000,
  signInsPerSecond: 1_000,
  accountReadsPerSecond: 1e6,
  accountReadsBurst: 1e6,
  readsPerSecond: 1e6,
  costMsPerSecond: 1e6,
  costBurstMs: 1e6,
  accountCostMsPerSecond: 1e6,
  accountCostBurstMs: 1e6,
  readsBurst: 1e6,
};

export interface GatewayOptions {
  /** Its folder, or none. */
  readonly page: string | false;
  /** The pace of the venue's bots; none unless given. */
  readonly bots?: true | Readonly<Record<string, number>>;
  readonly settings?: Readonly<Record<string, unknown>>;
}

export class GatewayProcess {
  url = "";
  private readonly folder = mkdtempSync(join(tmpdir(), "perpgate-terminal-"));
  private child: ChildProcess | undefined;

  constructor(private readonly options: GatewayOptions) {}

  get isRunning(): boolean {
    const { child } = this;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Starts, or restarts on the same port and data. */
  async start(): Promise<void> {
    const config = join(this.folder, "perpgate.json");
    const { page, settings, bots = false } = this.options;
    const content = { logLevel: "error", limits: UNLIMITED, server: { page }, bots, ...settings };
    writeFileSync(config, JSON.stringify(content));
    const port = this.url === "" ? "0" : new URL(this.url).port;
    const args = [MAIN, "--port", port, "--data", join(this.folder, "data"), "--config", config];
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env.PATH },
      stdio: ["ignore", "pipe", "inherit"],
      // A group of its own, for signals to all of its processes.
      detached: true,
    });
    this.child = child;
    this.url = await addressIn(child);
  }

  /** Its sockets stay open and silent, like a network that drops every packet. */
  freeze(): void {
    this.signal("SIGSTOP");
  }

  thaw(): void {
    this.signal("SIGCONT");
  }

  /** SIGKILL, as in a crash. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined || !this.isRunning) return;
    const ended = new Promise((resolve) => child.once("close", resolve));
    this.signal("SIGKILL");
    await ended;
  }

  private signal(name: NodeJS.Signals): void {
    if (this.child?.pid !== undefined) process.kill(-this.child.pid, name);
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function addressIn(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const address = /interface {2}(http:\S+)\/v1\/markets/.exec(text)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once("close", () => reject(new Error(`the gateway exited before it listened: ${text}`)));
  });
}
