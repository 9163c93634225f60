/** The take-profit and the stop-loss that an order is sent with, in the venue's integers. */

import type { Exit, OrderTerms } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { MarketUnits } from "../listing/listing.js";
import type { CommandOf } from "./execution.js";
import { wrongField } from "./order-extras.js";
import { ticksOf } from "./order-units.js";

type OrderExits = NonNullable<CommandOf<"PlaceOrder">["exits"]>;

/** The first version of the engine's rules with exits. */
const EXITS_FROM_VERSION = 3;

/** Undefined for an order without exits. */
export function exitsOf(
  body: OrderTerms,
  market: MarketUnits,
  version: number,
): OrderExits | undefined {
  const { takeProfit, stopLoss } = body;
  if (takeProfit === undefined && stopLoss === undefined) return undefined;
  const exit = takeProfit === undefined ? "stopLoss" : "takeProfit";
  if (body.type === "stop") throw wrongField(exit, `${exit} is for market and limit orders only`);
  if (body.reduceOnly === true) {
    throw wrongField(exit, `${exit} is for orders that open; this one is reduceOnly`);
  }
  if (version < EXITS_FROM_VERSION) {
    throw new ApiError("exits_not_supported", { exit, version }, { field: exit });
  }
  return {
    takeProfitTicks: priceOf(takeProfit, "takeProfit", market),
    takeProfitLimitTicks: limitOf(takeProfit, "takeProfit", market),
    stopLossTicks: priceOf(stopLoss, "stopLoss", market),
    stopLossLimitTicks: limitOf(stopLoss, "stopLoss", market),
  };
}

function priceOf(exit: Exit | undefined, name: string, market: MarketUnits): number {
  return exit === undefined ? 0 : ticksOf(exit.price, market, `${name}.price`);
}

function limitOf(exit: Exit | undefined, name: string, market: MarketUnits): number {
  const limitPrice = exit?.limitPrice ?? null;
  return limitPrice === null ? 0 : ticksOf(limitPrice, market, `${name}.limitPrice`);
}
