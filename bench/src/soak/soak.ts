/**
 * One soak: the load, readers and attacks against a venue that is restarted again and again, and a
 * sample every few seconds.
 */
import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { firstMessage, forkScript, stop } from "../orders/processes.js";
import { progress } from "../report.js";
import { SoakAttacks } from "./attacks.js";
import { judge } from "./judgement.js";
import type { Found, LoadRequest, LoadWindow } from "./load.js";
import { progressLine, type SoakResult } from "./report.js";
import type { Restart, Sample } from "./samples.js";
import { SoakVenue } from "./venue.js";

const LOAD = new URL("./load.js", import.meta.url);
const READERS = new URL("./readers.js", import.meta.url);
const TRADERS = 64;
const SATURATION_MS = 4_000;
const SAMPLE_MS = 5_000;
const ATTACK_EVERY_MS = 30_000;
const PROGRESS_EVERY_MS = 60_000;
/** A process lives for so long, at least two of them a soak. */
const LIFE_MINUTES = 10;
const SIGNALS = ["SIGKILL", "SIGTERM"] as const;

export interface SoakOptions {
  readonly minutes: number;
  readonly withAttacks: boolean;
}

export class Soak {
  private readonly samples: Sample[] = [];
  private readonly restarts: Restart[] = [];
  private readonly attacked: string[] = [];
  private readonly faults: string[] = [];
  private readonly startedMs = performance.now();
  private attack: Promise<void> | undefined;
  private attackEndedMs = Number.NEGATIVE_INFINITY;

  private constructor(
    private readonly options: SoakOptions,
    private readonly venue: SoakVenue,
    private readonly load: ChildProcess,
    private readonly readers: ChildProcess,
    private readonly attacks: SoakAttacks,
  ) {}

  static async run(options: SoakOptions): Promise<SoakResult> {
    const venue = await SoakVenue.start();
    const load = forkScript(LOAD, []);
    const readers = forkScript(READERS, []);
    try {
      const attacks = await SoakAttacks.start(venue.port);
      return await new Soak(options, venue, load, readers, attacks).run();
    } finally {
      await Promise.all([stop(load), stop(readers)]);
      await venue.close();
    }
  }

  private async run(): Promise<SoakResult> {
    const { minutes } = this.options;
    progress(`soak: ${TRADERS} traders sign in …`);
    await this.ask({ do: "start", port: this.venue.port, traders: TRADERS });
    const saturation = Number(await this.ask({ do: "saturate", milliseconds: SATURATION_MS }));
    const rate = saturation / 3;
    progress(`soak: ${saturation.toFixed(0)}/s at saturation, goes on with ${rate.toFixed(0)}/s`);
    await this.ask({ do: "pace", perSecond: rate });
    await this.ask({ do: "window" });
    const lives = Math.max(2, Math.round(minutes / LIFE_MINUTES));
    for (let life = 0; life < lives; life++) {
      await this.live(life, (minutes * 60_000) / lives);
      if (life < lives - 1) await this.restart(SIGNALS[life % SIGNALS.length]!);
    }
    return this.end(saturation, rate);
  }

  /** One process, from its start to shortly before its end. */
  private async live(life: number, lifeMs: number): Promise<void> {
    await this.startReaders();
    const bornMs = performance.now();
    let nextAttackMs = bornMs + ATTACK_EVERY_MS;
    let nextProgressMs = bornMs;
    for (let due = bornMs + SAMPLE_MS; due < bornMs + lifeMs; due += SAMPLE_MS) {
      if (performance.now() >= nextAttackMs) {
        nextAttackMs += ATTACK_EVERY_MS;
        this.beginAttack();
      }
      await sleep(Math.max(0, due - performance.now()));
      if (!this.venue.isAlive) throw new Error("the venue ended by itself");
      const sample = await this.sample(life, performance.now() - bornMs);
      this.samples.push(sample);
      if (performance.now() < nextProgressMs) continue;
      nextProgressMs += PROGRESS_EVERY_MS;
      progress(`soak: ${progressLine(sample, this.attacked.at(-1) ?? "")}`);
    }
    await this.attack;
  }

  private async sample(life: number, ageMs: number): Promise<Sample> {
    const load = await this.ask({ do: "window" });
    if (!isWindow(load)) throw new Error(`the load said ${JSON.stringify(load)}`);
    const venue = await this.venue.figures();
    const nowMs = performance.now();
    const isAttacked = this.attack !== undefined || nowMs - this.attackEndedMs < 2 * SAMPLE_MS;
    return { atMs: nowMs - this.startedMs, life, ageMs, venue, load, isAttacked };
  }

  /** At most one at a time; the samples go on meanwhile. */
  private beginAttack(): void {
    if (!this.options.withAttacks || this.attack !== undefined) return;
    this.attack = this.attacks
      .run(this.venue.port)
      .then(
        (name) => void this.attacked.push(name),
        (reason: Error) => void this.faults.push(`an attack did not run: ${reason.message}`),
      )
      .then(() => {
        this.attack = undefined;
        this.attackEndedMs = performance.now();
      });
  }

  /** While orders are in flight: their answers may be lost, and the load sends them again. */
  private async restart(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const [code] = await Promise.all([this.venue.end(signal), this.ask({ do: "down" })]);
    const readyMs = await this.venue.startAgain();
    const found = await this.ask({ do: "up", port: this.venue.port });
    if (!isFound(found)) throw new Error(`the load said ${JSON.stringify(found)}`);
    for (const order of found.missing) this.faults.push(`lost after ${signal}: ${order}`);
    this.restarts.push({ signal, code, readyMs, ...found });
    progress(
      `soak: ${signal}, exit code ${code}, ready again after ${(readyMs / 1_000).toFixed(1)} s, ` +
        `${found.missing.length} of ${found.looked} acknowledged orders missing`,
    );
  }

  private async end(saturation: number, rate: number): Promise<SoakResult> {
    await this.ask({ do: "down" });
    const code = await this.venue.end("SIGTERM");
    if (code !== 0) this.faults.push(`the last SIGTERM ended with code ${code}`);
    const { isVerified, said } = this.venue.verify();
    if (!isVerified) this.faults.push("perpgate verify does not agree");
    const { samples, restarts, attacked: attacks, faults, options } = this;
    const findings = judge(samples, restarts);
    const { minutes } = options;
    return { minutes, saturation, rate, samples, findings, attacks, faults, verified: said };
  }

  private async startReaders(): Promise<void> {
    const answer = firstMessage(this.readers);
    this.readers.send({ port: this.venue.port });
    await answer;
  }

  private ask(request: LoadRequest): Promise<unknown> {
    const answer = firstMessage(this.load);
    this.load.send(request);
    return answer;
  }
}

function isWindow(value: unknown): value is LoadWindow {
  return typeof value === "object" && value !== null && "p99Ms" in value;
}

function isFound(value: unknown): value is Found {
  return typeof value === "object" && value !== null && "missing" in value;
}
