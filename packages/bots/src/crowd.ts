/**
 * The crowd: all bots of a testnet. They use only the public API of a gateway and give every market
 * that it lists, also those that are listed later, depth, trades and occasional liquidations. The crowd waits for a gateway that does
 * not answer and signs in again when a session ends. Once stopped, it leaves no orders.
 */

import { createHash } from "node:crypto";
import { TokenBucket } from "@perpgate/protocol/core";
import { type Market, PerpgateClient } from "@perpgate/sdk";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { BotAccount, SignInQueue } from "./account/bot-account.js";
import type { BotLog, BotSettings, BotVenue } from "./bot-settings.js";
import { MarketWatch } from "./market/market-watch.js";
import { MarketMaker } from "./quoting/market-maker.js";
import { sleepUnlessAborted } from "./sleep.js";
import { MarketTakers, type TakerAccounts } from "./takers/market-takers.js";

/** Every market has at least this part of the first market's trades. */
const LEAST_SHARE = 0.25;

interface CrowdAccounts {
  readonly makers: readonly BotAccount[];
  readonly takers: TakerAccounts;
}

class TradedMarket {
  readonly maker: MarketMaker;
  readonly takers: MarketTakers;
  private readonly watch: MarketWatch;

  /** `place`: in the venue's list, from 0 of `count`. */
  constructor(
    client: PerpgateClient,
    market: Market,
    { makers, takers }: CrowdAccounts,
    { seed, levels, actionsPerSecond, tradesPerMinute }: BotSettings,
    place: number,
    count: number,
  ) {
    this.watch = new MarketWatch(client, market);
    this.maker = new MarketMaker(this.watch, makers, seed, levels, actionsPerSecond / count);
    const share = Math.max(LEAST_SHARE, 1 / (1 + 0.6 * place));
    this.takers = new MarketTakers(this.watch, takers, seed, tradesPerMinute * share);
  }

  close(): void {
    this.watch.close();
  }
}

const MAKERS = 3;
const NOISE_TRADERS = 2;
/** Dollars: of a maker per market, at most, and of a taker. */
const MAKER_CAPITAL = 45_000;
const MOST_MAKER_CAPITAL = 450_000;
const TAKER_CAPITAL = 8_000;
/** The gateway allows ten a second per address, and people may share the address. */
const SIGN_IN_EVERY_MS = 200;
const TAKERS_EVERY_MS = 100;
/** The makers of the markets refresh in rotation, no faster than this. */
const SHORTEST_TURN_MS = 25;
/** What a refresh costs if the price stands still, and the part of the actions for that. */
const ACTIONS_PER_REFRESH = 3;
const REFRESH_PART = 0.3;
const BURST_SECONDS = 1;
/** How often the crowd looks for new markets, and for those that no longer trade. */
const FOLLOW_EVERY_MS = 5_000;
const LONGEST_WAIT_MS = 15_000;
/** The same message is logged at most once per this time. */
const LOG_AGAIN_MS = 60_000;
const NEVER = new AbortController().signal;

export class Crowd {
  private readonly client: PerpgateClient;
  private readonly stopping = new AbortController();
  private accounts: readonly BotAccount[] = [];
  /** By symbol. */
  private readonly traded = new Map<string, TradedMarket>();
  private readonly budget: TokenBucket;
  private readonly running: Promise<unknown>;
  private readonly log: BotLog;
  private readonly signIns = new SignInQueue(SIGN_IN_EVERY_MS);

  constructor(
    private readonly venue: BotVenue,
    private readonly settings: BotSettings,
    log: BotLog,
  ) {
    const { actionsPerSecond } = settings;
    this.log = withoutRepeats(log);
    this.client = new PerpgateClient({ url: venue.url });
    this.budget = new TokenBucket({
      perSecond: actionsPerSecond,
      burst: Math.max(1, actionsPerSecond * BURST_SECONDS),
    });
    this.running = this.run();
  }

  /** Stops trading, cancels resting orders and signs out, within the given time. */
  async stop(withinMs: number): Promise<void> {
    this.stopping.abort();
    // Waits for quotes in flight, so that none arrives after the cancel.
    await Promise.race([this.running, sleepUnlessAborted(withinMs / 3, NEVER)]);
    await Promise.all(this.accounts.map((account) => account.stop(withinMs / 2)));
    for (const market of this.traded.values()) market.close();
    this.client.close();
  }

  private async run(): Promise<void> {
    const listed = await this.listedMarkets();
    if (listed.length === 0) return;
    const makers = this.newAccounts("maker", MAKERS, makerCapital(listed.length));
    const takers = this.newTakers();
    this.accounts = inStartOrder(makers, takers);
    for (const account of this.accounts) account.start();
    this.follow(listed, { makers, takers });
    this.log.info("bots trade", { markets: this.traded.size, accounts: this.accounts.length });
    await Promise.all([
      this.keepQuoting(),
      this.keepTaking(),
      this.keepFollowing({ makers, takers }),
    ]);
  }

