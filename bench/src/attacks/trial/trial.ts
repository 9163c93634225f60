/**
 * One row of the table: the attack against the venue, then the same bytes at the same times against a
 * server that discards them, both times with the honest trader on the same venue.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Child } from "../../harness/child.js";
import { withPeer } from "../../harness/gateway.js";
import type { Attack, TraderPath } from "../attack.js";
import type { Attacker, AttackPlan } from "./attacker.js";
import type { SeededVenue } from "./seeded-venue.js";
import type { TraderHandlers } from "./trader.js";
import { faultsOf, type Measured, type VerdictRow } from "./verdict.js";

/** The trader's connections are open and warm before an attack begins. */
const LEAD_MS = 300;
/** A venue that is still busy after this time is started again. */
const SETTLE_MS = 4_000;
/** A venue is warm once the median of a round is below this, at the latest after these rounds. */
const WARM_MS = 10;
const WARM_UP_MS = 1_500;
const MAX_ROUNDS = 6;

interface TrialOptions {
  readonly milliseconds: number;
  readonly maxBytes: number;
}

export class Trials {
  /** Each attack has its own client address, so that no limit of one row reaches another. */
  private nextAddress = 2;

  private constructor(
    private readonly venue: SeededVenue,
    private readonly trader: Child<TraderHandlers>,
    private readonly discardPort: number,
    private readonly options: TrialOptions,
  ) {}

  static async run<T>(
    venue: SeededVenue,
    options: TrialOptions,
    run: (trials: Trials) => Promise<T>,
  ): Promise<T> {
    const trader = Child.start<TraderHandlers>(new URL("./trader.js", import.meta.url));
    try {
      return await withPeer(["discard"], async (discardPort) => {
        const trials = new Trials(venue, trader, discardPort, options);
        await trials.warmUp();
        return run(trials);
      });
    } finally {
      await trader.stop();
    }
  }

  /** The trader alone. */
  quiet(path: TraderPath): Promise<Measured> {
    return this.measure(path, () => sleep(this.options.milliseconds));
  }

  async attack(attack: Attack): Promise<VerdictRow> {
    const { venue } = this;
    const attacker = Child.start<Attacker>(new URL("./attacker.js", import.meta.url));
    try {
      await attacker.call("prepare", this.planOf(attack));
      const before = venue.gateway.figures;
      const logBefore = venue.logBytes;
      const attacked = await this.measure(attack.trader, async () => ({
        tally: await attacker.call("attack"),
      }));
      const { isAlive } = venue.gateway;
      const cpuAfter = isAlive ? venue.gateway.figures.cpuSeconds : Number.NaN;
      const busyAfterMs = await venue.settle(SETTLE_MS);
      const after = venue.gateway.isAlive ? venue.gateway.figures : before;
      const cost = {
        cpuSeconds: cpuAfter - before.cpuSeconds,
        logBytes: venue.logBytes - logBefore,
        busyAfterMs,
        residentGrowthBytes: after.residentBytes - before.residentBytes,
        filesLeftOpen: after.openFiles - before.openFiles,
        isAlive: venue.gateway.isAlive,
      };
      if (!cost.isAlive || busyAfterMs >= SETTLE_MS) {
        await venue.restart();
        await this.warmUp();
      }
      const discarded = await this.measure(attack.trader, async () => ({
        tally: await attacker.call("discard", this.discardPort),
      }));
      const { name, kind, trader, shows } = attack;
      const ratio = attacked.medianMs / discarded.medianMs;
      const faults = faultsOf(attacked, discarded, cost);
      return { attack: name, kind, trader, shows, attacked, discarded, ratio, venue: cost, faults };
    } finally {
      await attacker.stop();
    }
  }

  /** A new process compiles its code, and its bots place their orders. */
  private async warmUp(): Promise<void> {
    await this.trader.call("signIn", this.venue.port);
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const { medianMs } = await this.measure("rest", () => sleep(WARM_UP_MS));
      if (medianMs < WARM_MS) return;
    }
  }

  private planOf({ name }: Attack): AttackPlan {
    const number = this.nextAddress++;
    const localAddress = `127.0.${Math.floor(number / 250)}.${number % 250}`;
    const { port, veterans } = this.venue;
    return { attack: name, port, localAddress, veterans, ...this.options };
  }

  /** What the trader measures while `work` runs, and what `work` returns. */
  private async measure<T>(path: TraderPath, work: () => Promise<T>): Promise<Measured & T> {
    await this.trader.call("begin", path);
    await sleep(LEAD_MS);
    const result = await work();
    return { ...(await this.trader.call("end")), ...result };
  }
}
