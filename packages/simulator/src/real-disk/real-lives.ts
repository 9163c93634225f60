/**
 * A data folder on a real disk over many lives of a real process, and the auditor of their answers:
 * each answered command must be in the log with the same record, and must replay to the same events
 * on a separate engine. Between two lives the log may lose its end while the history keeps it: the
 * next start must refuse and change nothing.
 */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { inspectLog, LOG_START, nodeDisk, SegmentReader } from "@perpgate/journal";
import { Random } from "@perpgate/protocol/random";
import { shownLoss, verify } from "@perpgate/venue";
import { Transcript } from "../auditor/transcript.js";
import { mustHold } from "../auditor/violation.js";
import { drawLife, FOLLOWED_SHIFT_MS, type LifePlan } from "./life-plan.js";

/** Threads and processes run built code. */
const CHILD = fileURLToPath(new URL("../../dist/real-disk/life-child.js", import.meta.url));
const TOLD = /^(\d+) ([0-9a-f]{64}) ([0-9a-f]{64})$/;
/** How far the venue's time may be ahead of real time: what is followed, and a start's own time. */
const MOST_AHEAD_MS = FOLLOWED_SHIFT_MS + 5_000;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class RealLives {
  readonly counts = { lives: 0, told: 0, losses: 0 };
  private readonly random: Random;
  /** Record and events, as hashes, by seq. */
  private readonly told = new Map<number, string>();

  private constructor(
    seed: number,
    private readonly folder: string,
  ) {
    this.random = new Random(seed);
  }

  static async begin(seed: number): Promise<RealLives> {
    return new RealLives(seed, await mkdtemp(join(tmpdir(), "perpgate-lives-")));
  }

  async run(lives: number): Promise<void> {
    for (let life = 0; life < lives; life++) {
      const losesItsEnd = life > 0 && this.random.chance(0.3);
      if (losesItsEnd) await cp(this.journal, this.copy, { recursive: true });
      const plan = drawLife(this.random, this.data);
      // Nothing can tell whether the clock is right that a log begins with.
      await this.live(life === 0 ? { ...plan, clockShiftMs: 0 } : plan);
      if (losesItsEnd) await this.loseTheEnd();
    }
    const { fault } = await verify(this.data);
    mustHold(fault === null, () => `verify: seq ${fault?.position}: ${fault?.reason}`);
  }

  end(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  private get data(): string {
    return join(this.folder, "data");
  }

  private get journal(): string {
    return join(this.data, "journal");
  }

  private get copy(): string {
    return join(this.folder, "earlier");
  }

  private async live(plan: LifePlan): Promise<void> {
    const { code, stdout, stderr } = await this.spawn(plan);
    const what = JSON.stringify({ ...plan, directory: "" });
    mustHold(code === null, () => `life ${what} ended with code ${code}: ${stderr}`);
    for (const line of stdout.split("\n").slice(0, -1)) {
      const [, seq = "", record = "", events = ""] = TOLD.exec(line) ?? [];
      mustHold(seq !== "", () => `life ${what} said ${line}`);
      this.told.set(Number(seq), `${record} ${events}`);
    }
    this.counts.lives += 1;
    this.counts.told = this.told.size;
    this.audit(what);
  }

  /** Reads the log from disk, independently of the venue. */
  private audit(what: string): void {
    const found = new Transcript();
    const state = inspectLog(nodeDisk, this.journal, "all");
    const reader = new SegmentReader(nodeDisk, this.journal, LOG_START);
    const until = state?.end.batch ?? 0;
    for (let batch = reader.next(until); batch !== undefined; batch = reader.next(until)) {
      found.append(batch);
    }
    reader.close();
    for (const [seq, told] of this.told) {
      const entry = found.entries[seq - 1];
      mustHold(entry !== undefined, () => `after ${what}: seq ${seq} is lost`);
      mustHold(
        told === `${hashOf(entry.record)} ${hashOf(entry.words)}`,
        () => `after ${what}: seq ${seq} is not what was answered`,
      );
    }
    const timeMs = found.entries.at(-1)?.timeMs ?? 0;
    mustHold(
      timeMs <= Date.now() + MOST_AHEAD_MS,
      () => `after ${what}: the venue is at ${new Date(timeMs).toISOString()}`,
    );
  }

  /** Replaces the log by an earlier copy. */
  private async loseTheEnd(): Promise<void> {
    const before = inspectLog(nodeDisk, this.copy, "all")?.end.record ?? 0;
    for (const name of readdirSync(this.journal)) {
      if (name.endsWith(".log")) await rm(join(this.journal, name));
    }
    for (const name of readdirSync(this.copy).filter((each) => each.endsWith(".log"))) {
      await cp(join(this.copy, name), join(this.journal, name));
    }
    await rm(this.copy, { recursive: true });
    // A life that ended before its history had anything leaves nothing that shows the loss.
    const isShown = (await shownLoss(this.data)) !== undefined;
    const files = everything(this.data);
    const start = { ...drawLife(this.random, this.data), clockShiftMs: 0 };
    const refused = await this.spawn(start);
    if (!isShown) {
      this.forgetAfter(before);
      return;
    }
    mustHold(refused.code === 3, () => `not refused, code ${refused.code}: ${refused.stderr}`);
    mustHold(
      refused.stderr.includes(`ends at position ${before} `),
      () => `refused otherwise: ${refused.stderr}`,
    );
    const changed = differences(files, everything(this.data));
    mustHold(changed.length === 0, () => `a refused start has changed ${changed.join(", ")}`);
    this.forgetAfter(before);
    this.counts.losses += 1;
    await this.live({ ...start, acceptLoss: true });
    const kept = readdirSync(this.data).filter((name) => name.startsWith("given-up-"));
    mustHold(kept.length === this.counts.losses, () => "what was given up was not kept");
  }

  /** The operator has accepted the loss of these. */
  private forgetAfter(seq: number): void {
    for (const each of this.told.keys()) if (each > seq) this.told.delete(each);
  }

  private async spawn(plan: LifePlan): Promise<Ended> {
    // A file: what was written before a kill is in it.
    const path = join(this.folder, "told");
    const out = openSync(path, "w");
    const child = spawn(process.execPath, [CHILD, JSON.stringify(plan)], {
      stdio: ["ignore", out, "pipe"],
    });
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    closeSync(out);
    const text = readFileSync(path, "utf8");
    return { code, stdout: text.slice(0, text.lastIndexOf("\n") + 1), stderr };
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * Digests of all files with data. Left out: SQLite's index of the write-ahead file, which every process that
 * opens the store writes to.
 */
function everything(directory: string): Map<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  const paths = names
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile() && !/(?:lock|-shm)$/.test(path));
  return new Map(paths.map((path) => [relative(directory, path), hashOf(readFileSync(path))]));
}

/** Names of the files that were added, removed or changed. */
function differences(before: Map<string, string>, after: Map<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}
