/** Turns intents into commands against one engine, and hands every step to the observer. */
import type { Command, MarketAction } from "../../commands.js";
import type { CohortStage } from "../../config.js";
import { Engine } from "../../engine.js";
import type { VenueEvent } from "../../events/event-table.js";
import type { RuleSet } from "../../versions.js";
import { addressOf, creditVote, genesis, openSession, setCohort } from "../commands.js";
import { hasIndexSlot, indexSlot } from "../index-slot.js";
import { SoleWriter } from "../sole-writer.js";
import type { BatchOperation, Intent } from "./intents.js";
import { CONFIG, DEPOSITS, DOLLAR, START_MS, START_TICKS, TRADERS } from "./listing.js";
import {
  amendment,
  marginChange,
  ownOrders,
  placement,
  protection,
  type Sender,
  type Wish,
} from "./order-commands.js";

const TICK_MS = 200;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** At most as far as a position of the highest leverage can fall. */
const STOP_LOSS = {
  act: "exit",
  type: "stop",
  size: 1_000,
  leverage: 5,
  offset: 3_000,
  reduceOnly: false,
  session: 0,
} as const;

/** Returns whether the venue is restored from a snapshot before the next command. */
export type Observer = (command: Command, events: readonly VenueEvent[], engine: Engine) => boolean;

interface Party {
  readonly address: string;
  readonly sessions: number[];
  signIns: number;
}

export class Driver {
  engine: Engine;
  /** The true price of each market, and whether its feed runs. */
  private readonly prices: number[] = [...START_TICKS];
  private readonly feeds: boolean[] = START_TICKS.map(() => true);
  private readonly parties: Party[] = [];
  private nonce = 0;
  private readonly writer = new SoleWriter();

  constructor(
    private readonly observe: Observer,
    private readonly isRestoring: boolean,
    private readonly ruleSets: readonly RuleSet[],
  ) {
    this.engine = Engine.knowing(ruleSets);
    this.apply(genesis(START_MS, CONFIG));
    this.apply(this.writer.joins(START_MS));
    this.report();
    for (let who = 0; who < TRADERS; who++) {
      const address = addressOf(who + 1);
      this.parties.push({ address, sessions: [], signIns: 0 });
      this.signIn(who, 0, 0);
      this.deposit(who, DEPOSITS[who]!);
    }
  }

  run(intent: Intent): void {
    if (intent.act === "order") this.order(intent);
    if (intent.act === "exit") this.exit(intent);
    if (intent.act === "quote") this.quote(intent);
    if (intent.act === "crowd") this.crowd(intent);
    if (intent.act === "protect") this.protect(intent);
    if (intent.act === "amend") this.amend(intent);
    if (intent.act === "margin") this.changeMargin(intent);
    if (intent.act === "batch") this.batch(intent);
    if (intent.act === "cancel") this.cancel(intent.who, intent.nth);
    if (intent.act === "cancelAll") this.cancelAll(intent.who, -1);
    if (intent.act === "signIn") this.signIn(intent.who, intent.maxOrder, intent.maxNotional);
    if (intent.act === "deposit") this.deposit(intent.who, intent.micros);
    if (intent.act === "cohort") this.cohort(intent.stage, intent.allowed);
    if (intent.act === "control") this.control(intent.market, intent.action, intent.ppm);
    if (intent.act === "move") this.move(intent.market, intent.ppm);
    if (intent.act === "feed") this.feeds[intent.market] = intent.isOn;
    if (intent.act === "ticks") this.ticks(intent.count);
    if (intent.act === "resume") this.restart(this.now + intent.ms);
    if (intent.act === "hour") this.hour();
    if (intent.act === "restore") this.restore();
  }

  private get now(): number {
    return this.engine.state.timeMs;
  }

  private apply(command: Command): void {
    this.writer.sends(this.engine, command);
    const events = this.engine.apply(command).decode();
    if (this.observe(command, events, this.engine)) this.restore();
  }

  private restore(): void {
    if (this.isRestoring) this.engine = Engine.restore(this.engine.snapshot(), this.ruleSets);
  }

  /** The gateway starts again; after a second or more time jumps. */
  private restart(ms: number): void {
    this.apply(this.writer.joins(ms));
    this.apply({ kind: "AskTime", stampMs: ms });
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
    this.apply(setCohort(this.now, stage, allow, disallow));
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
      if (!hasIndexSlot(this.engine.state, market)) this.tick(false);
      const slot = indexSlot(this.engine.state, market);
      this.apply({ kind: "UpdateIndex", stampMs: this.now, market, indexTicks, slot });
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
    this.apply({ kind: "AskTime", stampMs: next - TICK_MS });
    for (let i = 0; i < 3; i++) this.tick(true);
  }

  private signIn(who: number, maxOrder: number, maxNotional: number): void {
    const party = this.parties[who]!;
    party.signIns++;
    const stampMs = this.now;
    this.apply(
      openSession({
        stampMs,
        address: party.address,
        tokenHash: `${party.address} ${party.signIns}`,
        expiresAtMs: stampMs + 30 * DAY_MS,
        siweNonce: `${party.signIns}`,
        maxOrderNotionalMicros: maxOrder,
        maxNotionalMicros: maxNotional,
      }),
    );
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
    const credits = [{ address, amountMicros, logIndex: 0 }];
    this.apply(creditVote({ stampMs, depositId: this.engine.seq, credits }));
  }

