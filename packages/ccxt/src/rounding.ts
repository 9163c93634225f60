/** Amounts and prices of orders on the market's lot and tick, also those inside `params`. */

import { type Dict, errors, type Num } from "ccxt";
import { OrderData } from "./order-data.js";

const TRIGGERS = ["triggerPrice", "stopPrice", "stopLossPrice", "takeProfitPrice"];
const ATTACHED = ["stopLoss", "takeProfit"];

export class Rounding extends OrderData {
  /** @throws InvalidOrder for what is no positive number, or less than a lot. */
  protected amountOnLot(symbol: string, amount: Num): number | undefined {
    if (amount === undefined) return undefined;
    this.checkPositive("amount", amount);
    return Number(this.amountToPrecision(symbol, amount));
  }

  protected priceOnTick(symbol: string, price: Num): number | undefined {
    if (price === undefined) return undefined;
    this.checkPositive("price", price);
    return Number(this.priceToPrecision(symbol, price));
  }

  /** The parameters with every trigger price on the tick. */
  protected triggersOnTick(symbol: string, params: Dict): Dict {
    const rounded = { ...params };
    for (const name of TRIGGERS) {
      if (params[name] !== undefined) rounded[name] = this.priceOnTick(symbol, params[name]);
    }
    for (const name of ATTACHED) {
      if (typeof params[name] !== "object" || params[name] === null) continue;
      const { price } = params[name];
      const limit = price === undefined ? {} : { price: this.priceOnTick(symbol, price) };
      rounded[name] = { ...this.triggersOnTick(symbol, params[name]), ...limit };
    }
    return rounded;
  }

  private checkPositive(name: string, value: number): void {
    if (Number(value) > 0 && Number.isFinite(Number(value))) return;
    throw new errors.InvalidOrder(`${this.id} the ${name} is a positive number, not ${value}`);
  }
}
