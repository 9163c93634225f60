/** Parsers of option values and arguments. `name` is how the caller knows the value: `--price`. */

import { clientIdWords, ORDER_ID_PATTERN, SYMBOL_PATTERN } from "@perpgate/protocol/core";
import type { OrderName } from "@perpgate/sdk";
import { UsageError } from "./start-error.js";

const SYMBOL = new RegExp(SYMBOL_PATTERN);
const ORDER_ID = new RegExp(ORDER_ID_PATTERN);
const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Lower case is accepted: `btcusd`. */
export function symbol(text: string): string {
  const upper = text.toUpperCase();
  if (!SYMBOL.test(upper)) throw new UsageError(`"${text}" is not a symbol, such as BTCUSD`);
  return upper;
}

/** Digits, or those of an exit, are an order's id; anything else that can be one is a client's. */
export function orderNamed(text: string): OrderName {
  if (ORDER_ID.test(text)) return text;
  if (clientIdWords(text) !== undefined) return { clientOrderId: text };
  throw new UsageError(`"${text}" is not an order id; perpgate orders lists them`);
}

/** A plain decimal above zero. A comma is rejected: in many countries 1,500 means 1.5. */
export function amount(name: string) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+(?:\.\d+)?$/.test(text) || !(value > 0) || !Number.isFinite(value)) {
      throw new UsageError(`${name}: "${text}" is not a plain number above 0, such as 1500 or 0.5`);
    }
    return value;
  };
}

/** The trigger price of an exit, and its limit price after a colon. */
export function exitPrices(name: string) {
  return (text: string): { readonly price: number; readonly limitPrice?: number } => {
    const [price = "", limitPrice, ...more] = text.split(":");
    if (more.length > 0) throw new UsageError(`${name}: "${text}" is not P or P:LIMIT`);
    const parse = amount(name);
    const trigger = { price: parse(price) };
    return limitPrice === undefined ? trigger : { ...trigger, limitPrice: parse(limitPrice) };
  };
}

/** Help of --witness and --require. */
export const WITNESS_HELP = "the verifier key of a witness; may be repeated";
export const REQUIRE_HELP = "how many of these witnesses must have cosigned (all)";

export function wholeNumber(name: string) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
      throw new UsageError(`${name}: "${text}" is not a whole number`);
    }
    return value;
  };
}

export function wholeNumberWithin(name: string, least: number, most: number) {
  return (text: string): number => {
    const value = wholeNumber(name)(text);
    if (value < least || value > most) {
      throw new UsageError(`${name} must be from ${least} to ${most}`);
    }
    return value;
  };
}

/** `90s`, `30m`, `8h`, `7d`, in milliseconds. */
export function durationOption(name: string) {
  return (text: string): number => {
    const [, digits = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
    const ms = Number(digits) * (UNITS_MS[unit] ?? 0);
    if (!(ms > 0)) {
      throw new UsageError(`${name}: "${text}" is not a duration, such as 90s, 30m, 8h or 7d`);
    }
    return ms;
  };
}

/** A day, a time with its zone, or Unix milliseconds: `2026-11-18`, `2026-11-18T09:30Z`. */
export function instant(name: string) {
  return (text: string): number => {
    const isDate = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;
    const value = isDate.test(text) ? Date.parse(text) : wholeNumber(name)(text);
    if (Number.isNaN(value)) throw new UsageError(`${name}: "${text}" is not a time`);
    return value;
  };
}

/** A position of the log, or a time as `instant` takes it with a date. */
export function logPlace(name: string) {
  return (text: string): { readonly position: number } | { readonly timeMs: number } =>
    text.includes("-") ? { timeMs: instant(name)(text) } : { position: wholeNumber(name)(text) };
}

/** A part of a whole: `50%` or `0.5`. */
export function part(name: string) {
  return (text: string): number => {
    const [, digits = "", percent = ""] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
    const value = Number(digits) / (percent === "" ? 1 : 100);
    if (!(value > 0 && value <= 1)) {
      throw new UsageError(`${name}: "${text}" is not a part, such as 50% or 0.5`);
    }
    return value;
  };
}

/** Any case is accepted. */
export function oneOf<T extends string>(name: string, allowed: readonly T[]) {
  return (text: string): T => {
    const found = allowed.find((value) => value.toLowerCase() === text.toLowerCase());
    if (found === undefined) throw new UsageError(`${name} must be one of ${allowed.join(", ")}`);
    return found;
  };
}

/** For an option that may be given several times. */
export function repeated(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}