  private sessionOf(who: number, nth: number): number {
    const { sessions } = this.parties[who]!;
    return sessions[nth % sessions.length]!;
  }

  private accountOf(who: number): number {
    return this.engine.state.addresses.get(this.parties[who]!.address)!;
  }

  private cancel(who: number, nth: number): void {
    const orderId = this.orderOf(who, nth);
    const session = this.sessionOf(who, 0);
    if (orderId > 0) this.apply({ kind: "CancelOrder", stampMs: this.now, session, orderId });
  }

  /** 0: the account has no open order. */
  private orderOf(who: number, nth: number): number {
    const own = ownOrders(this.engine, this.accountOf(who));
    return own.length === 0 ? 0 : this.engine.state.orders.id(own[nth % own.length]!);
  }

  /** Of a new command, with the next nonce. */
  private senderOf(who: number, nth: number): Sender {
    const session = this.sessionOf(who, nth);
    return { stampMs: this.now, session, key: "key", nonce: ++this.nonce };
  }

  private order(intent: Extract<Intent, { act: "order" }>): void {
    this.place(intent.who, intent.session, this.wishOf(intent));
  }

  private wishOf(intent: Extract<Intent, { act: "order" }>): Wish {
    const wallet = this.engine.state.wallet(this.accountOf(intent.who));
    return { ...intent, marginMicros: Math.floor((wallet * intent.wallet) / 1_000) };
  }

  private exit(intent: Extract<Intent, { act: "exit" }>): void {
    const { mark, microsPerTickLot } = this.engine.state.markets[intent.market]!;
    const lots = this.lotsOf(intent.who, intent.market);
    if (lots === 0) return;
    const notional = Math.abs(lots) * mark * microsPerTickLot;
    const marginMicros = Math.ceil((notional * intent.size) / 1_000 / intent.leverage);
    const side = lots > 0 ? -1 : 1;
    this.place(intent.who, intent.session, { ...intent, side, marginMicros, postOnly: false });
  }

  private lotsOf(who: number, market: number): number {
    const { positions } = this.engine.state.markets[market]!;
    const row = positions.rowOf(this.accountOf(who));
    return row < 0 ? 0 : positions.lots(row);
  }

  private quote(intent: Extract<Intent, { act: "quote" }>): void {
    const { who, market, micros } = intent;
    this.cancelAll(who, market);
    const wish = {
      market,
      type: "limit",
      leverage: 5,
      reduceOnly: false,
      postOnly: false,
    } as const;
    for (let level = 1; level <= intent.levels; level++) {
      for (const side of [1, -1] as const) {
        const offset = -intent.spread * level;
        const marginMicros = Math.ceil(micros / 5);
        this.place(who, 0, { ...wish, offset, side, marginMicros });
      }
    }
  }

  /** The first two accounts trade against all others; the last one has no stop. */
  private crowd({ market, side, micros, ppm }: Extract<Intent, { act: "crowd" }>): void {
    const wish = { market, reduceOnly: false, postOnly: false, offset: 0 };
    micros.forEach((notional, i) => {
      const who = i + 2;
      this.deposit(who, DOLLAR * 5);
      const maker = { ...wish, type: "limit", leverage: 5, marginMicros: notional } as const;
      this.place(i % 2, 0, { ...maker, side: side > 0 ? -1 : 1 });
      const { maxLeverage } = this.engine.state.markets[market]!.config.tiers[0]!;
      const marginMicros = Math.ceil(notional / maxLeverage);
      this.place(who, 0, { ...wish, type: "market", leverage: maxLeverage, side, marginMicros });
      if (i % 2 === 0) this.exit({ ...STOP_LOSS, who, market });
    });
    this.move(market, ppm);
    this.tick(true);
  }

  private place(who: number, nth: number, wish: Wish): void {
    this.apply(placement(this.engine, this.senderOf(who, nth), wish));
  }

  private protect({ who, market, offset, session }: Extract<Intent, { act: "protect" }>): void {
    const side = this.lotsOf(who, market) > 0 ? -1 : 1;
    this.apply(protection(this.engine, this.senderOf(who, session), { market, side, offset }));
  }

  private amend(intent: Extract<Intent, { act: "amend" }>): void {
    const sender = this.senderOf(intent.who, intent.session);
    this.apply(amendment(this.engine, sender, this.accountOf(intent.who), intent));
  }

  private changeMargin(intent: Extract<Intent, { act: "margin" }>): void {
    const sender = this.senderOf(intent.who, 0);
    this.apply(marginChange(this.engine, sender, this.accountOf(intent.who), intent));
  }

  private batch({ who, session, operations }: Extract<Intent, { act: "batch" }>): void {
    const sender = this.senderOf(who, session);
    const { key, nonce } = sender;
    operations.forEach((operation, index) => {
      const batch = { index, count: operations.length, key, nonce };
      this.apply({ ...this.operationOf(who, sender, operation), batch });
    });
  }

  private operationOf(who: number, sender: Sender, operation: BatchOperation) {
    if (operation.act === "order") {
      return placement(this.engine, sender, this.wishOf({ ...operation, who }));
    }
    if (operation.act === "amend") {
      return amendment(this.engine, sender, this.accountOf(who), operation);
    }
    const { stampMs, session } = sender;
    const orderId = this.orderOf(who, operation.nth);
    return { kind: "CancelOrder", stampMs, session, orderId } as const;
  }
}
