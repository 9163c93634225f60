/**
 * One row of the table: the attack against the venue, then the same bytes at the same times against
 * a server that discards them, and each time the honest trader on the same venue.
 */
import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { firstMessage, forkScript, stop } from "../../orders/processes.js";
import { median } from "../../report.js";
import type { Attack, TraderPath } from "../attack.js";
import type { Tally } from "../wire/tally.js";
import type { AttackPlan } from "./attacker.js";
import type { SeededVenue } from "./seeded-venue.js";
import type { Measured, TraderRequest } from "./trader.js";
import { faultsOf, type Row, runOf } from "./verdict.js";

const ATTACKER = new URL("./attacker.js", import.meta.url);
const TRADER = new URL("./trader.js", import.meta.url);
const DISCARD = new URL("./discard-server.js", import.meta.url);

/** The trader's connections are open and warm before an attack begins. */
const LEAD_MS = 300;
/** A venue that is still busy after this time is started again. */
const SETTLE_MS = 4_000;
/** A venue is warm once the median of a round is below this, or after so many rounds. */
const WARM_MS = 10;
const WARM_UP_MS = 1_500;
const MOST_ROUNDS = 6;
/** One attack uses one client address, so that no limit of one row reaches another. */
const FIRST_ADDRESS = 2;

export interface TrialOptions {
  readonly milliseconds: number;
  readonly maxBytes: number;
}

export class Trials {
  private nextAddress = FIRST_ADDRESS;

  private constructor(
    private readonly venue: SeededVenue,
    private readonly trader: ChildProcess,
    private readonly discard: ChildProcess,
    private readonly discardPort: number,
    private readonly options: TrialOptions,
  ) {}

  static async start(venue: SeededVenue, options: TrialOptions): Promise<Trials> {
    const discard = forkScript(DISCARD, []);
    const discardPort = Number(await firstMessage(discard));
    const trials = new Trials(venue, forkScript(TRADER, []), discard, discardPort, options);
    await trials.warmUp();
    return trials;
  }

  /** The trader alone, as a figure to compare with. */
  async quiet(path: TraderPath): Promise<Measured> {
    const { measured } = await this.measure(path, () => sleep(this.options.milliseconds));
    return measured;
  }

  async run(attack: Attack): Promise<Row> {
    const { venue } = this;
    const attacker = await this.prepared(attack);
    try {
      const before = venue.figures;
      const logBefore = venue.logBytes;
      const attacked = await this.measure(attack.trader, () => tallyOf(attacker, "attack"));
      const cpuAfter = venue.isAlive ? venue.figures.cpuSeconds : Number.NaN;
      const busyAfterMs = await venue.settle(SETTLE_MS);
      const { isAlive } = venue;
      const after = isAlive ? venue.figures : before;
      const cost = {
        cpuSeconds: cpuAfter - before.cpuSeconds,
        logBytes: venue.logBytes - logBefore,
        busyAfterMs,
        residentGrowthBytes: after.residentBytes - before.residentBytes,
        filesLeftOpen: after.openFiles - before.openFiles,
        isAlive,
      };
      if (!isAlive || busyAfterMs >= SETTLE_MS) await this.restart();
      const discarded = await this.measure(attack.trader, () => tallyOf(attacker, "discard"));
      const runs = {
        attacked: runOf(attacked.result, attacked.measured),
        discarded: runOf(discarded.result, discarded.measured),
      };
      const { name, kind, trader, shows } = attack;
      const ratio = runs.attacked.medianMs / runs.discarded.medianMs;
      const faults = faultsOf(runs.attacked, runs.discarded, cost);
      return { attack: name, kind, trader, shows, ...runs, ratio, venue: cost, faults };
    } finally {
      await stop(attacker);
    }
  }

  async restart(): Promise<void> {
    await this.venue.restart();
    await this.warmUp();
  }

  async close(): Promise<void> {
    await Promise.all([stop(this.trader), stop(this.discard)]);
  }

  /** A process that has just started compiles its code, and its bots place their orders. */
  private async warmUp(): Promise<void> {
    await this.ask({ do: "sign-in", origin: this.venue.origin });
    for (let round = 1; round <= MOST_ROUNDS; round++) {
      const { measured } = await this.measure("rest", () => sleep(WARM_UP_MS));
      if (median(measured.latenciesMs) < WARM_MS) return;
    }
  }

  private async prepared(attack: Attack): Promise<ChildProcess> {
    const attacker = forkScript(ATTACKER, []);
    const { venue, discardPort, options } = this;
    const plan: AttackPlan = {
      attack: attack.name,
      venuePort: venue.port,
      discardPort,
      localAddress: this.takeAddress(),
      veterans: venue.veterans,
      ...options,
    };
    attacker.send(plan);
    await firstMessage(attacker);
    return attacker;
  }

  /** 127.0.0.2, 127.0.0.3, …: all are loopback. */
  private takeAddress(): string {
    const number = this.nextAddress++;
    return `127.0.${Math.floor(number / 250)}.${number % 250}`;
  }

  private async measure<T>(
    path: TraderPath,
    work: () => Promise<T>,
  ): Promise<{ readonly result: T; readonly measured: Measured }> {
    await this.ask({ do: "begin", path });
    await sleep(LEAD_MS);
    const result = await work();
    const measured = await this.ask({ do: "end" });
    if (!isMeasured(measured)) throw new Error(`the trader said ${JSON.stringify(measured)}`);
    return { result, measured };
  }

  private ask(request: TraderRequest): Promise<unknown> {
    const answer = firstMessage(this.trader);
    this.trader.send(request);
    return answer;
  }
}

async function tallyOf(attacker: ChildProcess, request: "attack" | "discard"): Promise<Tally> {
  const answer = firstMessage(attacker);
  attacker.send(request);
  const tally = await answer;
  if (!isTally(tally)) throw new Error(`the attacker said ${JSON.stringify(tally)}`);
  return tally;
}

function isTally(value: unknown): value is Tally {
  return typeof value === "object" && value !== null && "bytesSent" in value;
}

function isMeasured(value: unknown): value is Measured {
  return typeof value === "object" && value !== null && "latenciesMs" in value;
}
