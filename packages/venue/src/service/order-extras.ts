/** The terms that plain orders do not have, checked against each other and in the venue's integers. */

import type { OrderTerms } from "@perpgate/protocol";
import { ApiError, SELF_TRADES, TIMES_IN_FORCE, TRIGGERS } from "@perpgate/protocol/core";
import type { MarketUnits } from "../listing/listing.js";
import type { CommandOf } from "./execution.js";
import { lotsOf, ticksOf } from "./order-units.js";

type OrderExtras = NonNullable<CommandOf<"PlaceOrder">["extras"]>;

/** The engine's codes, in the order of the contract's words. */
const CODES = [0, 1, 2] as const;

export function isExtended(body: OrderTerms): boolean {
  return (
    body.size !== undefined ||
    body.timeInForce !== undefined ||
    body.expiresAt !== undefined ||
    body.clientOrderId !== undefined ||
    body.trigger !== undefined ||
    (body.limitPrice ?? null) !== null ||
    body.closePosition !== undefined ||
    body.selfTrade !== undefined
  );
}

export function extrasOf(body: OrderTerms, market: MarketUnits, validUntilMs: number): OrderExtras {
  const { size, expiresAt = 0, clientOrderId = "", closePosition = false } = body;
  const { trigger = "stop", selfTrade = "cancelResting" } = body;
  const limitPrice = body.limitPrice ?? null;
  checkStopTerms(body);
  const timeInForce = timeInForceOf(body);
  checkTimes(body, timeInForce);
  return {
    sizeLots: size === undefined ? 0 : lotsOf(size, market),
    timeInForce: CODES[TIMES_IN_FORCE.indexOf(timeInForce)] ?? 0,
    expiresAtMs: expiresAt,
    clientOrderId,
    trigger: TRIGGERS.indexOf(trigger) === 1 ? 1 : 0,
    limitTicks: limitPrice === null ? 0 : ticksOf(limitPrice, market, "limitPrice"),
    closePosition,
    selfTrade: CODES[SELF_TRADES.indexOf(selfTrade)] ?? 0,
    validUntilMs,
  };
}

function checkStopTerms(body: OrderTerms): void {
  const { type, closePosition } = body;
  if (type !== "stop") {
    if (body.trigger !== undefined) throw wrongField("trigger", "trigger is for stop orders only");
    if ((body.limitPrice ?? null) !== null) {
      throw wrongField("limitPrice", "limitPrice is for stop orders only; a limit order has price");
    }
    if (closePosition === true) {
      throw wrongField("closePosition", "closePosition is for stop orders only");
    }
    return;
  }
  if (closePosition !== true) return;
  for (const field of ["size", "limitPrice", "timeInForce"] as const) {
    if ((body[field] ?? null) !== null) {
      throw wrongField(field, `${field} cannot be combined with closePosition`);
    }
  }
}

function timeInForceOf(body: OrderTerms): (typeof TIMES_IN_FORCE)[number] {
  const { type, timeInForce, size } = body;
  const isStopLimit = type === "stop" && (body.limitPrice ?? null) !== null;
  if (timeInForce === undefined) return type === "limit" || isStopLimit ? "gtc" : "ioc";
  if (type === "market" && timeInForce === "gtc") {
    throw wrongField("timeInForce", "a market order is ioc or fok; it cannot rest");
  }
  if (type === "market" && timeInForce === "fok" && size === undefined) {
    throw wrongField("size", "a market order with fok needs a size");
  }
  if (type === "stop" && timeInForce === "gtc" && !isStopLimit) {
    throw wrongField("timeInForce", "a stop without limitPrice is ioc; gtc needs a limitPrice");
  }
  if (type === "stop" && timeInForce === "fok") {
    throw wrongField("timeInForce", "a stop order cannot be fok");
  }
  return timeInForce;
}

function checkTimes(body: OrderTerms, timeInForce: string): void {
  const { expiresAt, postOnly = false, closePosition = false } = body;
  if (postOnly && timeInForce !== "gtc") {
    throw wrongField("postOnly", "postOnly needs timeInForce gtc: it never takes");
  }
  if (expiresAt !== undefined && timeInForce !== "gtc" && !closePosition) {
    throw wrongField("expiresAt", "expiresAt needs an order that can rest: timeInForce gtc");
  }
}

export function wrongField(field: string, problem: string): ApiError {
  return new ApiError("invalid_request", { problem }, { field });
}
