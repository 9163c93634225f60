/** The markets of a sandbox: where each index is and goes, and who quotes around it. */

import { DEFAULT_MARKETS, type MarketDefinition } from "@perpgate/protocol";
import { NO_EVIDENCE, TICK_MS, type Venue } from "@perpgate/venue";
import { AccountRotation, type SandboxAccount, type SandboxAccounts } from "./accounts.js";
import type { SandboxCommand, SandboxCommandKind } from "./commands.js";
import { Liquidity, type LiquidityOptions, type LiquidityState } from "./liquidity.js";
import { PricePath } from "./price-path.js";
import { ReplayAccounts } from "./replay/replay-accounts.js";
import { type TakerOptions, Takers, type TakersState } from "./takers.js";

/** The index is given again that often while it does not move: one of 10 s ago ends trading. */
const INDEX_EVERY_MS = 5_000;
/** A jump is held back by the venue until it has been given three times within two seconds. */
const HELD_EVERY_MS = 1_000;
/** The venue's bound. */
const MAX_INDEX_TICKS = 2 ** 33;
/** Of the largest position that the market allows: with it an account of the sandbox is replaced. */
const WORN_PART = 1 / 4;
const LEVERAGE = 5;
/** No move of a day liquidates it. */
const REPLAY_LEVERAGE = 2;
/** Dollars of an account that quotes a recorded book, whatever is in that. */
const REPLAY_FUNDS = 100_000_000;
/** An operator's command is refused after it. */
const OPERATOR_MS = 60_000;

interface SandboxMarket {
  readonly definition: MarketDefinition;
  readonly number: number;
  path: PricePath;
  /** As the venue has it; undefined before the first. */
  index: number | undefined;
  indexedAtMs: number;
  /** Whether the venue holds the index back. */
  isHeld: boolean;
  /** Whether the venue gets no index, as when its sources fail. */
  isStuck: boolean;
  liquidity: Liquidity | undefined;
  takers: Takers | undefined;
}

/** What a saved moment has of a market. */
export interface SandboxMarketState {
  readonly path: PricePath;
  readonly index: number | undefined;
  readonly isStuck: boolean;
  readonly quotes: LiquidityState | undefined;
  readonly takers: TakersState | undefined;
}

export class SandboxMarkets {
  private readonly markets: readonly SandboxMarket[];

  constructor(
    given: readonly (string | MarketDefinition)[],
    private readonly venue: () => Venue,
    private readonly accounts: () => SandboxAccounts,
    private readonly random: (name: string) => number,
  ) {
    this.markets = definitionsOf(given).map((definition, number) => ({
      definition,
      number,
      path: new PricePath(definition.index.startPrice),
      index: undefined,
      indexedAtMs: 0,
      isHeld: false,
      isStuck: false,
      liquidity: undefined,
      takers: undefined,
    }));
  }

  get definitions(): MarketDefinition[] {
    return this.markets.map(({ definition }) => definition);
  }

  priceOf(symbol: string, nowMs: number): number {
    return this.market(symbol).path.at(nowMs);
  }

  move(symbol: string, price: number, nowMs: number, withinMs: number): void {
    const market = this.market(symbol);
    const most = MAX_INDEX_TICKS * market.definition.tickSize;
    if (price > most) throw new RangeError(`a price of ${symbol} is at most ${most}, not ${price}`);
    market.path.moveTo(price, nowMs, withinMs);
    market.indexedAtMs = 0;
  }

  /** Whether the venue waits for confirmations of the index that it was given last. */
  isHeld(symbol: string): boolean {
    const { isHeld, isStuck } = this.market(symbol);
    return isHeld && !isStuck;
  }

  async quote(symbol: string, options: LiquidityOptions | false, nowMs: number): Promise<void> {
    const market = this.market(symbol);
    await market.liquidity?.remove(nowMs);
    market.liquidity = options === false ? undefined : this.newLiquidity(market, options);
    await requote(market, nowMs);
  }

