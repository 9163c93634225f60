/**
 * The crowd: every bot of a testnet, over the public interface of a gateway and nothing else.
 *
 * In: an address, a seed, a pace. Out: markets with depth, trades and now and then a liquidation,
 * for whatever markets the gateway lists. It waits for a gateway that does not answer, signs in
 * again where a session ended, and leaves nothing behind when it is stopped.
 */

import { type Market, PerpgateClient } from "@perpgate/sdk";
import { BotAccount } from "./account/bot-account.js";
import { SignInQueue } from "./account/sign-in-queue.js";
import type { BotLog, BotSettings, BotVenue } from "./bot-settings.js";
import { MarketWatch } from "./market/market-watch.js";
import { Pace } from "./pace.js";
import { MarketMaker } from "./quoting/market-maker.js";
import { sleepUnlessAborted } from "./sleep.js";
import { MarketTakers, type TakerAccounts } from "./takers/market-takers.js";
import { botWallet } from "./wallets.js";

const MAKERS = 3;
const NOISE_TRADERS = 2;
/** Dollars: what a maker has for each market, and what the others have. */
const MAKER_CAPITAL = 45_000;
const MOST_MAKER_CAPITAL = 450_000;
const TAKER_CAPITAL = 8_000;
/** Ten a second are allowed to an address, and it is not ours alone. */
const SIGN_IN_EVERY_MS = 200;
const TAKERS_EVERY_MS = 100;
/** Makers of one market after another, and not faster than this. */
const SHORTEST_TURN_MS = 25;
/** What keeping the best quotes best costs at each look, and the part of the actions for that. */
const ACTIONS_PER_LOOK = 3;
const LOOKS_PART = 0.3;
const BURST_SECONDS = 1;
/** The part of the first market's trades that any market has at least. */
const QUIETEST = 0.25;
const LONGEST_WAIT_MS = 15_000;
/** The same line is not said again before. */
const SAY_AGAIN_MS = 60_000;
const NEVER = new AbortController().signal;

export class Crowd {
  private readonly client: PerpgateClient;
  private readonly stopping = new AbortController();
  private accounts: readonly BotAccount[] = [];
  private watches: readonly MarketWatch[] = [];
  private readonly pace: Pace;
  private readonly running: Promise<unknown>;
  private readonly log: BotLog;
  private readonly signIns = new SignInQueue(SIGN_IN_EVERY_MS);

  constructor(
    private readonly venue: BotVenue,
    private readonly settings: BotSettings,
    log: BotLog,
  ) {
    const { actionsPerSecond } = settings;
    this.log = seldom(log);
    this.client = new PerpgateClient({ url: venue.url });
    this.pace = new Pace(actionsPerSecond, Math.max(1, actionsPerSecond * BURST_SECONDS));
    this.running = this.run();
  }

  /** Ends all trading, cancels what rests and signs out. Takes no longer than told. */
  async stop(withinMs: number): Promise<void> {
    this.stopping.abort();
    // Quotes under way are waited for, so that none arrives after the cancel.
    await Promise.race([this.running, sleepUnlessAborted(withinMs / 3, NEVER)]);
    await Promise.all(this.accounts.map((account) => account.stop(withinMs / 2)));
    for (const watch of this.watches) watch.close();
    this.client.close();
  }

  private async run(): Promise<void> {
    const markets = await this.listedMarkets();
    if (markets.length === 0) return;
    const makers = this.newAccounts("maker", MAKERS, makerCapital(markets.length));
    const takers = this.newTakers();
    this.accounts = inOrderOfNeed(makers, takers);
    for (const account of this.accounts) account.start();
    this.watches = markets.map((market) => new MarketWatch(this.client, market));
    this.log.info("bots trade", { markets: markets.length, accounts: this.accounts.length });
    await Promise.all([this.keepQuoting(makers), this.keepTaking(takers)]);
  }

  /** Asks until a gateway answers; none only if the crowd is stopped before. */
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

  private async keepQuoting(accounts: readonly BotAccount[]): Promise<void> {
    const { seed, levels, refreshMs, actionsPerSecond } = this.settings;
    const { signal } = this.stopping;
    const share = actionsPerSecond / this.watches.length;
    const makers = this.watches.map(
      (watch) => new MarketMaker(watch, accounts, seed, levels, share),
    );
    // A look costs a few actions however still the price is; no more looks than those leave room for.
    const affordableMs = (ACTIONS_PER_LOOK * 1_000) / (LOOKS_PART * actionsPerSecond);
    const turnMs = Math.max(SHORTEST_TURN_MS, affordableMs, refreshMs / makers.length);
    for (let turn = 0; !signal.aborted; turn = (turn + 1) % makers.length) {
      const startedMs = performance.now();
      // A fair share even where this market would take it all.
      const allowed = Math.ceil(this.pace.available(startedMs) / Math.min(makers.length, 3));
      const used = (await makers[turn]?.refresh(startedMs, allowed)) ?? 0;
      this.pace.spend(used);
      await sleepUnlessAborted(startedMs + turnMs - performance.now(), signal);
    }
  }

  private async keepTaking(accounts: TakerAccounts): Promise<void> {
    const { seed, tradesPerMinute } = this.settings;
    const { signal } = this.stopping;
    const takers = this.watches.map((watch, place) => {
      const share = Math.max(QUIETEST, 1 / (1 + 0.6 * place));
      return new MarketTakers(watch, accounts, seed, tradesPerMinute * share);
    });
    while (!signal.aborted) {
      for (const taker of takers) taker.act(performance.now());
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

/** What eleven bots have to say at once is said by the first. */
function seldom(log: BotLog): BotLog {
  const saidAtMs = new Map<string, number>();
  const isNews = (message: string) => {
    const nowMs = performance.now();
    if (nowMs - (saidAtMs.get(message) ?? Number.NEGATIVE_INFINITY) < SAY_AGAIN_MS) return false;
    saidAtMs.set(message, nowMs);
    return true;
  };
  return {
    info: (message, fields) => isNews(message) && log.info(message, fields),
    warn: (message, fields) => isNews(message) && log.warn(message, fields),
  };
}

function makerCapital(markets: number): number {
  return Math.min(MOST_MAKER_CAPITAL, MAKER_CAPITAL * markets);
}

/** First one who quotes and one who takes, so that there is a trade at once. */
function inOrderOfNeed(makers: readonly BotAccount[], takers: TakerAccounts): BotAccount[] {
  const [firstMaker, ...otherMakers] = makers;
  const [firstNoise, ...otherNoise] = takers.noise;
  const first = [firstMaker, firstNoise].filter((account) => account !== undefined);
  const last = [takers.momentum, takers.arbitrage, ...takers.gamblers];
  return [...first, ...otherMakers, ...otherNoise, ...last];
}
