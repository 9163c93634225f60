/**
 * What an observer of the command log knows without asking the engine: who is in the cohort, the
 * caps of each order's session, when an index last came, whether one is held, and since when the
 * venue has no index after a start.
 */
import type {
  Command,
  ControlMarket,
  MarketAction,
  OpenSession,
  UpdateIndex,
} from "../../commands.js";
import type { CohortStage, VenueConfig } from "../../config.js";
import { TRADE_ADL, type VenueEvent } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { CloseLedger } from "./close-ledger.js";
import { ExitLedger } from "./exit-ledger.js";
import { PlacedOrders, type SessionCaps } from "./placed-orders.js";

interface Hold {
  readonly indexTicks: number;
  readonly sinceMs: number;
  confirming: number;
}

/** The index feed of a market, as the page describes its guard. */
interface Feed {
  /** When the last index was observed, held or not; −Infinity: none since the start. */
  observedMs: number;
  accepted: { readonly timeMs: number; readonly indexTicks: number }[];
  hold: Hold | null;
  /**
   * Where the page leaves open whether the index is held: confirmed at exactly two seconds, or held
   * for so long that no index of the last ten seconds is left to compare with.
   */
  doubt: { readonly sinceMs: number; updates: number } | null;
  /** No index has arrived since the last start or resume. */
  isWaiting: boolean;
}

/** Events of orders that then take. */
const TAKING: ReadonlySet<string> = new Set(["OrderPlaced", "OrderAmended", "StopTriggered"]);
const MINUTE_MS = 60_000;
const GUARD_MS = 10_000;
const CONFIRM_MS = 2_000;

export class VenueRecord {
  config: VenueConfig;
  stage: CohortStage = "open";
  readonly allowed = new Set<string>();
  readonly addressOf = new Map<number, string>();
  readonly caps = new Map<number, SessionCaps>();
  readonly placed = new PlacedOrders();
  readonly exits = new ExitLedger();
  readonly closes = new CloseLedger();
  /** Micros of each order's fills that opened. */
  readonly openedMicros = new Map<number, bigint>();
  /** The same as `maxOrderNotional` counts them at least. */
  readonly cappedMicros = new Map<number, bigint>();
  /** Micros that opened under each order that has a size and a margin. */
  private readonly sizedMicros = new Map<number, bigint>();
  /** Stops that a tick reached; they stay reached. */
  readonly reachedStops = new Set<number>();
  /** Positions that are due and have had a turn, by `keyOf`: they wait behind the others. */
  hadTurn: ReadonlySet<number> = new Set();
  /** Accounts that have traded in a market, by `keyOf`. */
  readonly traded = new Set<number>();
  readonly feeds: Feed[];
  deposits: bigint;
  /** Makers met in the command, or in its batch so far. */
  makersMet = 0;
  /** What the operator last did to each market. */
  readonly actions: MarketAction[];
  /** The fund's booked result with the backstop's unrealised PnL, after each command. */
  private readonly fundValues: { readonly timeMs: number; readonly micros: bigint }[] = [];

  constructor(config: VenueConfig) {
    this.config = config;
    this.deposits = BigInt(config.fundSeedMicros);
    this.actions = config.markets.map(() => "resume");
    this.feeds = config.markets.map(() => ({
      observedMs: Number.NEGATIVE_INFINITY,
      accepted: [],
      hold: null,
      doubt: null,
      isWaiting: true,
    }));
  }

  /** Whether the market's index is surely not held. */
  isFree(market: number): boolean {
    const { hold, doubt } = this.feeds[market]!;
    return hold === null && doubt === null;
  }

  /** Everything that opened under the order, with this. */
  addOpened(orderId: number, micros: bigint): bigint {
    const sum = (this.sizedMicros.get(orderId) ?? 0n) + micros;
    this.sizedMicros.set(orderId, sum);
    return sum;
  }

  isAdmitted(account: number): boolean {
    if (this.stage === "open") return true;
    return this.stage === "allowlist" && this.allowed.has(this.addressOf.get(account) ?? "");
  }

  /** After the checks of a command. */
  noteFund(timeMs: number, micros: bigint): void {
    if (this.fundValues.at(-1)?.micros !== micros) this.fundValues.push({ timeMs, micros });
  }

  /**
   * The least value that counts as that of an hour ago. Samples are a minute apart, and a pause of
   * the venue may have begun before the last change was sampled.
   */
  fundAnHourBefore(timeMs: number): bigint {
    const known = this.fundValues.filter((value) => value.timeMs <= timeMs - 59 * MINUTE_MS);
    const lastMs = known.at(-1)?.timeMs ?? 0;
    let least = 0n;
    for (const { timeMs: atMs, micros } of known) {
      const isOld = atMs < Math.min(lastMs, timeMs - 61 * MINUTE_MS) - 2 * MINUTE_MS;
      if (isOld || micros < least) least = micros;
    }
    return least;
  }

