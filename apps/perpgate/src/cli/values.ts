/** Words of a call into values; what is not of its kind is refused under the name it was given by. */

import { SYMBOL_PATTERN } from "@perpgate/protocol/symbol";
import type { Arguments } from "./command.js";

const SYMBOL = new RegExp(SYMBOL_PATTERN);
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `btcusd` is what people type. */
export function symbolOf(args: Arguments, text: string): string {
  const symbol = text.toUpperCase();
  if (!SYMBOL.test(symbol)) throw args.fail(`"${text}" is no symbol, such as BTCUSD`);
  return symbol;
}

/**
 * A plain decimal above zero. A comma is refused and not guessed at: half the world reads 1,500 as
 * one and a half.
 */
export function amountOf(args: Arguments, name: string, text: string): number {
  const value = Number(text);
  if (!/^\d+(?:\.\d+)?$/.test(text) || !(value > 0) || !Number.isFinite(value)) {
    throw args.fail(`${name}: "${text}" is not a plain number above 0, such as 1500 or 0.5`);
  }
  return value;
}

export function wholeOf(args: Arguments, name: string, text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw args.fail(`${name}: "${text}" is not a whole number`);
  }
  return value;
}

export function optionalAmount(args: Arguments, option: string): number | undefined {
  const text = args.text(option);
  return text === undefined ? undefined : amountOf(args, `--${option}`, text);
}

export function optionalWhole(args: Arguments, option: string): number | undefined {
  const text = args.text(option);
  return text === undefined ? undefined : wholeOf(args, `--${option}`, text);
}

/** `90s`, `30m`, `8h`. */
export function optionalDurationMs(args: Arguments, option: string): number | undefined {
  const text = args.text(option);
  if (text === undefined) return undefined;
  const [, digits = "", unit = ""] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const ms = Number(digits) * (UNITS_MS[unit] ?? 0);
  if (!(ms > 0)) throw args.fail(`--${option}: "${text}" is no duration, such as 90s, 30m or 8h`);
  return ms;
}
