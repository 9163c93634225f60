/**
 * A book to trade against: an account of the sandbox quotes around the index, level by level, and quotes
 * again when the index has moved by half a step. Once its position has grown large a new account takes
 * over, so that the book never runs dry; the old position stays, as that of any holder.
 */

import type { MarketUnits } from "@perpgate/venue";
import type { SandboxAccount, SandboxAccounts } from "./accounts.js";
import type { SandboxCommand } from "./commands.js";

export interface LiquidityOptions {
  /** Levels on each side. Default: 20. */
  readonly levels?: number;
  /** Dollars on each level. Default: 50,000. */
  readonly notional?: number;
  /** Distance of best bid and best ask from each other, as a fraction of the price. Default: 0.0002. */
  readonly spread?: number;
  /** Distance between levels, as a fraction of the price. Default: 0.0002. */
  readonly step?: number;
}

export const DEFAULT_LIQUIDITY: Required<LiquidityOptions> = {
  levels: 20,
  notional: 50_000,
  spread: 0.0002,
  step: 0.0002,
};

type Quote = SandboxCommand<"PlaceOrder" | "CancelAll">;

const MAX_LEVELS = 200;
const LEVERAGE = 5;
/** Dollars of a new account. Several of them stay below the bound on all deposits of a venue. */
const FUNDS = 20_000_000;
/** Part of the funds that quotes may have traded before another account takes over. */
const WORN_AFTER = 0.25;

export class Liquidity {
  private account: SandboxAccount | undefined;
  private quotedAt = 0;
  private opened = 0;
  private readonly terms: Required<LiquidityOptions>;

  constructor(
    private readonly market: MarketUnits,
    options: LiquidityOptions,
    private readonly parts: {
      readonly accounts: () => SandboxAccounts;
      /** Resolves once it is applied, or refused. */
      readonly send: (command: Quote) => Promise<unknown>;
      /** Dollars of the account's position in the market, at mark and without sign. */
      readonly exposureOf: (account: SandboxAccount) => number;
    },
  ) {
    this.terms = { ...DEFAULT_LIQUIDITY, ...options };
    const { levels, notional, spread, step } = this.terms;
    if (!Number.isInteger(levels) || levels < 1 || levels > MAX_LEVELS) {
      throw new RangeError(`levels is a whole number from 1 to ${MAX_LEVELS}, not ${levels}`);
    }
    for (const [name, value] of Object.entries({ notional, spread, step })) {
      if (!(value > 0)) throw new RangeError(`${name} is a number above 0, not ${value}`);
    }
    if (spread / 2 + step * levels >= 0.05) {
      throw new RangeError("the outermost level is beyond the venue's band of 5 %");
    }
  }

  /** Whether quotes at this price would differ from those that rest. */
  isOffAt(price: number): boolean {
    return Math.abs(price / this.quotedAt - 1) > this.terms.step / 2;
  }

  async quote(price: number, nowMs: number): Promise<void> {
    const account = await this.unwornAccount(nowMs);
    this.quotedAt = price;
    const { market } = this;
    const { session } = account;
    // Not awaited one by one: all of them are in one batch of the log.
    const sent: Promise<unknown>[] = [
      this.parts.send({ kind: "CancelAll", stampMs: nowMs, session, market: market.number }),
    ];
    for (let level = 0; level < this.terms.levels; level++) {
      for (const side of [1, -1] as const) {
        sent.push(this.parts.send(this.order(account, side, level, price, nowMs)));
      }
    }
    await Promise.all(sent);
  }

  /** Takes all quotes away. */
  async remove(nowMs: number): Promise<void> {
    if (this.account === undefined) return;
    const { session } = this.account;
    const market = this.market.number;
    await this.parts.send({ kind: "CancelAll", stampMs: nowMs, session, market });
  }

  private order(
    account: SandboxAccount,
    side: 1 | -1,
    level: number,
    price: number,
    nowMs: number,
  ): Quote {
    const { spread, step, notional } = this.terms;
    const away = spread / 2 + step * level;
    const ticks = (price * (1 - side * away)) / this.market.tickSize;
    return {
      kind: "PlaceOrder",
      stampMs: nowMs,
      session: account.session,
      key: account.key,
      nonce: account.nonce++,
      market: this.market.number,
      side,
      type: 1,
      marginMicros: Math.round((notional / LEVERAGE) * 1e6),
      leverage: LEVERAGE,
      // Away from the middle, so that the two sides never cross.
      priceTicks: side === 1 ? Math.floor(ticks) : Math.ceil(ticks),
      reduceOnly: false,
      // A quote that meets a trader's order fills it, as the market does that has come there.
      postOnly: false,
    };
  }

  private async unwornAccount(nowMs: number): Promise<SandboxAccount> {
    const { accounts, exposureOf } = this.parts;
    if (this.account !== undefined && exposureOf(this.account) < FUNDS * WORN_AFTER) {
      return this.account;
    }
    await this.remove(nowMs);
    this.opened++;
    const account = await accounts().open(`maker/${this.market.number}/${this.opened}`);
    await accounts().fund(account.address, FUNDS);
    this.account = account;
    return account;
  }

  state(): LiquidityState {
    const { quotedAt, opened, account } = this;
    return {
      terms: this.terms,
      quotedAt,
      opened,
      account: account === undefined ? undefined : { ...account },
    };
  }

  restore({ quotedAt, opened, account }: LiquidityState): void {
    this.quotedAt = quotedAt;
    this.opened = opened;
    this.account = account === undefined ? undefined : { ...account };
  }
}

export interface LiquidityState {
  readonly terms: LiquidityOptions;
  readonly quotedAt: number;
  readonly opened: number;
  readonly account: SandboxAccount | undefined;
}
