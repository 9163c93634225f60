/**
 * One soak: load, readers and attacks on a venue that is restarted repeatedly, and a sample every few
 * seconds.
 */
import { spawnSync } from "node:child_process";
import { closeSync, lstatSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ATTACKS } from "../attacks/table.js";
import type { Attacker } from "../attacks/trial/attacker.js";
import { Child } from "../harness/child.js";
import { BenchGateway, inFolder, MAIN } from "../harness/gateway.js";
import { type BenchAccount, signInMany } from "../harness/http.js";
import { errorText, progress } from "../harness/report.js";
import { judgeSoak, type Restart, type SoakSample } from "./judgement.js";
import type { Load } from "./load.js";
import type { SoakReaders } from "./readers.js";
import { progressLine, type SoakResult } from "./report.js";

const ATTACKER = new URL("../attacks/trial/attacker.js", import.meta.url);
const TRADERS = 64;
const SATURATION_MS = 4_000;
const SAMPLE_MS = 5_000;
const PROGRESS_EVERY_MS = 60_000;
/** Of each process in the first half; the last one runs for the second half. */
const LIFE_MINUTES = 10;
const SIGNALS = ["SIGKILL", "SIGTERM"] as const;
/** The defaults, with snapshots so often that every process takes some. */
const CONFIGURATION = { snapshots: { everyMs: 20_000 } };
const ATTACK_EVERY_MS = 30_000;
const ATTACK_LIMITS = { milliseconds: 4_000, maxBytes: 128e6 };
/** Coprime with the number of attacks, so that neighbours of the table do not follow each other. */
const ATTACK_STRIDE = 37;
const BLOCK_BYTES = 512;

interface SoakOptions {
  readonly minutes: number;
  readonly withAttacks: boolean;
}

export function runSoak(options: SoakOptions): Promise<SoakResult> {
  return inFolder("soak", async (folder) => {
    const log = openSync(join(folder, "venue.log"), "a", 0o600);
    const start = { folder, log, configuration: CONFIGURATION };
    const soak = new Soak(options, await BenchGateway.start(start));
    try {
      return await soak.run();
    } finally {
      await soak.close();
      closeSync(log);
    }
  });
}

