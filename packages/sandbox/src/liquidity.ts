/**
 * A book to trade against: an account of the sandbox quotes around the index, level by level, and quotes
 * again when the index has moved by half a step.
 */

import type { MarketUnits } from "@perpgate/venue";
import type { AccountRotation, RotationState, SandboxAccount } from "./accounts.js";
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
  /** Of the middle above the index, as a fraction: what funding is paid for. Default: 0. */
  readonly premium?: number;
}

const DEFAULT_LIQUIDITY: Required<LiquidityOptions> = {
  levels: 20,
  notional: 50_000,
  spread: 0.0002,
  step: 0.0002,
  premium: 0,
};

type Quote = SandboxCommand<"PlaceOrder" | "CancelAll">;

const MAX_LEVELS = 200;

export class Liquidity {
  private quotedAt = 0;
  private readonly terms: Required<LiquidityOptions>;

  constructor(
    private readonly market: MarketUnits,
    options: LiquidityOptions,
    private readonly rotation: AccountRotation,
    private readonly leverage: number,
    /** Resolves once it is applied, or refused. */
    private readonly send: (command: Quote) => Promise<unknown>,
  ) {
    this.terms = { ...DEFAULT_LIQUIDITY, ...options };
    const { levels, notional, spread, step, premium } = this.terms;
    if (!Number.isInteger(levels) || levels < 1 || levels > MAX_LEVELS) {
      throw new RangeError(`levels is a whole number from 1 to ${MAX_LEVELS}, not ${levels}`);
    }
    for (const [name, value] of Object.entries({ notional, spread, step })) {
      if (!(value > 0)) throw new RangeError(`${name} is a number above 0, not ${value}`);
    }
    if (!(spread / 2 + step * levels + Math.abs(premium) < 0.05)) {
      throw new RangeError("the outermost level is beyond the venue's band of 5 %");
    }
  }

  /** Whether quotes at this price would differ from those that rest. */
  isOffAt(price: number): boolean {
    return Math.abs(price / this.quotedAt - 1) > this.terms.step / 2;
  }

  /** The venue has canceled quotes: they are placed again at any price. */
  forget(): void {
    this.quotedAt = 0;
  }

  async quote(price: number, nowMs: number): Promise<void> {
    const account = await this.rotation.next(() => this.remove(nowMs));
    this.quotedAt = price;
    const { market } = this;
    const { session } = account;
    // Not awaited one by one: all of them are in one batch of the log.
    const sent: Promise<unknown>[] = [
      this.send({ kind: "CancelAll", stampMs: nowMs, session, market: market.number }),
    ];
    for (let level = 0; level < this.terms.levels; level++) {
      for (const side of [1, -1] as const) {
        sent.push(this.send(this.order(account, side, level, price, nowMs)));
      }
    }
    await Promise.all(sent);
  }

  /** Takes all quotes away. */
  async remove(nowMs: number): Promise<void> {
    const { current } = this.rotation;
    if (current === undefined) return;
    const { session } = current;
    const market = this.market.number;
    await this.send({ kind: "CancelAll", stampMs: nowMs, session, market });
  }

  private order(
    account: SandboxAccount,
    side: 1 | -1,
    level: number,
    price: number,
    nowMs: number,
  ): Quote {
    const { spread, step, notional, premium } = this.terms;
    const away = spread / 2 + step * level;
    const ticks = (price * (1 + premium) * (1 - side * away)) / this.market.tickSize;
    return {
      kind: "PlaceOrder",
      stampMs: nowMs,
      session: account.session,
      key: account.key,
      nonce: account.nonce++,
      market: this.market.number,
      side,
      type: 1,
      marginMicros: Math.round((notional / this.leverage) * 1e6),
      leverage: this.leverage,
      // Away from the middle, so that the two sides never cross.
      priceTicks: side === 1 ? Math.floor(ticks) : Math.ceil(ticks),
      reduceOnly: false,
      // A quote that meets a trader's order fills it, as the market does that has come there.
      postOnly: false,
    };
  }

  state(): LiquidityState {
    const { quotedAt, rotation, terms } = this;
    return { terms, quotedAt, rotation: rotation.state() };
  }

  restore({ quotedAt, rotation }: LiquidityState): void {
    this.quotedAt = quotedAt;
    this.rotation.restore(rotation);
  }
}

export interface LiquidityState {
  readonly terms: LiquidityOptions;
  readonly quotedAt: number;
  readonly rotation: RotationState;
}