  /** Before the checks: what the command itself says. */
  command(command: Command, events: readonly VenueEvent[], timeMs: number): void {
    if (!("batch" in command) || (command.batch?.index ?? 0) === 0) this.makersMet = 0;
    this.makersMet += makersIn(events);
    this.exits.follow(events);
    this.closes.follow(events, this.placed);
    if (events.some((event) => event.kind === "CommandRefused")) return;
    if (command.kind === "SetCohort") {
      this.stage = command.stage;
      for (const address of command.allow) this.allowed.add(address);
      for (const address of command.disallow) this.allowed.delete(address);
    }
    if (command.kind === "ControlMarket") this.control(command);
    if (command.kind === "Configure") this.config = command.config;
    if (command.kind === "WriterJoined") this.awaitAll();
    if (command.kind === "UpdateIndex") this.index(command, timeMs);
    for (const event of events) this.event(command, event);
  }

  private control({ market, action }: ControlMarket): void {
    // A market that was halted starts again, and needs a fresh index.
    if (action === "resume" && this.actions[market] === "halt") {
      this.feeds[market]!.isWaiting = true;
    }
    this.actions[market] = action;
  }

  private awaitAll(): void {
    for (const feed of this.feeds) feed.isWaiting = true;
  }

  private event(command: Command, event: VenueEvent): void {
    if (event.kind === "TimeJumped") this.awaitAll();
    if (event.kind === "BalanceCredited") this.deposits += BigInt(event.amountMicros);
    if (event.kind === "SessionOpened" && command.kind === "OpenSession") {
      this.addressOf.set(event.account, command.address);
      this.caps.set(event.session, capsOf(command));
    }
    this.placed.follow(command, event, this.caps);
  }

  private index({ market, indexTicks, slot }: UpdateIndex, timeMs: number): void {
    const feed = this.feeds[market]!;
    const jump = this.config.markets[market]!.maxIndexJumpPpm;
    feed.observedMs = slot * 200;
    feed.isWaiting = false;
    feed.accepted = feed.accepted.filter((each) => timeMs - each.timeMs <= GUARD_MS);
    const isInRange = feed.accepted.every((each) => isWithin(indexTicks, each.indexTicks, jump));
    const { hold } = feed;
    settleDoubt(feed, timeMs);
    if (hold !== null && feed.accepted.length === 0) feed.doubt = { sinceMs: timeMs, updates: 0 };
    if (isInRange) feed.hold = null;
    else if (hold === null || !isWithin(indexTicks, hold.indexTicks, 50_000)) {
      feed.hold = { indexTicks, sinceMs: timeMs, confirming: 0 };
    } else {
      hold.confirming++;
      if (hold.confirming >= 2 && timeMs - hold.sinceMs >= CONFIRM_MS) {
        feed.hold = null;
        feed.accepted = [];
        const isDoubtful = timeMs - hold.sinceMs === CONFIRM_MS;
        if (isDoubtful) feed.doubt = { sinceMs: hold.sinceMs, updates: hold.confirming };
      }
    }
    if (feed.hold === null) feed.accepted.push({ timeMs, indexTicks });
  }
}

/** Enough updates over more than two seconds end a hold in every reading. */
function settleDoubt(feed: Feed, timeMs: number): void {
  if (feed.doubt === null) return;
  feed.doubt.updates++;
  if (feed.doubt.updates >= 2 && timeMs - feed.doubt.sinceMs > CONFIRM_MS) feed.doubt = null;
}

function capsOf({ maxNotionalMicros, maxOrderNotionalMicros }: OpenSession): SessionCaps {
  return { maxNotionalMicros, maxOrderNotionalMicros };
}

export function isWithin(value: number, of: number, ppm: number): boolean {
  return BigInt(Math.abs(value - of)) * 1_000_000n <= BigInt(of) * BigInt(ppm);
}

/** Makers that traded, and own orders that were canceled instead. */
function makersIn(events: readonly VenueEvent[]): number {
  const takers = new Set<number>();
  let met = 0;
  for (const event of events) {
    if (TAKING.has(event.kind) && "orderId" in event) takers.add(event.orderId);
    if (event.kind === "Traded" && event.makerOrderId > 0 && event.tradeKind !== TRADE_ADL) met++;
    const isOwn = event.kind === "OrderEnded" && event.reason === END.self_trade;
    if (isOwn && !takers.has(event.orderId)) met++;
  }
  return met;
}