class Soak {
  private readonly load = Child.start<Load>(new URL("./load.js", import.meta.url));
  private readonly readers = Child.start<SoakReaders>(new URL("./readers.js", import.meta.url));
  private readonly samples: SoakSample[] = [];
  private readonly restarts: Restart[] = [];
  private readonly attacks: string[] = [];
  private readonly faults: string[] = [];
  private readonly startedMs = performance.now();
  /** Accounts of the attacker. */
  private veterans: readonly BenchAccount[] = [];
  private attacksBegun = 0;
  private attack: Promise<void> | undefined;
  private attackEndedMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly options: SoakOptions,
    private venue: BenchGateway,
  ) {}

  async run(): Promise<SoakResult> {
    const { minutes } = this.options;
    const { load } = this;
    this.veterans = await signInMany({ port: this.venue.port, localAddress: "127.4.0.1" }, 2);
    progress(`soak: ${TRADERS} traders sign in …`);
    await load.call("start", this.venue.port, TRADERS);
    const saturation = await load.call("saturate", SATURATION_MS);
    const rate = saturation / 3;
    progress(`soak: ${saturation.toFixed(0)}/s at saturation, continues with ${rate.toFixed(0)}/s`);
    await load.call("pace", rate);
    await load.call("window");
    const half = (minutes * 60_000) / 2;
    const short = Math.max(1, Math.round(minutes / 2 / LIFE_MINUTES));
    for (let life = 0; life < short; life++) {
      await this.live(life, half / short);
      await this.restart(SIGNALS[life % SIGNALS.length]!);
    }
    await this.live(short, half);
    return this.end(saturation, rate);
  }

  async close(): Promise<void> {
    await Promise.all([this.load.stop(), this.readers.stop()]);
    await this.venue.end("SIGKILL");
  }

  /** One process, from its start to shortly before its end. */
  private async live(life: number, lifeMs: number): Promise<void> {
    await this.readers.call("connect", this.venue.port);
    const bornMs = performance.now();
    let nextAttackMs = bornMs + ATTACK_EVERY_MS;
    let nextProgressMs = bornMs;
    for (let due = bornMs + SAMPLE_MS; due < bornMs + lifeMs; due += SAMPLE_MS) {
      if (performance.now() >= nextAttackMs) {
        nextAttackMs += ATTACK_EVERY_MS;
        this.beginAttack();
      }
      await sleep(Math.max(0, due - performance.now()));
      if (!this.venue.isAlive) throw new Error("the venue ended without a signal");
      const sample = await this.sample(life, performance.now() - bornMs);
      this.samples.push(sample);
      if (performance.now() < nextProgressMs) continue;
      nextProgressMs += PROGRESS_EVERY_MS;
      progress(`soak: ${progressLine(sample, this.attacks.at(-1) ?? "")}`);
    }
    await this.attack;
  }

  private async sample(life: number, ageMs: number): Promise<SoakSample> {
    const load = await this.load.call("window");
    const heapBytes = await this.venue.heapBytes();
    const folderBytes = bytesIn(this.venue.dataFolder);
    const nowMs = performance.now();
    const venue = { ...this.venue.figures, heapBytes, folderBytes };
    const isAttacked = this.attack !== undefined || nowMs - this.attackEndedMs < 2 * SAMPLE_MS;
    return { atMs: nowMs - this.startedMs, life, ageMs, load, venue, isAttacked };
  }

  /** At most one at a time; the samples continue meanwhile. */
  private beginAttack(): void {
    if (!this.options.withAttacks || this.attack !== undefined) return;
    this.attack = this.runAttack(this.attacksBegun++)
      .catch((error) => void this.faults.push(`an attack did not run: ${errorText(error)}`))
      .finally(() => {
        this.attack = undefined;
        this.attackEndedMs = performance.now();
      });
  }

  /** Each from its own client address. */
  private async runAttack(number: number): Promise<void> {
    const { name: attack } = ATTACKS[(number * ATTACK_STRIDE) % ATTACKS.length]!;
    const attacker = Child.start<Attacker>(ATTACKER);
    const localAddress = `127.5.${Math.floor(number / 250)}.${1 + (number % 250)}`;
    const { veterans } = this;
    const { port } = this.venue;
    try {
      await attacker.call("prepare", { attack, port, localAddress, veterans, ...ATTACK_LIMITS });
      await attacker.call("attack");
      this.attacks.push(attack);
    } finally {
      await attacker.stop();
    }
  }

  /** While orders are in flight: their answers may be lost, and the load sends them again. */
  private async restart(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const [code] = await Promise.all([this.venue.end(signal), this.load.call("down")]);
    const startedMs = performance.now();
    this.venue = await this.venue.startAgain();
    const readyMs = performance.now() - startedMs;
    const found = await this.load.call("up", this.venue.port);
    for (const order of found.missing) this.faults.push(`lost after ${signal}: ${order}`);
    this.restarts.push({ signal, code, readyMs, ...found });
    progress(
      `soak: ${signal}, exit code ${code}, ready again after ${(readyMs / 1_000).toFixed(1)} s, ` +
        `${found.missing.length} of ${found.looked} acknowledged orders missing`,
    );
  }

  private async end(saturation: number, rate: number): Promise<SoakResult> {
    await this.load.call("down");
    const code = await this.venue.end("SIGTERM");
    if (code !== 0) this.faults.push(`the last SIGTERM ended with code ${code}`);
    const args = [MAIN, "verify", "--data", this.venue.dataFolder];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) this.faults.push("perpgate verify does not agree");
    // Progress goes to standard error; it matters only if something failed.
    const verified = (status === 0 ? stdout : stdout + stderr).trim();
    const { samples, restarts, attacks, faults } = this;
    const { minutes } = this.options;
    const findings = judgeSoak(samples, restarts);
    return { minutes, saturation, rate, samples, findings, attacks, faults, verified };
  }
}

/** What the files take on the disk. Files appear and disappear meanwhile. */
function bytesIn(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    bytes += (lstatSync(join(folder, name), { throwIfNoEntry: false })?.blocks ?? 0) * BLOCK_BYTES;
  }
  return bytes;
}