  /** Random market orders of the sandbox; undefined: none. */
  take(symbol: string, options: TakerOptions | undefined): void {
    const market = this.market(symbol);
    market.takers = options === undefined ? undefined : this.newTakers(market, options);
  }

  /** Ends, or begins again, what the venue gets of the index. */
  setStuck(symbol: string, isStuck: boolean): void {
    const market = this.market(symbol);
    market.isStuck = isStuck;
    market.indexedAtMs = 0;
  }

  /** What an operator does with a market. */
  async control(
    symbol: string,
    action: SandboxCommand<"ControlMarket">["action"],
    nowMs: number,
  ): Promise<void> {
    const { number, liquidity } = this.market(symbol);
    const times = { stampMs: nowMs, expiresAtMs: nowMs + OPERATOR_MS };
    await this.send({ kind: "ControlMarket", ...times, market: number, action, priceTicks: 0 });
    // A market that was in between reduce-only has canceled them.
    if (action === "resume") liquidity?.forget();
  }

  /** A venue that has started again awaits an index. */
  indexAgain(): void {
    for (const market of this.markets) market.indexedAtMs = 0;
  }

  /** In every market. */
  quoteAll(options: LiquidityOptions): void {
    for (const market of this.markets) market.liquidity = this.newLiquidity(market, options);
  }

  /**
   * After the tick of a time. Quotes follow the index of the last tick: until a tick has served the
   * liquidations of a new one, the venue refuses orders.
   */
  async follow(nowMs: number): Promise<void> {
    for (const market of this.markets) {
      if (market.isStuck) continue;
      await requote(market, nowMs);
      await market.takers?.take(nowMs);
      const { path, indexedAtMs, isHeld } = market;
      const everyMs = isHeld ? HELD_EVERY_MS : INDEX_EVERY_MS;
      const isDue = nowMs - indexedAtMs >= everyMs || path.isMovingAt(nowMs - TICK_MS);
      if (isDue) this.sendIndex(market, nowMs);
    }
  }

  state(): SandboxMarketState[] {
    return this.markets.map(({ path, index, isStuck, liquidity, takers }) => ({
      path: path.copy(),
      index,
      isStuck,
      quotes: liquidity?.state(),
      takers: takers?.state(),
    }));
  }

  restore(states: readonly SandboxMarketState[]): void {
    this.markets.forEach((market, number) => {
      const state = states[number];
      if (state === undefined) return;
      market.path = state.path.copy();
      market.index = state.index;
      market.indexedAtMs = 0;
      market.isHeld = false;
      market.isStuck = state.isStuck;
      const { quotes, takers } = state;
      market.liquidity = quotes === undefined ? undefined : this.newLiquidity(market, quotes.terms);
      if (quotes !== undefined) market.liquidity?.restore(quotes);
      market.takers = takers === undefined ? undefined : this.newTakers(market, takers.options);
      if (takers !== undefined) market.takers?.restore(takers);
    });
  }

  private sendIndex(market: SandboxMarket, nowMs: number): void {
    const { path, definition, number } = market;
    const index = path.at(nowMs);
    market.index = index;
    market.indexedAtMs = nowMs;
    const { symbol, tickSize } = definition;
    const indexTicks = Math.max(1, Math.round(index / tickSize));
    const slot = Math.floor(nowMs / TICK_MS);
    const update = {
      kind: "UpdateIndex",
      stampMs: nowMs,
      market: number,
      indexTicks,
      slot,
    } as const;
    // Not awaited: it is applied with the next tick.
    this.venue().submit(update, NO_EVIDENCE, (applied) => {
      if (applied === null) return;
      const { views } = this.venue();
      const accepted = Math.round((views.ticker(symbol)?.index ?? 0) / tickSize);
      market.isHeld = views.outcome(applied).kind !== "refused" && accepted !== indexTicks;
    });
  }

