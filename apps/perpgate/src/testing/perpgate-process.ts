/** The built command as a child process, with the processes that it starts. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { finishedWithin } from "@perpgate/cluster/testing";
import { descendantsOf, processesOf } from "@perpgate/journal/testing";
import { onTestFinished } from "vitest";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
export const MAIN = fileURLToPath(new URL("../../bin/perpgate.js", import.meta.url));

/** Settings with which no test reaches a rate limit. */
export const UNLIMITED = {
  readsPerSecond: 1e6,
  readsBurst: 1e6,
  ordersPerSecond: 1e6,
  ordersBurst: 1e6,
  cancelsPerSecond: 1e6,
  cancelsBurst: 1e6,
  costMsPerSecond: 1e6,
  costBurstMs: 1e6,
  accountCostMsPerSecond: 1e6,
  accountCostBurstMs: 1e6,
  signInsPerSecond: 1e6,
  failedSignInsPerMinute: 1e6,
  failedSignaturesPerMinute: 1e6,
  failedSignaturesBurst: 1e6,
  newAccountsPerMinute: 1e6,
  newAccountsBurst: 1e6,
};

export type WhenDone = (stop: () => void) => void;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class PerpgateProcess {
  readonly ended: Promise<Ended>;
  private stdout = "";
  private stderr = "";
  private readonly child: ChildProcess;

  constructor(
    args: readonly string[],
    environment: NodeJS.ProcessEnv = {},
    command: readonly [string, ...string[]] = [process.execPath, MAIN],
    /** Registers the kill: at the end of the test, unless several tests share the process. */
    whenDone: WhenDone = onTestFinished,
  ) {
    const [program, ...before] = command;
    this.child = spawn(program, [...before, ...args], {
      cwd: ROOT,
      // Bots would move the markets and slow the test down, as large files of zeros do.
      env: {
        PATH: process.env.PATH,
        PERPGATE_NO_BOTS: "true",
        PERPGATE_SEGMENT_MIB: "4",
        PERPGATE_EDGES: "1",
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.stdout += chunk.toString();
    });
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.ended = new Promise((resolve) => {
      this.child.once("close", (code, signal) => {
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
    whenDone(() => this.killAll());
  }

  /** The address in the banner, once it is printed. */
  async url(): Promise<string> {
    const [, address = ""] = await this.line(/interface {2}(http:\S+)\/v1\/markets/);
    return address;
  }

  /** The first match in standard output, once it is printed. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const onClose = () => reject(new Error(`ended early: ${this.stderr}`));
      const look = () => {
        const found = pattern.exec(this.stdout);
        if (found === null) return;
        this.child.stdout?.off("data", look);
        this.child.off("close", onClose);
        resolve(found);
      };
      this.child.stdout?.on("data", look);
      this.child.once("close", onClose);
      look();
    });
  }

  /** Resolves once it has printed a match. */
  async printed(pattern: RegExp, on: "stdout" | "stderr" = "stdout"): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (pattern.test(this[on])) resolve();
      };
      this.child[on]?.on("data", look);
      this.child.once("close", () => {
        look();
        reject(new Error(`ended without ${pattern}: ${this.stdout}${this.stderr}`));
      });
      look();
    });
  }

  /** Rejects if it does not end in time, on a machine as late as this one was then. */
  endedWithin(ms: number): Promise<Ended> {
    return finishedWithin(
      ms,
      () => this.ended,
      () => `: ${this.stderr}`,
    );
  }

  /**
   * How long the main threads of supervisor and core, which a start needs one after the other, could have
   * run and got no processor; 0 where the system does not say.
   */
  get starvedMs(): number {
    return [this.pid, ...processesOf("core-process.js", this.pid)]
      .map((pid) => `/proc/${pid}/schedstat`)
      .filter(existsSync)
      .map((path) => Number(readFileSync(path, "utf8").split(" ")[1] ?? 0) / 1e6)
      .reduce((sum, ms) => sum + ms, 0);
  }

  /** Of the process that was started: a venue's supervisor. */
  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Of the core that it has started. @throws if there is none */
  get core(): number {
    const [core] = processesOf("core-process.js", this.pid);
    if (core === undefined) throw new Error("no core runs");
    return core;
  }

  /** Of the edges that run. */
  get edges(): readonly number[] {
    return processesOf("edge-process.js", this.pid);
  }

  signalCore(name: NodeJS.Signals): void {
    process.kill(this.core, name);
  }

  /** All of its processes, as when a machine fails. */
  killAll(): void {
    this.signalAll("SIGKILL");
  }

  /** To all of its processes: as what happens to a machine. */
  signalAll(name: NodeJS.Signals): void {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    for (const pid of [this.pid, ...descendantsOf(this.pid)]) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended.
      }
    }
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }
}

/** The exit code of a command whose standard output and error are closed before it writes. */
export async function codeWithoutReader(args: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  child.stderr.destroy();
  return new Promise((resolve) => {
    child.once("exit", (code) => resolve(code));
    onTestFinished(() => void child.kill("SIGKILL"));
  });
}

/** A new folder, removed at the end of the test. */
export function temporaryFolder(whenDone: WhenDone = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-"));
  // A process that was just killed may still be writing.
  whenDone(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

export function configurationFile(content: unknown, whenDone?: WhenDone): string {
  const path = join(temporaryFolder(whenDone), "perpgate.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}
