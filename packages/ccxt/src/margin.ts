/** Leverage of orders and margin of positions. */

import {
  type Dict,
  errors,
  type Leverage,
  type MarginMode,
  type MarginModification,
  type PositionModeInfo,
} from "ccxt";
import { exact } from "./values.js";
import { Withdrawing } from "./withdrawing.js";

export class Margin extends Withdrawing {
  /** The leverage that orders of this instance get; the venue takes it with each order. */
  protected leverageOf(symbol: string, params: Dict = {}): number {
    const chosen: unknown = params.leverage ?? this.options.leverages?.[symbol];
    return Number(chosen ?? this.options.defaultLeverage ?? 1);
  }

  override async setLeverage(leverage: number, symbol?: string): Promise<Leverage> {
    if (symbol === undefined) {
      throw new errors.ArgumentsRequired(`${this.id} setLeverage() needs a symbol`);
    }
    const { market } = await this.located(symbol);
    const max = market.limits.leverage?.max ?? 1;
    if (!Number.isInteger(leverage) || leverage < 1 || leverage > max) {
      throw new errors.BadRequest(
        `${this.id} leverage of ${symbol} is an integer from 1 to ${max}`,
      );
    }
    this.options.leverages = { ...this.options.leverages, [market.symbol]: leverage };
    return this.fetchLeverage(symbol);
  }

  override async fetchLeverage(symbol: string): Promise<Leverage> {
    const { market } = await this.located(symbol);
    const leverage = this.leverageOf(market.symbol);
    return {
      info: { leverage },
      symbol: market.symbol,
      marginMode: "isolated",
      longLeverage: leverage,
      shortLeverage: leverage,
    };
  }

  override async fetchMarginMode(symbol: string): Promise<MarginMode> {
    const { market } = await this.located(symbol);
    return { info: {}, symbol: market.symbol, marginMode: "isolated" };
  }

  /** Margin is always isolated: there is nothing to set. */
  override async setMarginMode(marginMode: string, symbol?: string): Promise<MarginMode> {
    if (symbol === undefined) {
      throw new errors.ArgumentsRequired(`${this.id} setMarginMode() needs a symbol`);
    }
    if (marginMode === "isolated") return this.fetchMarginMode(symbol);
    if (marginMode === "cross") throw new errors.NotSupported(`${this.id} margin is isolated`);
    throw new errors.BadRequest(`${this.id} the margin mode is isolated, not ${marginMode}`);
  }

  /** Positions are always net. */
  override async setPositionMode(hedged: boolean): Promise<PositionModeInfo> {
    if (!hedged) return this.fetchPositionMode();
    throw new errors.NotSupported(`${this.id} there is one net position per market`);
  }

  override async fetchPositionMode(): Promise<PositionModeInfo> {
    return { info: {}, hedged: false };
  }

  override addMargin(symbol: string, amount: number): Promise<MarginModification> {
    return this.moveMargin(symbol, Math.abs(amount), "add");
  }

  override reduceMargin(symbol: string, amount: number): Promise<MarginModification> {
    return this.moveMargin(symbol, -Math.abs(amount), "reduce");
  }

  override async setMargin(symbol: string, amount: number): Promise<MarginModification> {
    const { collateral = 0 } = await this.fetchPosition(symbol);
    return this.moveMargin(symbol, exact(amount - collateral), "set");
  }

  private async moveMargin(
    symbol: string,
    amount: number,
    type: "add" | "reduce" | "set",
  ): Promise<MarginModification> {
    const { id, market } = await this.located(symbol);
    const info = await this.askSession((session) => session.changeMargin(id, amount));
    return {
      info,
      symbol: market.symbol,
      type,
      marginMode: "isolated",
      amount: Math.abs(amount),
      total: info.margin,
      code: market.settle,
      status: "ok",
      timestamp: undefined,
      datetime: undefined,
    };
  }
}
