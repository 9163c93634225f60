/** Turns intents into commands against one engine, and hands every step to the observer. */
import {
  type Command,
  LIMIT_ORDER,
  MARKET_ORDER,
  type MarketAction,
  type OrderType,
  type PlaceOrder,
  STOP_ORDER,
} from "../../commands.js";
import type { CohortStage } from "../../config.js";
import { Engine } from "../../engine.js";
import type { VenueEvent } from "../../events/event-table.js";
import { ENGINE_VERSION } from "../../versions.js";
import type { Intent, Kind } from "./intents.js";
import { CONFIG, DEPOSITS, START_MS, START_TICKS, TRADERS } from "./listing.js";

const TYPES: Readonly<Record<Kind, OrderType>> = {
  market: MARKET_ORDER,
  limit: LIMIT_ORDER,
  stop: STOP_ORDER,
};
const TICK_MS = 200;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export type Observer = (command: Command, events: readonly VenueEvent[], engine: Engine) => void;

interface Party {
  readonly address: string;
  readonly sessions: number[];
  signIns: number;
}

export class Driver {
  engine = new Engine();
  /** The true price of each market, and whether its feed runs. */
  private readonly prices: number[] = [...START_TICKS];
  private readonly feeds: boolean[] = START_TICKS.map(() => true);
  private readonly parties: Party[] = [];
  private nonce = 0;

  constructor(
    private readonly observe: Observer,
    private readonly isRestoring = true,
  ) {
    this.apply({
      kind: "Genesis",
      stampMs: START_MS,
      config: CONFIG,
      cohort: "open",
      engineVersion: ENGINE_VERSION,
    });
    this.report();
    for (let who = 0; who < TRADERS; who++) {
      const address = (who + 1).toString(16).padStart(40, "0");
      this.parties.push({ address, sessions: [], signIns: 0 });
      this.signIn(who, 0, 0);
      this.deposit(who, DEPOSITS[who]!);
    }
  }

  run(intent: Intent): void {
    if (intent.act === "order") this.order(intent);
    if (intent.act === "exit") this.exit(intent);
    if (intent.act === "quote") this.quote(intent);
    if (intent.act === "cancel") this.cancel(intent.who, intent.nth);
    if (intent.act === "cancelAll") this.cancelAll(intent.who, -1);
    if (intent.act === "signIn") this.signIn(intent.who, intent.maxOrder, intent.maxNotional);
    if (intent.act === "deposit") this.deposit(intent.who, intent.micros);
    if (intent.act === "cohort") this.cohort(intent.stage, intent.allowed);
    if (intent.act === "control") this.control(intent.market, intent.action, intent.ppm);
    if (intent.act === "move") this.move(intent.market, intent.ppm);
    if (intent.act === "feed") this.feeds[intent.market] = intent.isOn;
    if (intent.act === "ticks") this.ticks(intent.count);
    if (intent.act === "resume") this.apply({ kind: "Resume", stampMs: this.now + intent.ms });
    if (intent.act === "hour") this.hour();
    if (intent.act === "restore" && this.isRestoring) {
      this.engine = Engine.restore(this.engine.snapshot());
    }
  }

  private get now(): number {
    return this.engine.state.timeMs;
  }

  private apply(command: Command): void {
    const events = this.engine.apply(command).decode();
    this.observe(command, events, this.engine);
  }

  private cancelAll(who: number, market: number): void {
    const session = this.sessionOf(who, 0);
    this.apply({ kind: "CancelAll", stampMs: this.now, session, market });
  }

  private cohort(stage: CohortStage, allowed: number): void {
    const allow: string[] = [];
    const disallow: string[] = [];
    this.parties.forEach(({ address }, who) => {
      ((allowed & (1 << who)) !== 0 ? allow : disallow).push(address);
    });
    this.apply({
      kind: "SetCohort",
      stampMs: this.now,
      expiresAtMs: this.now + 60_000,
      stage,
      allow,
      disallow,
    });
  }

  private control(market: number, action: MarketAction, ppm: number): void {
    const stampMs = this.now;
    const expiresAtMs = stampMs + 1_000;
    const price = Math.round(this.prices[market]! * (1 + ppm / 1_000_000));
    const priceTicks = action === "settle" ? price : 0;
    this.apply({ kind: "ControlMarket", stampMs, expiresAtMs, market, action, priceTicks });
  }

  /** In a long stretch the feeds report once a second. */
  private ticks(count: number): void {
    for (let i = 0; i < count; i++) this.tick(count < 15 || i % 5 === 0);
  }

  private tick(isReporting: boolean): void {
    if (isReporting) this.report();
    this.apply({ kind: "Tick", slot: this.engine.state.lastTickMs / TICK_MS + 1 });
  }

  /** Index updates of every feed that runs. */
  private report(): void {
    this.prices.forEach((indexTicks, market) => {
      if (!this.feeds[market]) return;
      this.apply({ kind: "UpdateIndex", stampMs: this.now, market, indexTicks });
    });
  }

  private move(market: number, ppm: number): void {
    const start = START_TICKS[market]!;
    const moved = Math.round(this.prices[market]! * (1 + ppm / 1_000_000));
    this.prices[market] = Math.min(start * 8, Math.max(Math.round(start / 8), moved));
    this.report();
  }

