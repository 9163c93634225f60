/**
 * A seeded world: one disk, one clock, traders, an operator, and a venue whose process is restarted
 * many times. Everything is determined by the seed, so a failure can be repeated.
 *
 * A life is one run of the process: a fault is planned; the venue recovers; clients reconnect and
 * resend unanswered commands; then bursts of commands, ticks, a checkpoint, sometimes a prune, until
 * the fault or the end of the life. Then the power fails or the process is killed, and the next life
 * starts.
 */

import { Engine } from "@perpgate/engine";
import { type FileJournal, JournalStopped, LOG_START } from "@perpgate/journal";
import { FakeDisk, SimulatedCrash } from "@perpgate/journal/testing";
import { Random } from "@perpgate/protocol/random";
import { Replica } from "@perpgate/venue";
import { Auditor } from "./auditor/auditor.js";
import { batchesUpTo } from "./auditor/durable-log.js";
import { type DamageOutcome, examineDamage } from "./damage.js";
import { drawMisfortune, type Misfortune, prepareDisk, prepareLastWrite } from "./faults.js";
import { START_MS } from "./listing.js";
import type { SimulatedGateway } from "./traders/gateway.js";
import { Operator } from "./traders/operator.js";
import { Trader } from "./traders/trader.js";
import { DIRECTORY, type ProcessOptions, VenueProcess } from "./venue-process.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * The clock of a simulated machine, in milliseconds. It mostly advances in small steps; sometimes it
 * is set back, does not change, or jumps ahead.
 */
class SimulatedClock {
  private timeMs: number;

  constructor(
    private readonly random: Random,
    startMs: number,
  ) {
    this.timeMs = startMs;
  }

  get nowMs(): number {
    return this.timeMs;
  }

  /** One step, mostly forward. */
  step(): void {
    const random = this.random;
    if (random.chance(0.03)) this.timeMs -= 1 + random.below(random.pick([300, 5_000, HOUR_MS]));
    else if (random.chance(0.02))
      this.timeMs += random.below(random.pick([MINUTE_MS, 3 * HOUR_MS]));
    else this.timeMs += random.below(300);
  }
}

/** Throws the errors of the disk; the log is not affected. */
function takeCheckpoint(
  disk: FakeDisk,
  directory: string,
  journal: FileJournal,
  random: Random,
): void {
  const { snapshot } = journal.snapshots.newest();
  const from = snapshot?.seq ?? LOG_START;
  const behind = random.below(journal.end.batch - from.batch + 1);
  const batches = batchesUpTo(disk, directory, from, journal.end.batch - behind);
  const last = batches.at(-1);
  if (last === undefined) return;
  const follower = new Replica(
    snapshot === undefined ? new Engine() : Engine.restore(snapshot.body),
  );
  for (const batch of batches) follower.applyBatch(batch);
  journal.snapshots.write(last.end, [follower.engine.snapshot()]);
}

export interface WorldOptions extends ProcessOptions {
  readonly traders: number;
  /** Seed of the disk, so that one sequence of commands can be run with many power cuts. */
  readonly diskSeed: number;
  /** Whether checkpoints are taken and the log is pruned to them. */
  readonly checkpoints: boolean;
}

/** Orders that a client sends again in one turn, and actions of a turn: a batch fits a segment. */
const RESENT_PER_TURN = 6;
const MOST_ACTIONS = 5;
/** Bursts of one life, at most. */
const MOST_BURSTS = 9;

export class World {
  readonly disk: FakeDisk;
  readonly auditor: Auditor;
  readonly options: WorldOptions;
  private readonly random: Random;
  private readonly clock: SimulatedClock;
  private readonly operator: Operator;
  private readonly traders: Trader[];

  constructor(seed: number, options: Partial<WorldOptions> = {}) {
    const random = new Random(seed);
    this.random = random;
    this.options = {
      segmentBytes: random.pick([4096, 8192, 16_384]),
      traders: 2 + random.below(4),
      diskSeed: seed,
      checkpoints: random.chance(0.6),
      ...options,
    };
    this.disk = new FakeDisk(this.options.diskSeed);
    this.auditor = new Auditor(this.disk, DIRECTORY);
    this.clock = new SimulatedClock(random, START_MS);
    this.operator = new Operator(random);
    this.traders = Array.from({ length: this.options.traders }, () => new Trader(random));
  }

  /** Some lives with faults drawn from the seed, and a final one in which everything must add up. */
  async run(lives: number): Promise<void> {
    const random = this.random;
    for (let life = 0; life < lives; life++) {
      const misfortune = drawMisfortune(random, this.options.segmentBytes);
      await this.live(misfortune, random.below(MOST_BURSTS));
      this.restart(random.pick(["kill", "power_cut"]));
    }
    await this.finish();
    if (random.chance(0.25)) await this.rot();
  }

