/**
 * A market's book as its readers have it: a chain of frames, each delta's `prev` being the `seq` of the
 * frame before. A new reader gets the snapshot of the last published state, not of the present, so that
 * the next delta applies to it: nothing is missed or repeated.
 */

import { PublishedSide } from "@perpgate/link";
import type { BookSide, BookSideData, Level } from "@perpgate/protocol";
import { BookChecksum, encodeSide, fromSteps } from "@perpgate/protocol/core";
import { streamFrame, type WireFrame } from "../wire-frame.js";
import type { BookUnits, EdgeBookLevels } from "./book-copy.js";

class BookFrames {
  private packed: WireFrame | undefined;
  private plain: WireFrame | undefined;

  /** Encodes each format once, when first read. */
  constructor(private readonly encode: (isPlain: boolean) => WireFrame) {}

  of(isPlain: boolean): WireFrame {
    if (isPlain) {
      this.plain ??= this.encode(true);
      return this.plain;
    }
    this.packed ??= this.encode(false);
    return this.packed;
  }
}

export interface BookDelta {
  readonly prev: number;
  readonly seq: number;
  readonly frames: BookFrames;
}

export class PublishedBook {
  /** Log seq of the last frame. */
  seq: number;
  private readonly checksum = new BookChecksum();
  private readonly bids = new PublishedSide("bid", this.checksum);
  private readonly asks = new PublishedSide("ask", this.checksum);
  private readonly units: BookUnits;
  private block: number;
  private time: number;
  private snapshotFrames: BookFrames | undefined;

  constructor(now: EdgeBookLevels) {
    this.units = now.units;
    this.seq = now.seq;
    this.block = now.block;
    this.time = now.timeMs;
    this.bids.update(now.bids);
    this.asks.update(now.asks);
  }

  get sum(): number {
    return this.checksum.value;
  }

  /** Moves to the present state; undefined if no level differs. */
  advance(now: EdgeBookLevels): BookDelta | undefined {
    const bids = this.bids.update(now.bids);
    const asks = this.asks.update(now.asks);
    if (bids.length === 0 && asks.length === 0) return undefined;
    const prev = this.seq;
    this.seq = now.seq;
    this.block = now.block;
    this.time = now.timeMs;
    this.snapshotFrames = undefined;
    const { seq, time, sum, units } = this;
    const frames = new BookFrames((isPlain) =>
      streamFrame(
        "book",
        {
          type: "delta",
          seq,
          prev,
          time,
          bids: sideData(bids, "bid", units, isPlain),
          asks: sideData(asks, "ask", units, isPlain),
          sum,
        },
        units.symbol,
      ),
    );
    return { prev, seq, frames };
  }

  /** Encoded once, for all readers until the next delta. */
  snapshot(isPlain: boolean): WireFrame {
    this.snapshotFrames ??= new BookFrames((plain) => this.encodeSnapshot(plain));
    return this.snapshotFrames.of(isPlain);
  }

  private encodeSnapshot(isPlain: boolean): WireFrame {
    const { seq, block, time, units, sum } = this;
    return streamFrame(
      "book",
      {
        type: "snapshot",
        seq,
        block,
        time,
        tick: units.tickSize,
        lot: units.lotSize,
        bids: sideData(this.bids.levels(), "bid", units, isPlain),
        asks: sideData(this.asks.levels(), "ask", units, isPlain),
        sum,
      },
      units.symbol,
    );
  }
}

function sideData(
  levels: readonly Level[],
  side: BookSide,
  { tick, lot }: BookUnits,
  isPlain: boolean,
): BookSideData {
  if (!isPlain) return encodeSide(levels, side);
  return levels.map(([ticks, lots]) => [fromSteps(ticks, tick), fromSteps(lots, lot)]);
}