  private newLiquidity({ definition }: SandboxMarket, options: LiquidityOptions): Liquidity {
    const { symbol } = definition;
    const units = this.venue().listing.named(symbol);
    if (units === undefined) throw new Error(`${symbol} is not listed`);
    const rotation = this.rotationOf(`maker/${units.number}`, symbol);
    const leverage = this.leverageIn(symbol, LEVERAGE);
    return new Liquidity(units, options, rotation, leverage, (command) => this.send(command));
  }

  private newTakers({ definition, number }: SandboxMarket, options: TakerOptions): Takers {
    const rotation = this.rotationOf(`taker/${number}`, definition.symbol);
    const random = () => this.random(`takers/${number}`);
    const leverage = this.leverageIn(definition.symbol, LEVERAGE);
    return new Takers(number, options, rotation, leverage, random, (command) => this.send(command));
  }

  /** An account that trades in a market, and is replaced when its position has grown large. */
  private rotationOf(name: string, symbol: string): AccountRotation {
    const exposureOf = (account: SandboxAccount) => Math.abs(this.positionOf(account, symbol));
    return new AccountRotation(name, this.accounts, exposureOf, this.wornIn(symbol));
  }

  /** Accounts that quote and take what a recording says. */
  replayAccountsOf(symbol: string): ReplayAccounts {
    let opened = 0;
    return new ReplayAccounts({
      open: async () => {
        const account = await this.accounts().open(`replayed/${symbol}/${++opened}`);
        await this.accounts().fund(account.address, REPLAY_FUNDS);
        const live = this.venue().views.session(account.session);
        if (live === undefined) throw new Error("a session of the sandbox has ended");
        return { ...account, number: live.account, resting: 0 };
      },
      positionOf: (account) => this.positionOf(account, symbol),
      worn: this.wornIn(symbol),
      leverage: this.leverageIn(symbol, REPLAY_LEVERAGE),
    });
  }

  /** Dollars at mark, below 0 for a short one. */
  private positionOf({ session }: SandboxAccount, symbol: string): number {
    const { views } = this.venue();
    const live = views.session(session);
    const position = live === undefined ? undefined : views.position(live.account, symbol);
    return position === undefined ? 0 : position.size * (position.markPrice ?? 0);
  }

  /** One that every tier of the market allows. */
  private leverageIn(symbol: string, most: number): number {
    return Math.min(most, this.market(symbol).definition.tiers.at(-1)?.maxLeverage ?? 1);
  }

  private wornIn(symbol: string): number {
    const largest = this.market(symbol).definition.tiers.at(-1)?.notionalUpTo ?? 0;
    return largest * WORN_PART;
  }

  /** Resolves once it is applied, also if it is refused. */
  private async send<K extends SandboxCommandKind>(command: SandboxCommand<K>): Promise<void> {
    await this.venue().submitted(command, NO_EVIDENCE, () => undefined);
  }

  private market(symbol: string): SandboxMarket {
    const market = this.markets.find(({ definition }) => definition.symbol === symbol);
    if (market !== undefined) return market;
    const known = this.markets.map(({ definition }) => definition.symbol).join(", ");
    throw new RangeError(`no market ${symbol} in this sandbox, which has ${known}`);
  }
}

/** Where the index has moved on since the last quotes. */
async function requote({ liquidity, index }: SandboxMarket, nowMs: number): Promise<void> {
  if (index !== undefined && liquidity?.isOffAt(index) === true) {
    await liquidity.quote(index, nowMs);
  }
}

function definitionsOf(markets: readonly (string | MarketDefinition)[]): MarketDefinition[] {
  return markets.map((market) => {
    if (typeof market !== "string") return market;
    const found = DEFAULT_MARKETS.find(({ symbol }) => symbol === market);
    if (found !== undefined) return found;
    const known = DEFAULT_MARKETS.map(({ symbol }) => symbol).join(", ");
    throw new RangeError(`no market ${market}: the default ones are ${known}; give a definition`);
  });
}
