/**
 * `perpgate cluster up` in a process: three NATS servers and three gateways. Needs `nats-server`, from
 * `PERPGATE_NATS_SERVER` or the PATH; without it the tests are skipped with a warning, and with
 * `REQUIRE_NATS_SERVER=1`, as in continuous integration, they fail.
 */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAIN, UNLIMITED } from "./gateway-process.js";

const natsServer = (): string => process.env.PERPGATE_NATS_SERVER ?? "nats-server";

export function isWithoutNats(): boolean {
  try {
    execFileSync(natsServer(), ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    if (process.env.REQUIRE_NATS_SERVER === "1") {
      throw new Error("REQUIRE_NATS_SERVER is set, but nats-server was not found");
    }
    console.warn(
      "SKIPPED: the test of the trading page with several gateways needs nats-server, which was not " +
        "found. Put it on the PATH or set PERPGATE_NATS_SERVER=/path.",
    );
    return true;
  }
}

export class ClusterProcess {
  readonly urls: readonly string[];
  private readonly folder = mkdtempSync(join(tmpdir(), "perpgate-terminal-cluster-"));
  private readonly child: ChildProcess;
  private text = "";

  constructor(page: string) {
    const config = join(this.folder, "given.json");
    writeFileSync(
      config,
      JSON.stringify({ logLevel: "error", limits: UNLIMITED, server: { page } }),
    );
    // Three ports each, in a range that the system does not hand out.
    const port = 12_000 + 10 * Math.floor(Math.random() * 400);
    this.urls = [0, 1, 2].map((member) => `http://127.0.0.1:${port + member}`);
    const words = ["cluster", "up", "--dir", join(this.folder, "cluster"), "--config", config];
    words.push("--port", String(port), "--nats-port", String(port + 5_000), "--no-bots");
    words.push("--nats-server", natsServer());
    this.child = spawn(process.execPath, [MAIN, ...words], {
      env: { PATH: process.env.PATH },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.text += chunk.toString();
    });
  }

  async ready(): Promise<void> {
    for (const url of this.urls) {
      while (!(await isReady(url))) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** SIGKILL for the gateway at this address. */
  kill(url: string): void {
    const name = `gateway-${this.urls.indexOf(url) + 1}`;
    const found = [...this.text.matchAll(new RegExp(`${name} +started, process (\\d+)`, "g"))];
    const pid = Number(found.at(-1)?.[1]);
    if (!Number.isInteger(pid)) throw new Error(`${url} does not run`);
    process.kill(pid, "SIGKILL");
  }

  async remove(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once("close", resolve));
    this.child.kill("SIGTERM");
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}
