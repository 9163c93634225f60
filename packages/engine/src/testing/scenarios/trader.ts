/** One trader of a scenario: what it sends, and what it owns. */
import { EXIT_KINDS, exitId } from "@perpgate/protocol/order-id";
import {
  type AmendOrder,
  CANCEL_BOTH,
  CANCEL_RESTING,
  CANCEL_TAKER,
  type ChangeMargin,
  type Command,
  FILL_OR_KILL,
  GOOD_TILL_CANCELED,
  IMMEDIATE_OR_CANCEL,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type OpenSession,
  type OrderExits,
  type OrderExtras,
  type OrderTypeCode,
  type RegisterDeposit,
  SHORT,
  type Side,
  STOP_ORDER,
  STOP_TRIGGER,
  TAKE_PROFIT_TRIGGER,
  type Withdraw,
} from "../../commands.js";
import type { Engine } from "../../engine.js";
import { type EventKind, type EventOf, ORDER_STATUSES } from "../../events/event-table.js";
import { equityOf } from "../../money/fill.js";
import { type SettledFigures, settledFigures } from "../../money/owed-funding.js";
import { END_REASONS, REFUSALS } from "../../reasons.js";
import type { Market } from "../../state/market.js";
import { NONE } from "../../state/orders.js";
import { addressOf, creditVote, openSession } from "../commands.js";
import { type Listing, MICROS } from "./listing.js";

/** The venue that a trader trades at. */
interface TradedVenue {
  readonly engine: Engine;
  readonly now: number;
  readonly listings: readonly Listing[];
  /** Of the last command. */
  readonly refusal: string | null;
  apply(command: Command): unknown;
  happened<K extends EventKind>(kind: K): EventOf<K>[];
  market(listing: Listing): Market;
  marketNumber(listing: Listing): number;
}

export type Words = "market" | "limit" | "stop";
const TYPES: Readonly<Record<Words, OrderTypeCode>> = {
  market: MARKET_ORDER,
  limit: LIMIT_ORDER,
  stop: STOP_ORDER,
};

const TIMES_IN_FORCE = {
  gtc: GOOD_TILL_CANCELED,
  ioc: IMMEDIATE_OR_CANCEL,
  fok: FILL_OR_KILL,
} as const;
const SELF_TRADES = {
  cancelResting: CANCEL_RESTING,
  cancelTaker: CANCEL_TAKER,
  cancelBoth: CANCEL_BOTH,
} as const;

export interface Terms {
  /** Dollars; not needed with a size. */
  readonly margin?: number;
  /** Coins. */
  readonly size?: number;
  readonly timeInForce?: keyof typeof TIMES_IN_FORCE;
  readonly expiresAt?: number;
  readonly clientOrderId?: string;
  readonly selfTrade?: keyof typeof SELF_TRADES;
  readonly validUntil?: number;
  /** Default: 10. */
  readonly leverage?: number;
  /** Dollars. */
  readonly price?: number;
  readonly reduceOnly?: boolean;
  readonly postOnly?: boolean;
  /** Of a stop: triggers from the other side. */
  readonly takeProfit?: boolean;
  /** Of a stop once it is triggered, in dollars. */
  readonly limit?: number;
  readonly closePosition?: boolean;
  /** Attached exits: price, or price and limit, in dollars. */
  readonly profitAt?: number | readonly [price: number, limit: number];
  readonly lossAt?: number | readonly [price: number, limit: number];
  readonly nonce?: number;
  readonly market?: Listing;
  readonly key?: string;
}

/** What an amendment changes; what is left out stays as it was. */
type AmendedTerms = Pick<Terms, "price" | "size" | "limit" | "expiresAt">;

/** What became of an order: sizes in coins, money in dollars. */
export interface Answer {
  readonly status: "filled" | "resting" | "pending" | "canceled" | "refused" | "replayed";
  /** Why it was refused, or why it ended without filling; "none" otherwise. */
  readonly reason: string;
  /** What a refusal names, in the engine's integers. */
  readonly details: readonly [number, number];
  readonly orderId: number;
  readonly filled: number;
  readonly remaining: number;
  readonly spent: number;
  readonly fee: number;
  readonly block: number;
}

const NOTHING = { orderId: 0, filled: 0, remaining: 0, spent: 0, fee: 0, block: 0 };

export class Trader {
  readonly address: string;
  session = 0;
  key: string;
  private nonce = 0;
  private signIns = 0;

  constructor(
    private readonly venue: TradedVenue,
    readonly name: string,
    number: number,
  ) {
    this.address = addressOf(number);
    this.key = `key of ${name}`;
  }

  get account(): number {
    return this.venue.engine.state.addresses.get(this.address) ?? 0;
  }

  /** A new sign-in; later orders use its session. */
  signsIn(changes: Partial<OpenSession> = {}): number {
    this.signIns++;
    const stampMs = this.venue.now;
    const { address, key } = this;
    const tokenHash = `token ${address} ${this.signIns}`;
    const siweNonce = `sign-in ${this.signIns}`;
    this.venue.apply(openSession({ stampMs, address, key, tokenHash, siweNonce, ...changes }));
    const opened = this.venue.happened("SessionOpened")[0];
    if (opened !== undefined) this.session = opened.session;
    return this.session;
  }