  /** Over the next whole hour, with samples of the premium before it. */
  private hour(): void {
    const next = (Math.floor(this.now / HOUR_MS) + 1) * HOUR_MS;
    for (let i = 0; i < 3; i++) this.tick(true);
    this.apply({ kind: "Resume", stampMs: next - TICK_MS });
    for (let i = 0; i < 3; i++) this.tick(true);
  }

  private signIn(who: number, maxOrder: number, maxNotional: number): void {
    const party = this.parties[who]!;
    party.signIns++;
    const stampMs = this.now;
    this.apply({
      kind: "OpenSession",
      stampMs,
      address: party.address,
      key: "key",
      tokenHash: `${party.address} ${party.signIns}`,
      expiresAtMs: stampMs + 30 * DAY_MS,
      siweNonce: `${party.signIns}`,
      siweNonceUntilMs: stampMs + 600_000,
      maxOrderNotionalMicros: maxOrder,
      maxNotionalMicros: maxNotional,
      markets: [],
    });
    party.sessions.unshift(this.engine.seq);
    party.sessions.splice(3);
  }

  private deposit(who: number, amountMicros: number): void {
    const { address } = this.parties[who]!;
    const stampMs = this.now;
    const txHash = (this.engine.seq + 1).toString(16).padStart(64, "0");
    const session = this.sessionOf(who, 0);
    const chain = "ethereum";
    this.apply({ kind: "RegisterDeposit", stampMs, session, chain, txHash, token: "USDC" });
    this.apply({
      kind: "AttestDeposit",
      stampMs,
      attestor: 0,
      depositId: this.engine.seq,
      verdict: "credit",
      votedAtMs: 1,
      confirmations: 1,
      required: 1,
      credits: [{ address, amountMicros, logIndex: 0 }],
      reason: "",
    });
  }

  private sessionOf(who: number, nth: number): number {
    const { sessions } = this.parties[who]!;
    return sessions[nth % sessions.length]!;
  }

  private accountOf(who: number): number {
    return this.engine.state.addresses.get(this.parties[who]!.address)!;
  }

  private cancel(who: number, nth: number): void {
    const { orders } = this.engine.state;
    const account = this.accountOf(who);
    const own = orders.openRows().filter((row) => orders.account(row) === account);
    if (own.length === 0) return;
    const orderId = orders.id(own[nth % own.length]!);
    const session = this.sessionOf(who, 0);
    this.apply({ kind: "CancelOrder", stampMs: this.now, session, orderId });
  }

  private order(intent: Extract<Intent, { act: "order" }>): void {
    const wallet = this.engine.state.wallet(this.accountOf(intent.who));
    const marginMicros = Math.floor((wallet * intent.wallet) / 1_000);
    this.place(intent, intent.side, marginMicros, intent.postOnly);
  }

  private exit(intent: Extract<Intent, { act: "exit" }>): void {
    const market = this.engine.state.markets[intent.market]!;
    const row = market.positions.rowOf(this.accountOf(intent.who));
    const lots = row < 0 ? 0 : market.positions.lots(row);
    if (lots === 0) return;
    const notional = Math.abs(lots) * market.mark * market.microsPerTickLot;
    const marginMicros = Math.ceil((notional * intent.size) / 1_000 / intent.leverage);
    this.place(intent, lots > 0 ? -1 : 1, marginMicros, false);
  }

  private quote(intent: Extract<Intent, { act: "quote" }>): void {
    const { who, market, micros } = intent;
    this.cancelAll(who, market);
    for (let level = 1; level <= intent.levels; level++) {
      for (const side of [1, -1] as const) {
        const offset = -intent.spread * level;
        const terms = { who, market, type: "limit" as const, leverage: 5, offset, session: 0 };
        this.place({ ...terms, reduceOnly: false }, side, Math.ceil(micros / 5), false);
      }
    }
  }

  private place(
    terms: {
      readonly who: number;
      readonly market: number;
      readonly type: Kind;
      readonly leverage: number;
      readonly offset: number;
      readonly reduceOnly: boolean;
      readonly session: number;
    },
    side: 1 | -1,
    marginMicros: number,
    postOnly: boolean,
  ): void {
    const { mark, config } = this.engine.state.markets[terms.market]!;
    const isStop = terms.type === "stop";
    // A stop waits beyond the mark; a limit with a positive offset is ready to cross it.
    const offset = isStop ? Math.abs(terms.offset) : terms.offset;
    const price = Math.round(mark * (1 + (side * offset) / 1_000_000));
    const command: PlaceOrder = {
      kind: "PlaceOrder",
      stampMs: this.now,
      session: this.sessionOf(terms.who, terms.session),
      key: "key",
      nonce: ++this.nonce,
      market: terms.market,
      side,
      type: TYPES[terms.type],
      marginMicros,
      leverage: Math.min(terms.leverage, config.tiers[0]!.maxLeverage),
      priceTicks: terms.type === "market" ? 0 : price,
      reduceOnly: terms.reduceOnly,
      postOnly,
    };
    this.apply(command);
  }
}
