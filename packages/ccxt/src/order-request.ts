/** CCXT's arguments of an order as the venue's fields. */

import type { Exit, NewOperation, NewOrder, TimeInForce, Trigger } from "@perpgate/sdk";
import { type Dict, errors } from "ccxt";
import { given, venueSide } from "./values.js";

interface OrderArguments {
  /** The venue's symbol. */
  readonly symbol: string;
  readonly type: string;
  readonly side: string;
  readonly amount: number | undefined;
  readonly price: number | undefined;
  readonly leverage: number;
  readonly params: Dict;
}

/** Read below; every other parameter is one of the venue's own fields. */
const READ = [
  "leverage",
  "marginMode",
  "hedged",
  "timeInForce",
  "postOnly",
  "triggerPrice",
  "stopPrice",
  "triggerDirection",
  "triggerPriceType",
  "stopLossPrice",
  "takeProfitPrice",
  "stopLoss",
  "takeProfit",
];

/** Fields of the venue that the arguments of a call or the parameters above set. */
const ARGUMENTS = ["symbol", "side", "type", "size", "price", "trigger", "limitPrice"];

/** @throws BadRequest, NotSupported or ArgumentsRequired for what the venue cannot do. */
export function newOrderOf(
  { symbol, type, side, amount, price, leverage, params }: OrderArguments,
  trigger: Trigger | undefined,
): NewOrder {
  refuseUnsupported(type, params);
  const isLimit = type === "limit";
  if (isLimit && price === undefined) {
    throw new errors.ArgumentsRequired("a limit order needs a price");
  }
  const triggerPrice = triggerPriceOf(params);
  const own = ownFields(params);
  const { timeInForce, postOnly } = timeInForceOf(isLimit, params);
  const isExit = params.stopLossPrice !== undefined || params.takeProfitPrice !== undefined;
  const terms =
    triggerPrice === undefined
      ? given({ type: isLimit ? "limit" : "market", price: isLimit ? price : undefined } as const)
      : given({
          type: "stop",
          price: triggerPrice,
          trigger,
          limitPrice: isLimit ? price : undefined,
        } as const);
  return {
    symbol,
    side: venueSide(side),
    type: isLimit ? "limit" : "market",
    leverage,
    ...given({ size: amount, timeInForce }),
    ...(postOnly ? { postOnly } : {}),
    ...(isExit ? { reduceOnly: true } : {}),
    ...terms,
    ...given({ takeProfit: exitIn(params, "takeProfit"), stopLoss: exitIn(params, "stopLoss") }),
    ...own,
  };
}

/** Parameters that are fields of the venue's own. One that is undefined does not replace a default. */
function ownFields(params: Dict): Dict {
  const own = Object.entries(params).filter(
    ([name, value]) => value !== undefined && !READ.includes(name),
  );
  for (const [name] of own) {
    if (ARGUMENTS.includes(name)) {
      throw new errors.BadRequest(
        `an order takes no parameter ${name}: symbol, type, side, amount and price are arguments, a trigger is triggerPrice`,
      );
    }
  }
  return Object.fromEntries(own);
}

/**
 * Orders as operations of one batch.
 *
 * @throws BadRequest for orders that differ in `validUntil`, or have a nonce, which is also the batch's.
 */
export function placementsOf(orders: readonly NewOrder[]): {
  operations: NewOperation[];
  validUntil: number | undefined;
} {
  const validUntil = commonValidUntil(orders);
  const operations = orders.map(({ validUntil: _, nonce, ...order }) => {
    if (nonce === undefined) return { op: "place", ...order } as const;
    throw new errors.BadRequest("orders that are created together take no nonce");
  });
  return { operations, validUntil };
}

/** A batch has one `validUntil` for all of its operations. */
export function commonValidUntil(terms: readonly { validUntil?: number }[]): number | undefined {
  const [validUntil, ...others] = new Set(terms.map((one) => one.validUntil));
  if (others.length === 0) return validUntil;
  throw new errors.BadRequest("orders that are sent together have the same validUntil");
}

/** @throws NotSupported for a trigger that compares with another price than the mark. */
export function refuseOtherTriggers({ triggerPriceType = "mark" }: Dict): void {
  if (triggerPriceType === "mark") return;
  throw new errors.NotSupported(`triggers compare with the mark price, not ${triggerPriceType}`);
}

