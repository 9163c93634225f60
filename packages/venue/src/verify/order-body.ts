/**
 * Compares an order's signed body with the command in the same log record: both must mean the same
 * order. The body is parsed as the protocol does, with strict JSON and its units.
 */
import { LONG, type OrderType, type PlaceOrder } from "@perpgate/engine";
import { LOCAL_BOUNDS, parseStrictJson, toMicrosFloor, toSteps } from "@perpgate/protocol/core";
import type { Listing } from "../listing/listing.js";

const FIELDS: ReadonlySet<string> = new Set([
  "symbol",
  "side",
  "type",
  "margin",
  "leverage",
  "price",
  "reduceOnly",
  "postOnly",
  "nonce",
]);
const TYPES: Readonly<Record<string, OrderType>> = { market: 0, limit: 1, stop: 2 };

/** The first difference, or null. */
export function bodyFault(body: Uint8Array, order: PlaceOrder, listing: Listing): string | null {
  let fields: Map<string, unknown>;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    const value = parseStrictJson(text, LOCAL_BOUNDS);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return "the signed body is not an object";
    }
    fields = new Map(Object.entries(value));
  } catch (error) {
    return `the signed body cannot be read: ${error instanceof Error ? error.message : error}`;
  }
  for (const name of fields.keys()) if (!FIELDS.has(name)) return `the signed body has "${name}"`;
  const units = listing.markets[order.market];
  if (units === undefined) return `market ${order.market} is not listed`;
  const price = fields.get("price") ?? null;
  try {
    const said: readonly (readonly [string, unknown, unknown])[] = [
      ["symbol", fields.get("symbol"), units.symbol],
      ["side", fields.get("side"), order.side === LONG ? "long" : "short"],
      ["type", TYPES[String(fields.get("type"))], order.type],
      ["margin", micros(fields.get("margin")), order.marginMicros],
      ["leverage", fields.get("leverage"), order.leverage],
      [
        "price",
        typeof price === "number" ? toSteps(price, units.tick) : price,
        order.priceTicks || null,
      ],
      ["reduceOnly", fields.get("reduceOnly") ?? false, order.reduceOnly],
      ["postOnly", fields.get("postOnly") ?? false, order.postOnly],
      ["nonce", fields.get("nonce"), order.nonce],
    ];
    for (const [name, signed, logged] of said) {
      if (signed !== logged) return `${name}: signed ${signed}, logged ${logged}`;
    }
  } catch (error) {
    return `the signed body is out of units: ${error instanceof Error ? error.message : error}`;
  }
  return null;
}

function micros(value: unknown): number | undefined {
  return typeof value === "number" ? toMicrosFloor(value) : undefined;
}