  /** Dollars from a chain, attested immediately. */
  deposits(dollars: number): void {
    const { venue } = this;
    const txHash = (venue.engine.seq + 1).toString(16).padStart(64, "0");
    const depositId = this.registers({ txHash });
    const amountMicros = Math.round(dollars * MICROS);
    const credits = [{ address: this.address, amountMicros, logIndex: 0 }];
    venue.apply(creditVote({ stampMs: venue.now, depositId, credits }));
  }

  /** Registers a transaction; returns the deposit's id, or 0 if it was refused. */
  registers(changes: Partial<RegisterDeposit> = {}): number {
    const sender = { stampMs: this.venue.now, session: this.session };
    const moved = { chain: "ethereum", txHash: "ab", token: "USDC" };
    this.venue.apply({ kind: "RegisterDeposit", ...sender, ...moved, ...changes });
    return this.venue.happened("DepositRegistered")[0]?.depositId ?? 0;
  }

  buys(type: Words, terms: Terms): Answer {
    return this.places(LONG, type, terms);
  }

  sells(type: Words, terms: Terms): Answer {
    return this.places(SHORT, type, terms);
  }

  places(side: Side, type: Words, terms: Terms): Answer {
    this.venue.apply(this.order(side, type, terms));
    return this.answer(terms.market ?? this.venue.listings[0]!);
  }

  /** The command without sending it. */
  order(side: Side, type: Words, terms: Terms): Extract<Command, { kind: "PlaceOrder" }> {
    const listing = terms.market ?? this.venue.listings[0]!;
    return {
      kind: "PlaceOrder",
      stampMs: this.venue.now,
      session: this.session,
      key: terms.key ?? this.key,
      nonce: terms.nonce ?? ++this.nonce,
      market: this.venue.marketNumber(listing),
      side,
      type: TYPES[type],
      marginMicros: Math.round((terms.margin ?? 0) * MICROS),
      leverage: terms.leverage ?? 10,
      priceTicks: Math.round((terms.price ?? 0) * listing.ticksPerDollar),
      reduceOnly: terms.reduceOnly ?? false,
      postOnly: terms.postOnly ?? false,
      ...extrasOf(type, terms, listing),
      ...exitsOf(terms, listing),
    };
  }

  private answer(listing: Listing): Answer {
    const { venue } = this;
    const refused = venue.happened("CommandRefused")[0];
    if (refused !== undefined) {
      const reason = REFUSALS[refused.refusal]!;
      return { ...NOTHING, status: "refused", reason, details: [refused.detail1, refused.detail2] };
    }
    const replayed = venue.happened("OrderReplayed")[0];
    if (replayed !== undefined) {
      const { orderId } = replayed;
      return { ...NOTHING, status: "replayed", reason: "none", details: [0, 0], orderId };
    }
    const ack = venue.happened("OrderAcknowledged")[0]!;
    return {
      status: ORDER_STATUSES[ack.status]!,
      reason: END_REASONS[ack.reason]!,
      details: [0, 0],
      orderId: ack.orderId,
      filled: ack.filledLots / listing.lotsPerCoin,
      remaining: ack.remainingLots / listing.lotsPerCoin,
      spent: ack.filledMicros / MICROS,
      fee: ack.feeMicros / MICROS,
      block: ack.block,
    };
  }

  /** Moves dollars into the margin of its position, or out of it; returns why not, or null. */
  changesMargin(dollars: number, changes: Partial<ChangeMargin> = {}): string | null {
    this.venue.apply({
      kind: "ChangeMargin",
      stampMs: this.venue.now,
      session: this.session,
      key: this.key,
      nonce: ++this.nonce,
      market: 0,
      amountMicros: Math.round(dollars * MICROS),
      ...changes,
    });
    return this.venue.refusal;
  }

  /** Asks for dollars to be paid on a chain; returns the withdrawal's id, or why not. */
  withdraws(dollars: number, changes: Partial<Withdraw> = {}): number | string {
    const { venue } = this;
    venue.apply({
      kind: "Withdraw",
      stampMs: venue.now,
      session: this.session,
      key: this.key,
      nonce: ++this.nonce,
      chain: "ethereum",
      token: "USDC",
      amountMicros: Math.round(dollars * MICROS),
      ...changes,
    });
    const requested = venue.happened("WithdrawalRequested")[0];
    return requested?.withdrawalId ?? venue.refusal ?? "replayed";
  }

  /** Amends an open order: prices in dollars, size in coins, filled ones included. */
  amends(
    orderId: number,
    { price = 0, size = 0, limit = 0, expiresAt = -1 }: AmendedTerms,
    changes: Partial<AmendOrder> = {},
  ): Answer {
    const listing = this.venue.listings[0]!;
    this.venue.apply({
      kind: "AmendOrder",
      stampMs: this.venue.now,
      session: this.session,
      key: this.key,
      nonce: ++this.nonce,
      market: 0,
      orderId,
      clientOrderId: "",
      priceTicks: Math.round(price * listing.ticksPerDollar),
      sizeLots: Math.round(size * listing.lotsPerCoin),
      limitTicks: Math.round(limit * listing.ticksPerDollar),
      expiresAtMs: expiresAt,
      validUntilMs: 0,
      ...changes,
    });
    return this.answer(listing);
  }