  /** Asks until the gateway answers; empty only if the crowd is stopped first. */
  private async listedMarkets(): Promise<readonly Market[]> {
    const { signal } = this.stopping;
    for (let waitMs = 500; !signal.aborted; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        return await this.client.markets({ retries: 0, signal });
      } catch {
        await sleepUnlessAborted(waitMs, signal);
      }
    }
    return [];
  }

  /** Asks for the list of markets again and again. */
  private async keepFollowing(accounts: CrowdAccounts): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await sleepUnlessAborted(FOLLOW_EVERY_MS, signal);
      const listed = await this.listedMarkets();
      if (!signal.aborted) this.follow(listed, accounts);
    }
  }

  /** Trades every active market. Others are left; their quotes stay or were canceled by the venue. */
  private follow(listed: readonly Market[], accounts: CrowdAccounts): void {
    const active = new Set<string>();
    for (const [place, market] of listed.entries()) {
      const { symbol } = market;
      if (market.status !== "active") continue;
      active.add(symbol);
      if (this.traded.has(symbol)) continue;
      const { client, settings } = this;
      const traded = new TradedMarket(client, market, accounts, settings, place, listed.length);
      this.traded.set(symbol, traded);
    }
    for (const [symbol, market] of this.traded) {
      if (active.has(symbol)) continue;
      market.close();
      this.traded.delete(symbol);
    }
    for (const maker of accounts.makers) maker.capital = makerCapital(listed.length);
  }

  private async keepQuoting(): Promise<void> {
    const { refreshMs, actionsPerSecond } = this.settings;
    const { signal } = this.stopping;
    // A refresh costs a few actions even if the price stands still, which limits their rate.
    const affordableMs = (ACTIONS_PER_REFRESH * 1_000) / (REFRESH_PART * actionsPerSecond);
    for (let turn = 0; !signal.aborted; turn++) {
      const markets = [...this.traded.values()];
      const count = Math.max(1, markets.length);
      const turnMs = Math.max(SHORTEST_TURN_MS, affordableMs, refreshMs / count);
      const startedMs = performance.now();
      // No market may use the whole budget.
      const allowed = Math.ceil(this.budget.available(startedMs) / Math.min(count, 3));
      const used = (await markets[turn % count]?.maker.refresh(startedMs, allowed)) ?? 0;
      this.budget.spend(used);
      await sleepUnlessAborted(startedMs + turnMs - performance.now(), signal);
    }
  }

  private async keepTaking(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      for (const { takers } of this.traded.values()) takers.act(performance.now());
      await sleepUnlessAborted(TAKERS_EVERY_MS, signal);
    }
  }

  private newTakers(): TakerAccounts {
    const noise = this.newAccounts("noise", NOISE_TRADERS, TAKER_CAPITAL);
    const gamblers = this.newAccounts("gambler", this.settings.gamblers, TAKER_CAPITAL);
    return {
      noise,
      momentum: this.newAccount("momentum", TAKER_CAPITAL),
      arbitrage: this.newAccount("arbitrage", TAKER_CAPITAL),
      gamblers,
    };
  }

  private newAccounts(role: string, count: number, capital: number): BotAccount[] {
    return Array.from({ length: count }, (_, i) => this.newAccount(`${role} ${i + 1}`, capital));
  }

  private newAccount(name: string, capital: number): BotAccount {
    const { client, venue, log, signIns } = this;
    const wallet = botWallet(this.settings.seed, name);
    const isMaker = name.startsWith("maker");
    return new BotAccount({ client, venue, log, signIns, wallet, name, capital, isMaker });
  }
}

/** Drops repeats: when all bots log the same message, one line is enough. */
function withoutRepeats(log: BotLog): BotLog {
  const loggedAtMs = new Map<string, number>();
  const isNew = (message: string) => {
    const nowMs = performance.now();
    if (nowMs - (loggedAtMs.get(message) ?? Number.NEGATIVE_INFINITY) < LOG_AGAIN_MS) return false;
    loggedAtMs.set(message, nowMs);
    return true;
  };
  return {
    info: (message, fields) => isNew(message) && log.info(message, fields),
    warn: (message, fields) => isNew(message) && log.warn(message, fields),
  };
}

function makerCapital(markets: number): number {
  return Math.min(MOST_MAKER_CAPITAL, MAKER_CAPITAL * markets);
}

/** One maker and one taker first, so that the first trade comes soon. */
function inStartOrder(makers: readonly BotAccount[], takers: TakerAccounts): BotAccount[] {
  const [firstMaker, ...otherMakers] = makers;
  const [firstNoise, ...otherNoise] = takers.noise;
  const first = [firstMaker, firstNoise].filter((account) => account !== undefined);
  const last = [takers.momentum, takers.arbitrage, ...takers.gamblers];
  return [...first, ...otherMakers, ...otherNoise, ...last];
}

/**
 * The bots' wallets. Their keys are derived from the seed, so that a restarted crowd has the same
 * accounts. The seed is public: anyone can sign for them. They must never own anything but a testnet's
 * credit.
 */
export function botWallet(seed: number, name: string): PrivateKeyAccount {
  const label = `perpgate testnet bot, worthless: ${seed}/${name}`;
  return privateKeyToAccount(`0x${createHash("sha256").update(label).digest("hex")}`);
}
