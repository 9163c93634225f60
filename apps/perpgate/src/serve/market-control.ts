/** An operator's control of one market of a running venue, as a command in its log. */

import { toSteps } from "@perpgate/protocol/core";
import type { MarketUnits, Venue } from "@perpgate/venue";
import { Ajv } from "ajv";
import { type Static, Type } from "typebox";
import { operatorTimes, submitOperatorCommand } from "./operator-command.js";

export const MarketChange = Type.Union([
  Type.Object(
    { symbol: Type.String(), action: Type.Enum(["reduceOnly", "halt", "resume"]) },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      symbol: Type.String(),
      action: Type.Literal("settle"),
      price: Type.Number({ exclusiveMinimum: 0 }),
    },
    { additionalProperties: false },
  ),
]);
export type MarketChange = Static<typeof MarketChange>;

export class MarketControl {
  constructor(private readonly venue: Venue) {}

  /** Compiles the schema on each call: changes are rare. */
  isChange(value: unknown): value is MarketChange {
    return new Ajv({ meta: false, validateSchema: false }).validate<MarketChange>(
      MarketChange,
      value,
    );
  }

  /** Resolves once the change is durable; rejects with the reason for a refusal. */
  async change(change: MarketChange): Promise<void> {
    const { venue } = this;
    const market = venue.listing.named(change.symbol);
    if (market === undefined) throw new Error(`there is no market ${change.symbol}`);
    await submitOperatorCommand(venue, {
      kind: "ControlMarket",
      ...operatorTimes(venue),
      market: market.number,
      action: change.action,
      priceTicks: change.action === "settle" ? ticksOf(change.price, market) : 0,
    });
  }
}

function ticksOf(price: number, { tick }: MarketUnits): number {
  try {
    return toSteps(price, tick);
  } catch {
    throw new Error(`the price ${price} is not on the tick ${tick.size}`);
  }
}
