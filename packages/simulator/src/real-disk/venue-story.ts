/**
 * A venue on a real disk, opened, traded on and closed several times, with a copy of its data
 * folder kept from the end of each life. The store of its history maps files into memory and so
 * cannot be on a simulated disk; instead its copies are combined with logs of other times.
 */

import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "@perpgate/protocol/random";
import { type Submitter, Venue, type VenueLogger, type VenueOptions } from "@perpgate/venue";
import { SimulatedClock } from "../clock.js";
import { LISTED, LISTING, START_MS } from "../listing.js";
import type { Gateway } from "../traders/gateway.js";
import { Operator } from "../traders/operator.js";
import { Trader } from "../traders/trader.js";

export const TRADERS = 4;
const BURSTS = 12;
const ACTIONS = 6;

export class VenueStory {
  private readonly random: Random;
  private readonly clock: SimulatedClock;
  private readonly operator: Operator;
  private readonly traders: Trader[];
  private lives = 0;

  private constructor(
    seed: number,
    readonly folder: string,
  ) {
    const random = new Random(seed);
    this.random = random;
    this.clock = new SimulatedClock(random, START_MS);
    this.operator = new Operator(random);
    this.traders = Array.from({ length: TRADERS }, () => new Trader(random));
  }

  static async begin(seed: number): Promise<VenueStory> {
    return new VenueStory(seed, await mkdtemp(join(tmpdir(), "perpgate-simulator-")));
  }

  /** One life; returns the path of a copy of its data folder. */
  async live(): Promise<string> {
    const directory = join(this.folder, "data");
    const snapshot = new SnapshotTaken();
    const venue = await openVenue(directory, {
      clock: () => this.clock.nowMs,
      checkpoints: { everyCommands: 20, everyMs: 1e9, keep: 3 },
      logger: snapshot,
    });
    const gateway = gatewayOf(venue);
    this.operator.start(gateway, this.clock.nowMs);
    for (let burst = 0; burst < BURSTS; burst++) {
      this.clock.step();
      this.operator.act(gateway, this.clock.nowMs);
      for (let action = 0; action < ACTIONS; action++) {
        this.traders[this.random.below(TRADERS)]?.act(gateway, this.clock.nowMs);
      }
      await allAnswered(venue);
    }
    await snapshot.taken;
    await venue.close();
    this.lives += 1;
    const kept = join(this.folder, `life-${this.lives}`);
    await cp(directory, kept, { recursive: true });
    return kept;
  }

  /** A new data folder with the log of one and the history of another, or without any. */
  async compose(log: string, history: string | undefined): Promise<string> {
    const folder = await mkdtemp(join(this.folder, "composed-"));
    await cp(join(log, "journal"), join(folder, "journal"), { recursive: true });
    if (history !== undefined) {
      await cp(join(history, "history"), join(folder, "history"), { recursive: true });
    }
    return folder;
  }

  end(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

/** Resolves at the first snapshot of a life, which the checkpoint thread takes asynchronously. */
class SnapshotTaken implements VenueLogger {
  readonly taken: Promise<void>;
  private resolve: () => void = () => undefined;

  constructor() {
    this.taken = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  info(_fields: object, message: string): void {
    if (message === "snapshot taken") this.resolve();
  }

  warn(): void {}

  error(): void {}
}

/** A venue without its own ticks. */
export function openVenue(directory: string, more: Partial<VenueOptions> = {}): Promise<Venue> {
  return Venue.open({
    directory,
    config: LISTING,
    listing: LISTED,
    cohort: "open",
    clock: () => START_MS,
    monotonic: () => 0,
    ticks: false,
    checkpoints: null,
    segmentBytes: 1 << 20,
    ...more,
  });
}

function gatewayOf(venue: Venue): Gateway {
  return {
    submit: (command, evidence, hear) => {
      const submitter: Submitter = (applied) =>
        hear(applied === null ? null : applied.events.decode());
      venue.submit(command, evidence, submitter);
    },
  };
}

/** Everything is answered in log order, so one more command answered is all answered. */
async function allAnswered(venue: Venue): Promise<void> {
  const nothing = new Uint8Array(0);
  const evidence = { signed: nothing, signature: nothing, publicKey: nothing };
  await venue.submitted({ kind: "Tick", slot: 0 }, evidence, () => undefined);
}