function refuseUnsupported(type: string, params: Dict): void {
  if (type !== "limit" && type !== "market") {
    throw new errors.NotSupported(
      `the type is limit or market, with triggerPrice if it waits; not ${type}`,
    );
  }
  if (params.marginMode !== undefined && params.marginMode !== "isolated") {
    throw new errors.NotSupported("margin is isolated");
  }
  if (params.hedged === true) throw new errors.NotSupported("there is one net position per market");
  for (const name of ["trailingAmount", "trailingPercent", "cost"]) {
    if (params[name] !== undefined) throw new errors.NotSupported(`orders take no ${name}`);
  }
  refuseOtherTriggers(params);
  const { stopLossPrice, takeProfitPrice, triggerPrice, stopPrice } = params;
  const triggers = [stopLossPrice, takeProfitPrice, triggerPrice ?? stopPrice];
  if (triggers.filter((price) => price !== undefined).length > 1) {
    throw new errors.NotSupported(
      "an order waits for one price; stopLoss and takeProfit attach both to an entry",
    );
  }
}

export function triggerPriceOf(params: Dict): number | undefined {
  const { stopLossPrice, takeProfitPrice, triggerPrice, stopPrice } = params;
  const price: unknown = stopLossPrice ?? takeProfitPrice ?? triggerPrice ?? stopPrice;
  return price === undefined ? undefined : Number(price);
}

/** From which side the mark reaches the trigger; undefined if the current mark decides. */
export function requestedTrigger(side: string, params: Dict): Trigger | undefined {
  if (params.stopLossPrice !== undefined) return "stop";
  if (params.takeProfitPrice !== undefined) return "takeProfit";
  const direction: unknown = params.triggerDirection;
  if (direction === undefined) return undefined;
  const isRising = ["ascending", "up", "above"].includes(String(direction));
  if (!isRising && !["descending", "down", "below"].includes(String(direction))) {
    throw new errors.BadRequest(`triggerDirection is ascending or descending, not ${direction}`);
  }
  return triggerWhen(side, isRising);
}

/** A buy that waits for a rise is a stop, one that waits for a fall takes a profit. */
export function triggerWhen(side: string, isRising: boolean): Trigger {
  return isRising === (venueSide(side) === "long") ? "stop" : "takeProfit";
}

function timeInForceOf(
  isLimit: boolean,
  params: Dict,
): { timeInForce: TimeInForce | undefined; postOnly: boolean } {
  const name = String(params.timeInForce ?? "").toUpperCase();
  const postOnly = params.postOnly === true || name === "PO";
  if (postOnly && !isLimit) throw new errors.InvalidOrder("a market order cannot be post-only");
  switch (name) {
    case "IOC":
      return { timeInForce: "ioc", postOnly };
    case "FOK":
      return { timeInForce: "fok", postOnly };
    // A market order never rests, whatever it says.
    case "GTC":
    case "GTD":
      if (name === "GTD" && params.expiresAt === undefined) {
        throw new errors.ArgumentsRequired("GTD needs the time, expiresAt in milliseconds");
      }
      return { timeInForce: isLimit ? "gtc" : undefined, postOnly };
    case "":
    case "PO":
      return { timeInForce: undefined, postOnly };
    default:
      throw new errors.NotSupported(`timeInForce is GTC, GTD, IOC, FOK or PO, not ${name}`);
  }
}

/** `params.stopLoss` or `params.takeProfit`, which close what the order opens. */
function exitIn(params: Dict, name: "stopLoss" | "takeProfit"): Exit | undefined {
  const value: unknown = params[name];
  if (value === undefined) return undefined;
  // `priceType` is what CCXT's createOrderWithTakeProfitAndStopLoss() makes of stopLossPriceType.
  const { triggerPrice, stopPrice, price, type, priceType, triggerPriceType, ...others }: Dict =
    Object(value);
  refuseOtherTriggers({ triggerPriceType: triggerPriceType ?? priceType });
  const [unknown] = Object.keys(given(others));
  if (unknown !== undefined) {
    throw new errors.NotSupported(`${name} closes what the order opens and takes no ${unknown}`);
  }
  const isLimit = type === undefined ? price !== undefined : type === "limit";
  if (type !== undefined && type !== "market" && type !== "limit") {
    throw new errors.NotSupported(`the type of ${name} is limit or market, not ${type}`);
  }
  if (isLimit !== (price !== undefined)) {
    throw new errors.BadRequest(`${name} has a price if its type is limit, and only then`);
  }
  const trigger: unknown = triggerPrice ?? stopPrice;
  if (trigger === undefined) throw new errors.ArgumentsRequired(`${name} needs a triggerPrice`);
  return { price: Number(trigger), ...(isLimit ? { limitPrice: Number(price) } : {}) };
}