  /** One life with `bursts` bursts. Returns whether the venue was still up at its end. */
  async live(misfortune: Misfortune, bursts: number): Promise<boolean> {
    prepareDisk(this.disk, misfortune);
    const venue = await this.open();
    if (venue === undefined || !(await this.reconnect(venue))) return false;
    for (let burst = 0; burst < bursts; burst++) {
      if (burst === bursts - 1) prepareLastWrite(this.disk, misfortune);
      if (!(await this.burst(venue))) return false;
    }
    this.auditor.checkEngine(venue.engine);
    return true;
  }

  /** Ends the process. */
  restart(after: "kill" | "power_cut"): void {
    this.disk.restart(after);
    this.disk.capacityBytes = Number.POSITIVE_INFINITY;
    this.auditor.processEnded();
  }

  /**
   * A life without a fault: every client gets its answers, and resends its executed orders. Then the
   * power fails once more, and nothing may be lost.
   */
  async finish(): Promise<void> {
    const venue = await VenueProcess.start(this.disk, this.auditor, this.options);
    await this.reconnect(venue);
    for (const trader of this.traders) {
      let more = true;
      for (let from = 0; more; from += RESENT_PER_TURN) {
        await venue.burst((gateway) => {
          more = trader.repeat(gateway, this.clock.nowMs, from, RESENT_PER_TURN);
        });
      }
    }
    this.auditor.settled();
    if (this.random.chance(0.5)) await venue.close();
    this.restart("power_cut");
    await VenueProcess.start(this.disk, this.auditor, this.options);
    this.restart("kill");
  }

  /** Flips one bit of a copy of the disk, between two lives. */
  rot(): Promise<DamageOutcome> {
    const random = this.random;
    const paths = this.disk.paths();
    const path = paths[random.below(paths.length)] ?? "";
    const offset = random.below(this.disk.contents(path).length);
    return examineDamage(this.disk, DIRECTORY, this.auditor, {
      path,
      offset,
      bit: random.below(8),
    });
  }

  /** Undefined if the fault occurred while opening. */
  private async open(): Promise<VenueProcess | undefined> {
    try {
      return await VenueProcess.start(this.disk, this.auditor, this.options);
    } catch (error) {
      if (isOfTheDisk(error)) return undefined;
      throw error;
    }
  }

  private async reconnect(venue: VenueProcess): Promise<boolean> {
    const random = this.random;
    if (random.chance(0.1)) await venue.repeatLastBatch();
    let up = await this.checked(venue, venue.begin(this.clock.nowMs));
    if (up) {
      up = await this.hand(venue, (gateway) => {
        this.operator.start(gateway, this.clock.nowMs);
      });
    }
    for (const trader of this.traders) {
      let more = true;
      while (up && more) {
        up = await this.hand(venue, (gateway) => {
          more = trader.resend(gateway, this.clock.nowMs, RESENT_PER_TURN);
        });
      }
    }
    return up;
  }

  private async burst(venue: VenueProcess): Promise<boolean> {
    const random = this.random;
    this.clock.step();
    const up = await this.hand(venue, (gateway) => {
      const { nowMs } = this.clock;
      if (random.chance(0.7)) this.operator.act(gateway, nowMs);
      const actions = 1 + random.below(MOST_ACTIONS);
      for (let action = 0; action < actions; action++) {
        this.traders[random.below(this.traders.length)]?.act(gateway, nowMs);
      }
    });
    if (up && this.options.checkpoints && random.chance(0.12)) this.checkpoint(venue);
    return up;
  }

  private hand(venue: VenueProcess, handIn: (gateway: SimulatedGateway) => void): Promise<boolean> {
    return this.checked(venue, venue.burst(handIn));
  }

  /** A venue may stop only because of its disk. */
  private async checked(venue: VenueProcess, turn: Promise<boolean>): Promise<boolean> {
    const up = await turn;
    const { failure } = venue;
    const expected = failure instanceof JournalStopped && isOfTheDisk(failure.cause);
    if (failure !== undefined && !expected) throw failure;
    return up;
  }

  private checkpoint(venue: VenueProcess): void {
    const { journal } = venue;
    try {
      takeCheckpoint(this.disk, DIRECTORY, journal, this.random);
      const at = journal.snapshots.newest().snapshot?.seq;
      if (at !== undefined && this.random.chance(0.4)) journal.prune(at);
      if (this.random.chance(0.2)) journal.snapshots.keepNewest(1);
    } catch (error) {
      if (!isOfTheDisk(error)) throw error;
    }
  }
}

function isOfTheDisk(error: unknown): boolean {
  if (error instanceof SimulatedCrash) return true;
  return error instanceof Error && "code" in error && ["EIO", "ENOSPC"].includes(`${error.code}`);
}
