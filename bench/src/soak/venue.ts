/** The venue of a soak: one data folder, several processes one after the other. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, lstatSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProcessFigures, processFigures } from "../attacks/trial/process-figures.js";
import { type Gateway, startGateway } from "../orders/gateway.js";
import { firstMessage } from "../orders/processes.js";

const MAIN = fileURLToPath(new URL("../../../apps/perpgate/dist/main.js", import.meta.url));
const PROBE = new URL("./memory-probe.js", import.meta.url).href;
/** The defaults, with snapshots so often that every life of the process takes some. */
const CONFIGURATION = { snapshots: { everyMs: 20_000 } };
const BLOCK_BYTES = 512;
/** A process that has not ended so long after SIGTERM is a fault; longer than the drain's grace. */
const STOP_DEADLINE_MS = 20_000;

export interface VenueFigures extends ProcessFigures {
  readonly heapBytes: number;
  readonly folderBytes: number;
}

export class SoakVenue {
  private constructor(
    private readonly folder: string,
    private readonly log: number,
    private gateway: Gateway,
  ) {}

  static async start(): Promise<SoakVenue> {
    const folder = mkdtempSync(join(tmpdir(), "perpgate-soak-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
    const log = openSync(join(folder, "venue.log"), "a", 0o600);
    return new SoakVenue(folder, log, await begin(folder, log));
  }

  get port(): number {
    return this.gateway.port;
  }

  get isAlive(): boolean {
    return this.gateway.child.exitCode === null && this.gateway.child.signalCode === null;
  }

  async figures(): Promise<VenueFigures> {
    const { child, dataFolder } = this.gateway;
    const answered = firstMessage(child);
    child.send("heap");
    const heapBytes = Number(await answered);
    return { ...processFigures(child.pid ?? 0), heapBytes, folderBytes: bytesIn(dataFolder) };
  }

  /** Ends the process; the exit code, or null where a signal ended it. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
    const { child } = this.gateway;
    if (!this.isAlive) return child.exitCode;
    const deadline = AbortSignal.timeout(STOP_DEADLINE_MS);
    const exited = once(child, "exit", { signal: deadline });
    child.kill(signal);
    try {
      await exited;
    } catch {
      throw new Error(`the venue was still there ${STOP_DEADLINE_MS} ms after ${signal}`);
    }
    return child.exitCode;
  }

  /** A new process on the same data; how long it took to become ready. */
  async startAgain(): Promise<number> {
    const startedMs = performance.now();
    this.gateway = await begin(this.folder, this.log);
    return performance.now() - startedMs;
  }

  /** What `perpgate verify` says about the folder, and whether it agrees. */
  verify(): { readonly isVerified: boolean; readonly said: string } {
    const args = [MAIN, "verify", "--data", this.gateway.dataFolder];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    // Progress goes to standard error; it matters only where something failed.
    return { isVerified: status === 0, said: (status === 0 ? stdout : stdout + stderr).trim() };
  }

  async close(): Promise<void> {
    if (this.isAlive) await this.end("SIGKILL");
    closeSync(this.log);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function begin(folder: string, log: number): Promise<Gateway> {
  return startGateway({
    folder,
    log,
    configuration: CONFIGURATION,
    nodeFlags: ["--import", PROBE],
  });
}

/** What the files take on the disk. Files come and go meanwhile. */
function bytesIn(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    bytes += (lstatSync(join(folder, name), { throwIfNoEntry: false })?.blocks ?? 0) * BLOCK_BYTES;
  }
  return bytes;
}
