/**
 * A venue for scenarios, in a trader's words: prices and money in dollars, sizes in coins. It drives
 * the engine with commands and reads its state back; every command is followed by an audit of the
 * whole state, so a scenario fails at the first figure that does not add up.
 */
import { audit } from "../../audit.js";
import type { AmendOrder, Command, MarketAction, OpenSession } from "../../commands.js";
import type { CohortStage, VenueConfig } from "../../config.js";
import { Engine } from "../../engine.js";
import type { EventKind, EventOf, VenueEvent } from "../../events/event-table.js";
import { END_REASONS, REFUSALS } from "../../reasons.js";
import { MARKET_STATUSES, type Market } from "../../state/market.js";
import { ENGINE_VERSION, RULE_SETS, type RuleSet } from "../../versions.js";
import { genesis } from "../commands.js";
import { indexSlot } from "../index-slot.js";
import { SoleWriter } from "../sole-writer.js";
import { BTC, type Listing, MICROS, venueConfig } from "./listing.js";
import { Trader } from "./trader.js";

/** A whole hour, so that the first funding is an hour away. */
export const START_MS = 486_112 * 3_600_000;

export interface VenueOptions {
  readonly markets?: readonly Listing[];
  readonly config?: Partial<VenueConfig>;
  readonly cohort?: CohortStage;
  /** Of the rules; the newest unless given. */
  readonly version?: number;
  /** The rules of all versions; those of this release unless given. */
  readonly ruleSets?: readonly RuleSet[];
  /** Start prices are set unless this is false. */
  readonly indexed?: boolean;
}

type OperatorCommand = Exclude<
  Extract<Command, { readonly expiresAtMs: number }>,
  AmendOrder | OpenSession
>;
type WithoutTimes<T> = T extends unknown ? Omit<T, "stampMs" | "expiresAtMs"> : never;

export class Venue {
  engine: Engine;
  readonly listings: readonly Listing[];
  readonly config: VenueConfig;
  /** Events of the last command. */
  events: VenueEvent[] = [];
  private opened = 0;
  private isAuditedLater = false;
  private readonly writer = new SoleWriter();
  private readonly ruleSets: readonly RuleSet[];

  constructor(options: VenueOptions = {}) {
    this.ruleSets = options.ruleSets ?? RULE_SETS;
    this.engine = Engine.knowing(this.ruleSets);
    this.listings = options.markets ?? [BTC];
    this.config = venueConfig(this.listings, options.config);
    const engineVersion = options.version ?? ENGINE_VERSION;
    this.apply({ ...genesis(START_MS, this.config, options.cohort), engineVersion });
    this.apply(this.writer.joins(START_MS));
    if (options.indexed === false) return;
    for (const each of this.listings) this.index(each.startPrice, each);
  }

  get now(): number {
    return this.engine.state.timeMs;
  }

  apply(command: Command): VenueEvent[] {
    this.sends(command);
    if (!this.isAuditedLater) this.expectSound(command.kind);
    return this.events;
  }

  /** One audit after all of it: of hundreds of accounts each takes its time. */
  auditedOnce<T>(prepare: () => T): T {
    this.isAuditedLater = true;
    const prepared = prepare();
    this.isAuditedLater = false;
    this.expectSound("after many commands");
    return prepared;
  }

  private expectSound(where: string): void {
    const faults = audit(this.engine);
    if (faults.length > 0) throw new Error(`${where}: ${faults.join("; ")}`);
  }

  /** A batch of this command alone. */
  protected sends(command: Command): void {
    this.writer.sends(this.engine, command);
    this.events = this.engine.apply(command).decode();
  }

  /** Goes on with an engine that is restored from the snapshot. */
  restarts(): void {
    this.engine = Engine.restore(this.engine.snapshot(), this.ruleSets);
  }

  /** Gives the command that was applied last to another engine in the state of before it. */
  repeats(twin: Engine, command: Command): VenueEvent[] {
    this.writer.repeats(twin, command);
    return twin.apply(command).decode();
  }

  /** The reason the last command was refused, or null. */
  get refusal(): string | null {
    const refused = this.happened("CommandRefused")[0];
    return refused === undefined ? null : REFUSALS[refused.refusal]!;
  }

  /** The word of an end reason. */
  reasonOf(code: number): string {
    return END_REASONS[code]!;
  }

  /** Orders that ended in the last command: id and reason. */
  ended(): [number, string][] {
    return this.happened("OrderEnded").map(({ orderId, reason }) => [
      orderId,
      END_REASONS[reason]!,
    ]);
  }

  /** The same with the coins that were left of each. */
  endedWithRest(listing: Listing = this.listings[0]!): [number, string, number][] {
    return this.happened("OrderEnded").map(({ orderId, reason, remainingLots }) => {
      return [orderId, END_REASONS[reason]!, remainingLots / listing.lotsPerCoin];
    });
  }

