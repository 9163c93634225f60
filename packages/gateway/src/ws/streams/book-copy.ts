/**
 * The edge's copy of a market's book, from the core's notices: what it publishes to its sockets, and
 * what a new reader gets, without asking the core.
 */

import type { Levels, NoticeBodies } from "@perpgate/link";
import type { Level } from "@perpgate/protocol";
import { type Step, stepOf } from "@perpgate/protocol/core";

export interface BookUnits {
  readonly symbol: string;
  readonly tickSize: number;
  readonly lotSize: number;
  readonly tick: Step;
  readonly lot: Step;
}

export interface EdgeBookLevels {
  readonly units: BookUnits;
  /** Seq of the last command in the levels. */
  readonly seq: number;
  readonly block: number;
  readonly timeMs: number;
  readonly bids: Levels;
  readonly asks: Levels;
  /** The checksum of the levels, as their source has it. */
  readonly sum?: number;
}

type Snapshot = NoticeBodies["bookSnapshot"];
type Delta = NoticeBodies["bookDelta"];

export class BookCopy implements EdgeBookLevels {
  readonly units: BookUnits;
  readonly bids = new CopiedSide(-1);
  readonly asks = new CopiedSide(1);
  seq = 0;
  block = 0;
  timeMs = 0;
  sum = 0;

  constructor(snapshot: Snapshot) {
    const { symbol, tick, lot } = snapshot;
    this.units = { symbol, tickSize: tick, lotSize: lot, tick: stepOf(tick), lot: stepOf(lot) };
    this.apply(snapshot);
  }

  apply({ seq, block, time, bids, asks, sum }: Snapshot | Delta): void {
    this.seq = seq;
    this.block = block;
    this.timeMs = time;
    this.sum = sum;
    this.bids.apply(bids);
    this.asks.apply(asks);
  }
}

class CopiedSide implements Levels {
  private levels: readonly Level[] = [];

  /** `outward`: whether ticks fall (-1) or rise (1) away from the best price. */
  constructor(private readonly outward: 1 | -1) {}

  get count(): number {
    return this.levels.length;
  }

  ticksAt(index: number): number {
    return this.levels[index]![0];
  }

  lotsAt(index: number): number {
    return this.levels[index]![1];
  }

  /** Merges levels that have changed, best first; those of 0 lots are removed. */
  apply(changes: readonly Level[]): void {
    if (changes.length === 0) return;
    const { levels, outward } = this;
    const merged: Level[] = [];
    let at = 0;
    for (const change of changes) {
      const [tick, lots] = change;
      while (at < levels.length && (tick - levels[at]![0]) * outward > 0)
        merged.push(levels[at++]!);
      if (at < levels.length && levels[at]![0] === tick) at++;
      if (lots > 0) merged.push(change);
    }
    while (at < levels.length) merged.push(levels[at++]!);
    this.levels = merged;
  }
}
