/**
 * What the packing stands beside: the same book as frames of other kinds, and the size it would have
 * in two simpler packings, computed and not built.
 */
import { deflateRawSync } from "node:zlib";
import type { Level } from "@perpgate/protocol";
import { encodeFrame } from "@perpgate/protocol/stream-frame";
import { fromSteps, stepOf } from "@perpgate/protocol/units";

/** All books are shown in BTCUSD's units: prices and sizes have about as many digits in others. */
export const TICK = 0.1;
export const LOT = 0.00001;
const tick = stepOf(TICK);
const lot = stepOf(LOT);

export function plainSide(levels: readonly Level[]): number[][] {
  return levels.map(([ticks, lots]) => [fromSteps(ticks, tick), fromSteps(lots, lot)]);
}

export function messagePackBytes(payload: unknown): number {
  return encodeFrame({ t: "book", s: "BTCUSD", d: payload }).length;
}

export function jsonOf(payload: unknown): string {
  return JSON.stringify({ t: "book", s: "BTCUSD", d: payload });
}

/** As permessage-deflate would: raw, the default level, no window shared between messages. */
export function deflated(text: string): Uint8Array {
  return deflateRawSync(text);
}

/** Pairs of gap and lots, seven bits a byte. */
export function leb128Bytes(levels: readonly Level[]): number {
  return columnsOf(levels).reduce(
    (bytes, column) => bytes + column.reduce((sum, value) => sum + leb128Length(value), 0),
    0,
  );
}

/** Two columns of Exp-Golomb codes, each with the one parameter that suits it best. */
export function expGolombBytes(levels: readonly Level[]): number {
  const bits = columnsOf(levels).reduce((total, column) => total + bestExpGolombBits(column), 0);
  return Math.ceil(bits / 8) + 2;
}

function columnsOf(levels: readonly Level[]): [gaps: number[], lots: number[]] {
  const gaps = levels.map(([at], i) => (i === 0 ? at : Math.abs(at - levels[i - 1]![0]) - 1));
  return [gaps, levels.map(([, lots]) => lots)];
}

function leb128Length(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

function bestExpGolombBits(column: readonly number[]): number {
  let best = Number.POSITIVE_INFINITY;
  for (let k = 0; k < 40; k++) {
    const bits = column.reduce(
      (sum, value) => sum + k + 1 + 2 * Math.floor(Math.log2(value / 2 ** k + 1)),
      0,
    );
    best = Math.min(best, bits);
  }
  return best;
}