  /** Events of a kind in the last command. */
  happened<K extends EventKind>(kind: K): EventOf<K>[] {
    return this.events.filter((event): event is Extract<VenueEvent, { kind: K }> => {
      return event.kind === kind;
    }) as unknown as EventOf<K>[];
  }

  /** Signs a new trader in and deposits dollars for it. */
  trader(name: string, dollars = 0): Trader {
    const trader = new Trader(this, name, ++this.opened);
    trader.signsIn();
    if (dollars > 0) trader.deposits(dollars);
    return trader;
  }

  marketNumber(listing: Listing): number {
    const number = this.listings.indexOf(listing);
    if (number < 0) throw new Error(`${listing.config.symbol} is not listed here`);
    return number;
  }

  market(listing: Listing = this.listings[0]!): Market {
    return this.engine.state.markets[this.marketNumber(listing)]!;
  }

  /** A new index price. */
  index(dollars: number, listing: Listing = this.listings[0]!): VenueEvent[] {
    const indexTicks = Math.round(dollars * listing.ticksPerDollar);
    const market = this.marketNumber(listing);
    const slot = indexSlot(this.engine.state, market);
    return this.apply({ kind: "UpdateIndex", stampMs: this.now, market, indexTicks, slot });
  }

  /** The same index again, so that it stays fresh. */
  refreshesIndex(): void {
    for (const listing of this.listings) {
      const ticks = this.market(listing).index;
      if (ticks > 0) this.index(ticks / listing.ticksPerDollar, listing);
    }
  }

  /** An operator command that is valid for a minute; returns its refusal, or null. */
  operates(command: WithoutTimes<OperatorCommand>): string | null {
    this.apply({ ...command, stampMs: this.now, expiresAtMs: this.now + 60_000 });
    return this.refusal;
  }

  /** An operator's control of a market; returns its refusal, or null. */
  controls(action: MarketAction, price = 0, listing: Listing = this.listings[0]!): string | null {
    const market = this.marketNumber(listing);
    const priceTicks = Math.round(price * listing.ticksPerDollar);
    return this.operates({ kind: "ControlMarket", market, action, priceTicks });
  }

  /** The operator sets who may open positions. */
  cohort(
    stage: CohortStage,
    allow: readonly string[] = [],
    disallow: readonly string[] = [],
  ): void {
    this.operates({ kind: "SetCohort", stage, allow, disallow });
  }

  status(listing: Listing = this.listings[0]!): string {
    return MARKET_STATUSES[this.market(listing).status]!;
  }

  /** The next 200 ms tick; returns its events. */
  tick(): VenueEvent[] {
    return this.apply({ kind: "Tick", slot: this.engine.state.lastTickMs / 200 + 1 });
  }

  /** Ticks for that long, without a new index. */
  waits(seconds: number): VenueEvent[] {
    const all: VenueEvent[] = [];
    for (let i = 0; i < seconds * 5; i++) all.push(...this.tick());
    return all;
  }

  /** The gateway starts again, at `ms`: its connections of before are gone. */
  resumes(ms: number): void {
    const events = this.apply(this.writer.joins(ms));
    this.events = [...events, ...this.pauses(ms)];
  }

  /** A pause in the log: time jumps to `ms`, a second or more ahead. */
  pauses(ms: number): VenueEvent[] {
    return this.apply({ kind: "AskTime", stampMs: ms });
  }

  /** Jumps to just before that time with a fresh index; the next tick happens at it. */
  skipsTo(ms: number): void {
    this.pauses(ms - 200);
    this.refreshesIndex();
  }

  /** Mark price in dollars. */
  mark(listing: Listing = this.listings[0]!): number {
    return this.market(listing).mark / listing.ticksPerDollar;
  }

  /** Best bid and ask in dollars, with all lots at them in coins; null for an empty side. */
  best(listing: Listing = this.listings[0]!): {
    bid: [number, number] | null;
    ask: [number, number] | null;
  } {
    const { bids, asks } = this.market(listing);
    const read = (side: typeof bids): [number, number] | null =>
      side.count === 0
        ? null
        : [side.ticksAt(0) / listing.ticksPerDollar, side.lotsAt(0) / listing.lotsPerCoin];
    return { bid: read(bids), ask: read(asks) };
  }

  /** The insurance fund in dollars. */
  get fund(): number {
    return this.engine.state.totals.fund / MICROS;
  }

  get fees(): number {
    return this.engine.state.totals.fees / MICROS;
  }

  /** The backstop's position: size in coins, cost in dollars. */
  backstop(listing: Listing = this.listings[0]!): { size: number; cost: number } {
    const market = this.market(listing);
    return {
      size: market.backstopLots / listing.lotsPerCoin,
      cost: market.backstopCost / MICROS,
    };
  }
}