  cancels(orderId: number, validUntilMs?: number): string | null {
    const stampMs = this.venue.now;
    const cancel = { kind: "CancelOrder", stampMs, session: this.session, orderId } as const;
    this.venue.apply(validUntilMs === undefined ? cancel : { ...cancel, validUntilMs });
    return this.venue.refusal;
  }

  /** Wallet in dollars. */
  get wallet(): number {
    return this.venue.engine.state.wallet(this.account) / MICROS;
  }

  /** Position in coins and dollars. */
  position(listing: Listing = this.venue.listings[0]!): {
    size: number;
    cost: number;
    margin: number;
  } {
    return {
      size: this.figure("lots", listing) / listing.lotsPerCoin,
      cost: this.settled("costMicros", listing) / MICROS,
      margin: this.settled("marginMicros", listing) / MICROS,
    };
  }

  reserved(listing: Listing = this.venue.listings[0]!): number {
    return this.figure("reserved", listing) / MICROS;
  }

  /** Coins that the exits of an order cover: take profit and stop loss, null for one that is not open. */
  covered(orderId: number): readonly (number | null)[] {
    const { orders } = this.venue.engine.state;
    const { lotsPerCoin } = this.venue.listings[0]!;
    return EXIT_KINDS.map((kind) => {
      const order = orders.index.get(exitId(orderId, kind));
      return order === NONE ? null : orders.remaining(order) / lotsPerCoin;
    });
  }

  openOrders(listing: Listing = this.venue.listings[0]!): number {
    return this.figure("openOrders", listing);
  }

  realized(listing: Listing = this.venue.listings[0]!): number {
    return this.figure("realized", listing) / MICROS;
  }

  fundingPaid(listing: Listing = this.venue.listings[0]!): number {
    return this.settled("fundingMicros", listing) / MICROS;
  }

  /** Wallet, reserve and position at mark, in micros: what the trader could call its own. */
  equityMicros(): number {
    const { state } = this.venue.engine;
    let sum = state.wallet(this.account);
    for (const market of state.markets) {
      const row = market.positions.rowOf(this.account);
      if (row === NONE) continue;
      const { positions } = market;
      sum += equityOf(market, row) + positions.reserved(row);
    }
    return sum;
  }

  private figure(name: "lots" | "reserved" | "openOrders" | "realized", listing: Listing): number {
    const { positions } = this.venue.market(listing);
    const row = positions.rowOf(this.account);
    return row === NONE ? 0 : positions[name](row);
  }

  /** As a reader sees it: funding that is not settled yet counts. */
  private settled(name: keyof SettledFigures, listing: Listing): number {
    const market = this.venue.market(listing);
    const row = market.positions.rowOf(this.account);
    return row === NONE ? 0 : settledFigures(market, row)[name];
  }
}

/** The terms that plain orders lack; nothing for a plain order. */
function extrasOf(type: Words, terms: Terms, listing: Listing): { extras?: OrderExtras } {
  const { size, timeInForce, expiresAt, clientOrderId, selfTrade, validUntil } = terms;
  const { takeProfit, limit, closePosition } = terms;
  const given = [size, timeInForce, expiresAt, clientOrderId, selfTrade, validUntil];
  const ofStops = [takeProfit, limit, closePosition];
  if ([...given, ...ofStops].every((term) => term === undefined)) return {};
  const force = timeInForce ?? (type === "limit" || limit !== undefined ? "gtc" : "ioc");
  return {
    extras: {
      sizeLots: Math.round((size ?? 0) * listing.lotsPerCoin),
      timeInForce: TIMES_IN_FORCE[force],
      expiresAtMs: expiresAt ?? 0,
      clientOrderId: clientOrderId ?? "",
      trigger: takeProfit === true ? TAKE_PROFIT_TRIGGER : STOP_TRIGGER,
      limitTicks: Math.round((limit ?? 0) * listing.ticksPerDollar),
      closePosition: closePosition ?? false,
      selfTrade: SELF_TRADES[selfTrade ?? "cancelResting"],
      validUntilMs: validUntil ?? 0,
    },
  };
}

/** The attached exits; nothing for an order without any. */
function exitsOf({ profitAt, lossAt }: Terms, { ticksPerDollar }: Listing): { exits?: OrderExits } {
  if (profitAt === undefined && lossAt === undefined) return {};
  const leg = (given: Terms["profitAt"]): [number, number] => {
    const [price, limit] = typeof given === "object" ? given : [given ?? 0, 0];
    return [Math.round(price * ticksPerDollar), Math.round(limit * ticksPerDollar)];
  };
  const [takeProfitTicks, takeProfitLimitTicks] = leg(profitAt);
  const [stopLossTicks, stopLossLimitTicks] = leg(lossAt);
  return { exits: { takeProfitTicks, takeProfitLimitTicks, stopLossTicks, stopLossLimitTicks } };
}
