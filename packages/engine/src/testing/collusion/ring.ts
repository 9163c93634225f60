/**
 * A ring of accomplices who have a venue to themselves: nobody else quotes, nobody else is harmed
 * but the insurance fund. They see everything, and act in any order between two ticks. After each
 * command a watcher receives the events; the test decides what it checks.
 */
import {
  type Command,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type OrderTypeCode,
  SHORT,
  type Side,
} from "../../commands.js";
import { Engine } from "../../engine.js";
import type { VenueEvent } from "../../events/event-table.js";
import { fundingOwed } from "../../money/owed-funding.js";
import type { Market } from "../../state/market.js";
import { NONE } from "../../state/orders.js";
import { ENGINE_VERSION } from "../../versions.js";
import { addressOf, genesis, openSession, plainOrder } from "../commands.js";
import { hasIndexSlot, indexSlot } from "../index-slot.js";
import { type Listing, venueConfig } from "../scenarios/listing.js";
import { SoleWriter } from "../sole-writer.js";

export const HOUR_MS = 3_600_000;
const START_MS = 486_112 * HOUR_MS;
/** The index is repeated before it is this old. */
const FRESH_MS = 8_000;

export interface RingTerms {
  readonly listing: Listing;
  readonly members: number;
  readonly depositMicros: number;
  readonly seedMicros: number;
  readonly capMicros: number;
  readonly indexTicks: number;
  /** Accounts of others, numbered after the members. */
  readonly bystanders?: number;
  readonly version?: number;
}

export type Watcher = (ring: Ring, command: Command, events: readonly VenueEvent[]) => void;

export class Ring {
  readonly engine = new Engine();
  readonly market: Market;
  indexTicks: number;
  /** Commands so far, as text: what to print when the ring wins. */
  readonly story: Command[] = [];
  /** What the fund has paid so far for the backstop's funding, less what it received. */
  backstopFunding = 0;
  private readonly sessions: number[] = [];
  private nonce = 0;
  private readonly writer = new SoleWriter();

  constructor(
    readonly terms: RingTerms,
    private readonly watch: Watcher,
  ) {
    this.indexTicks = terms.indexTicks;
    const config = venueConfig([terms.listing], {
      fundSeedMicros: terms.seedMicros,
      backstopCapMicros: terms.capMicros,
      attestorKind: "dev",
      devCreditMicros: terms.depositMicros,
    });
    const engineVersion = terms.version ?? ENGINE_VERSION;
    this.send({ ...genesis(START_MS, config), engineVersion });
    this.market = this.engine.state.markets[0]!;
    this.send(this.writer.joins(START_MS));
    this.setsIndex(this.indexTicks);
    const accounts = terms.members + (terms.bystanders ?? 0);
    for (let member = 0; member < accounts; member++) this.joins(member);
  }

  get now(): number {
    return this.engine.state.timeMs;
  }

  get mark(): number {
    return this.market.mark;
  }

  send(command: Command): VenueEvent[] {
    this.story.push(command);
    this.writer.sends(this.engine, command);
    const events = this.engine.apply(command).decode();
    for (const event of events) {
      if (event.kind === "FundingApplied") this.backstopFunding += event.backstopMicros;
    }
    if (this.market !== undefined) this.watch(this, command, events);
    return events;
  }

  private joins(member: number): void {
    const expiresAtMs = START_MS + 10_000 * HOUR_MS;
    this.send(openSession({ stampMs: this.now, address: addressOf(member + 1), expiresAtMs }));
    this.sessions.push(this.engine.seq);
  }

  setsIndex(ticks: number): void {
    this.indexTicks = ticks;
    const { state } = this.engine;
    if (!hasIndexSlot(state, 0)) this.send({ kind: "Tick", slot: state.lastTickMs / 200 + 1 });
    const slot = indexSlot(state, 0);
    this.send({ kind: "UpdateIndex", stampMs: this.now, market: 0, indexTicks: ticks, slot });
  }

  /** One tick, that many 200 ms slots after the last. */
  tick(slots = 1): void {
    const { lastTickMs } = this.engine.state;
    if (lastTickMs + slots * 200 - this.market.indexAtMs > FRESH_MS) {
      this.setsIndex(this.indexTicks);
    }
    this.send({ kind: "Tick", slot: lastTickMs / 200 + slots });
  }

  /** A pause of the venue until just before that time, then a fresh index. */
  sleepsUntil(ms: number): void {
    this.send({ kind: "AskTime", stampMs: ms });
    this.setsIndex(this.indexTicks);
  }

  /** The tick of the next whole hour; in an outage the index is stale by then. */
  passesHour(outage: boolean): void {
    const before = (Math.floor(this.now / HOUR_MS) + 1) * HOUR_MS - 200;
    if (!outage) this.sleepsUntil(before);
    else this.send({ kind: "AskTime", stampMs: before });
    this.send({ kind: "Tick", slot: this.engine.state.lastTickMs / 200 + 1 });
  }

  /** An order for `lots`; its margin is computed from its price. */
  order(
    member: number,
    side: Side,
    type: OrderTypeCode,
    priceTicks: number,
    lots: number,
    leverage: number,
    reduceOnly = false,
  ): VenueEvent[] {
    const ref = type === MARKET_ORDER ? this.mark : priceTicks;
    const notional = lots * ref * this.market.microsPerTickLot;
    const order = plainOrder({
      stampMs: this.now,
      session: this.sessions[member]!,
      nonce: this.nonce++,
      side,
      type,
      marginMicros: Math.max(1, Math.ceil(notional / leverage)),
      leverage,
      priceTicks: type === MARKET_ORDER ? 0 : priceTicks,
      reduceOnly,
    });
    return this.send(order);
  }

  /** One buys from the other at a price of their choosing. */
  crosses(
    buyer: number,
    seller: number,
    priceTicks: number,
    lots: number,
    leverages: readonly [buyer: number, seller: number],
    makerBuys: boolean,
  ): void {
    const buy = () => this.order(buyer, LONG, LIMIT_ORDER, priceTicks, lots, leverages[0]);
    const sell = () => this.order(seller, SHORT, LIMIT_ORDER, priceTicks, lots, leverages[1]);
    if (makerBuys) buy();
    sell();
    if (!makerBuys) buy();
  }

  cancels(member: number): void {
    const session = this.sessions[member]!;
    this.send({ kind: "CancelAll", stampMs: this.now, session, market: -1 });
  }

  lotsOf(member: number): number {
    const { positions } = this.market;
    const row = positions.rowOf(member + 1);
    return row === NONE ? 0 : positions.lots(row);
  }

  walletOf(member: number): number {
    return this.engine.state.wallet(member + 1);
  }

  /**
   * The fund with the backstop's position at the index. Since all money adds up, the ring has gained
   * at its cost exactly if this has shrunk.
   */
  fundAtIndex(): number {
    const { market } = this;
    const unit = this.indexTicks * market.microsPerTickLot;
    const position = market.backstopLots * unit - market.backstopCost;
    return this.engine.state.totals.fund + position;
  }

  /** What the members could call their own, with positions at the index. */
  membersAtIndex(): number {
    const { market, engine } = this;
    const unit = this.indexTicks * market.microsPerTickLot;
    let sum = 0;
    for (let member = 0; member < this.terms.members; member++) {
      sum += engine.state.wallet(member + 1);
      const row = market.positions.rowOf(member + 1);
      if (row === NONE) continue;
      const { positions } = market;
      sum += positions.margin(row) + positions.reserved(row);
      sum += positions.lots(row) * unit - positions.cost(row);
      sum -= fundingOwed(market, row);
    }
    return sum;
  }
}
