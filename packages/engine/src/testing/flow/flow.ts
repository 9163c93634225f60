/**
 * Seeded logs of commands, realistic and nasty. The flow looks at a reference venue, so every batch
 * that it yields must be applied to that venue before the next is asked for:
 *
 *     const venue = new ReferenceVenue();
 *     for (const batch of batches("cascade", 7, 10_000, venue)) {
 *       applyBatch(venue, batch, (command, events) => { … });
 *     }
 */

import { Random } from "@perpgate/protocol/random";
import {
  type Command,
  FILL_OR_KILL,
  IMMEDIATE_OR_CANCEL,
  LIMIT_ORDER,
  type OrderExtras,
  SHORT,
} from "../../commands.js";
import { ENGINE_VERSION } from "../../versions.js";
import { genesis, PLAIN_EXTRAS } from "../commands.js";
import { openOrders } from "../reference/open-orders.js";
import { type Account, accountOf, type State } from "../reference/state.js";
import type { ReferenceVenue } from "../reference/venue.js";
import { Amendments } from "./amendments.js";
import { Batches } from "./batches.js";
import { Caps } from "./caps.js";
import { Gateways, type Happening } from "./gateways.js";
import { indexUpdate } from "./index-feed.js";
import type { LogBatch } from "./log-batch.js";
import { Margins } from "./margins.js";
import { Orders } from "./orders.js";
import { PROFILES, type Profile, type ProfileName } from "./profiles.js";
import { Protection } from "./protection.js";
import { asRequests } from "./requests.js";
import { Scenes } from "./scenes.js";
import { type Signed, type Trader, Traders } from "./traders.js";
import { Weather } from "./weather.js";

/** Tests begin with this seed: its flows reach every rule, see agreement.test.ts. */
export const FIRST_SEED = 7;

const START_MS = 1_750_000_000_123;

/**
 * Batches until about `length` commands have been applied. `versions`: what the writers say that they
 * can read; the venue begins under the first one.
 */
export function* batches(
  name: ProfileName,
  seed: number,
  length: number,
  venue: ReferenceVenue,
  versions: readonly [number, number] = [ENGINE_VERSION, ENGINE_VERSION],
): Generator<LogBatch, void, void> {
  const flow = new Flow(PROFILES[name], new Random(seed, name), venue, versions[0]);
  const random = new Random(seed, `${name} gateways`);
  const { gateways: count } = PROFILES[name];
  const leader = new Random(seed, `${name} leader`);
  const ledFromMs = leader.chance(0.5) ? leader.int(0, 120_000) : Number.POSITIVE_INFINITY;
  const gateways = new Gateways(random, venue.state, count, versions, ledFromMs);
  const requests = new Random(seed, `${name} requests`);
  const happenings = asRequests(requests, venue.state, flow.run());
  for (const batch of gateways.batches(happenings)) {
    yield batch;
    if (venue.state.position >= length) return;
  }
}

class Flow {
  private readonly traders: Traders;
  private readonly orders: Orders;
  private readonly margins: Margins;
  private readonly amendments: Amendments;
  private readonly batches: Batches;
  private readonly weather: Weather;
  private readonly state: State;

  constructor(
    private readonly profile: Profile,
    private readonly random: Random,
    venue: ReferenceVenue,
    private readonly version: number,
  ) {
    const stamp = (): number => this.stamp();
    this.state = venue.state;
    this.traders = new Traders(random, profile, venue, stamp);
    this.orders = new Orders(random, venue, stamp, profile.wrong);
    this.margins = new Margins(random, venue, stamp);
    this.amendments = new Amendments(random, venue, this.orders, stamp, profile.wrong);
    this.batches = new Batches(random, venue, this.orders, this.amendments, stamp);
    const scenes = new Scenes(random, venue, this.traders, this.orders, this.margins, stamp);
    const protection = new Protection(random, venue, this.traders, this.orders, stamp);
    const caps = new Caps(random, venue, this.traders, this.orders, this.amendments, stamp);
    this.weather = new Weather(
      random,
      profile,
      venue,
      this.traders,
      scenes,
      protection,
      caps,
      stamp,
    );
  }

  /** Mostly the clock between two ticks, sometimes far off it. */
  private stamp(): number {
    const { random } = this;
    const now = this.state.lastTick;
    if (random.chance(0.004)) return now + random.int(900, 100_000);
    return now + (random.chance(0.03) ? -random.int(0, 5_000) : random.int(0, 199));
  }

  *run(): Generator<Happening> {
    yield* this.opening();
    for (;;) {
      yield* this.weather.slot();
      const busy = this.random.int(0, this.profile.busy);
      for (let at = 0; at < busy; at++) yield* this.action();
      yield this.weather.tick();
    }
  }

  private *opening(): Generator<Command> {
    const { config, startIndex } = this.profile;
    const begin = { ...genesis(START_MS, config), engineVersion: this.version };
    yield { kind: "Tick", slot: 1 };
    yield { ...begin, stampMs: 5, config: { ...config, markets: [] } };
    yield begin;
    yield begin;
    if (this.profile.configure > 0) {
      // Refused: this version is in force.
      yield {
        kind: "Upgrade",
        stampMs: START_MS,
        expiresAtMs: START_MS + 60_000,
        version: this.version,
      };
    }
    const first = this.traders.all[0];
    if (first !== undefined) {
      yield* this.traders.signIn(first);
      // No market has an index yet.
      yield* this.trade(first);
    }
    for (const [market, indexTicks] of startIndex.entries()) {
      yield indexUpdate(this.state, this.stamp(), market, indexTicks);
    }
    for (const trader of this.traders.all.slice(1)) yield* this.traders.signIn(trader);
    // More sessions than an account may have.
    for (let i = 0; first !== undefined && this.profile.controls > 0 && i < 66; i++) {
      yield* this.traders.signIn(first);
    }
  }

  /** What one trader does. */
  private *action(): Generator<Command> {
    const { random, profile, traders } = this;
    const trader = random.pick(traders.all);
    const session = traders.sessionOf(trader);
    if (session === null) {
      yield* traders.signIn(trader);
      return;
    }
    const stampMs = this.stamp();
    const number = session.number;
    const account = this.accountOf(session);
    if (traders.replaceIfBroke(trader, account)) return;
    const crowd = openOrders(account).length;
    const rare = profile.capped;
    const kind = random.weighted({
      trade: 70,
      cancel: 6 + crowd,
      cancelAll: crowd > 25 ? 20 : 1,
      cancelAfter: 1,
      option: 1,
      connect: 2,
      disconnect: 1,
      replay: 2,
      rotate: rare,
      close: rare * 0.3,
      wrongSignIn: rare,
      signInAgain: rare,
      ownQuote: 0.2,
      margin: 4,
      cappedSweep: rare,
      expiredQuote: 0.1,
      amend: 2 + crowd / 2,
      batch: 4,
    });
    if (random.chance(0.004)) {
      yield* this.ghost(stampMs);
      return;
    }
    if (kind === "trade") yield* this.trade(trader);
    if (kind === "margin") yield this.margins.any(session, account);
    if (kind === "batch") yield* this.batches.any(session, account);
    if (kind === "amend") yield this.amendments.any(session, account);
    if (kind === "cancel") yield this.cancel(number, account);
    if (kind === "cancelAll") {
      const market = random.pick([-1, -1, random.int(0, this.state.markets.length - 1), 50]);
      yield { kind: "CancelAll", stampMs, session: number, market };
    }
    if (kind === "cancelAfter") {
      const afterMs = random.pick([
        0,
        1_000,
        2_500,
        random.int(1_000, 30_000),
        999,
        3_600_001,
        1_500.5,
      ]);
      yield { kind: "CancelAfter", stampMs, session: number, afterMs };
    }
    if (kind === "option") {
      const cancelOnDisconnect = random.chance(0.7);
      if (random.chance(0.7)) yield { kind: "SessionConnected", stampMs, session: number };
      yield { kind: "SetSessionOption", stampMs, session: number, cancelOnDisconnect };
    }
    if (kind === "connect") yield { kind: "SessionConnected", stampMs, session: number };
    if (kind === "disconnect") yield { kind: "SessionDisconnected", stampMs, session: number };
    if (kind === "replay" && session.sent.length > 0) {
      const again = random.chance(0.3) ? session.sent[0] : random.pick(session.sent);
      if (again !== undefined) yield { ...again, stampMs };
    }
    if (kind === "rotate") yield* traders.rotate(trader);
    if (kind === "ownQuote") yield* this.ownQuote(session);
    if (kind === "cappedSweep") yield* this.cappedSweep(session);
    if (kind === "expiredQuote") yield* this.expiredQuote(session);
    // Another session, with other caps; the orders of this one stay.
    if (kind === "signInAgain") yield* traders.signIn(trader);
    if (kind === "wrongSignIn") yield* traders.wrongSignIn(trader);
    if (kind === "close") {
      const other = random.chance(0.2) ? number + 1 : number;
      yield { kind: "CloseSession", stampMs, session: other };
    }
  }

  /** Commands for a session that is not there. */
  private *ghost(stampMs: number): Generator<Command> {
    const session = this.random.int(1, 5);
    const keys = { oldKey: "00", newKey: "01" };
    yield this.random.pick<Command>([
      { kind: "CancelOrder", stampMs, session, orderId: this.state.position },
      { kind: "CancelAll", stampMs, session, market: -1 },
      { kind: "CancelAfter", stampMs, session, afterMs: 1_000 },
      { kind: "RotateSession", stampMs, session, ...keys },
      { kind: "CloseSession", stampMs, session },
      { kind: "SetSessionOption", stampMs, session, cancelOnDisconnect: true },
      { kind: "SessionConnected", stampMs, session },
      { kind: "SessionDisconnected", stampMs, session },
    ]);
  }

  private accountOf(session: Signed): Account {
    const account = this.state.sessions.get(session.number)?.account;
    if (account === undefined) throw new Error(`session ${session.number} is not open`);
    return accountOf(this.state, account);
  }

  private *trade(trader: Trader): Generator<Command> {
    const session = this.traders.sessionOf(trader);
    if (session === null) return;
    const market = this.random.pick(this.state.markets);
    yield this.orders.any(session, market, this.accountOf(session));
  }

  /** Offers one lot below all others, and pays for exactly that one: its own, which is canceled. */
  private *ownQuote(session: Signed): Generator<Command> {
    const market = this.random.pick(this.state.markets);
    const best = Number(market.asks[0]?.price ?? 0n);
    if (best < 2) return;
    const priceTicks = best - 1;
    const marginMicros = priceTicks * market.config.microsPerTickLot;
    yield this.orders.of(session, market, {
      side: SHORT,
      type: LIMIT_ORDER,
      priceTicks,
      marginMicros,
      postOnly: true,
    });
    yield this.orders.of(session, market, { marginMicros });
  }

  /** A size that the session's cap allows at the best price, and not at the next one. */
  private *cappedSweep(session: Signed): Generator<Command> {
    const { random, orders, traders, state } = this;
    const other = traders.sessionOf(random.pick(traders.all));
    const cap = Number(state.sessions.get(session.number)?.maxOrderNotional ?? 0n);
    if (cap === 0 || other === null || other === session) return;
    const market = random.pick(state.markets);
    const { microsPerTickLot, bandPpm } = market.config;
    const mark = Number(market.mark);
    const near = Math.max(mark, Number(market.bids[0]?.price ?? 0n) + 1);
    const sizeLots = Math.floor(cap / (near * microsPerTickLot));
    if (mark === 0 || sizeLots < 2) return;
    const far = mark + Math.floor((mark * bandPpm) / 2e6);
    const ask = { side: SHORT, type: LIMIT_ORDER, marginMicros: 0, leverage: 1 } as const;
    for (const [priceTicks, lots] of [
      [near, 1],
      [far, sizeLots],
    ] as const) {
      yield orders.of(other, market, {
        ...ask,
        priceTicks,
        extras: { ...PLAIN_EXTRAS, sizeLots: lots },
      });
    }
    const extras: OrderExtras = {
      ...PLAIN_EXTRAS,
      sizeLots,
      timeInForce: IMMEDIATE_OR_CANCEL,
    };
    yield orders.of(session, market, { marginMicros: 0, extras });
  }

  /** The best ask expires between two ticks, and someone wants all of it or nothing. */
  private *expiredQuote(session: Signed): Generator<Command> {
    const { random, orders, traders, state } = this;
    const other = traders.sessionOf(random.pick(traders.all));
    const market = random.pick(state.markets);
    const best = Number(market.asks[0]?.price ?? 0n);
    if (other === null || best < 2) return;
    const priceTicks = best - 1;
    const expiresAtMs = state.time + 1_000;
    const limit = { type: LIMIT_ORDER, marginMicros: 0, priceTicks } as const;
    const ask: OrderExtras = { ...PLAIN_EXTRAS, sizeLots: 2, expiresAtMs };
    yield orders.of(session, market, { ...limit, side: SHORT, extras: ask });
    for (let i = 0; i < 4; i++) yield this.weather.tick();
    const fok: OrderExtras = { ...PLAIN_EXTRAS, sizeLots: 1, timeInForce: FILL_OR_KILL };
    const stampMs = expiresAtMs - random.int(0, 1);
    yield orders.of(other, market, { ...limit, stampMs, extras: fok });
  }

  /** Its own order, somebody else's, or none. */
  private cancel(session: number, account: Account): Command {
    const { random, state } = this;
    const own = openOrders(account);
    let orderId = random.int(1, state.position);
    let clientOrderId = "";
    if (own.length > 0 && random.chance(0.9)) {
      const order = random.pick(own);
      clientOrderId = random.chance(0.5) ? (order.extra?.clientId ?? "") : "";
      orderId = clientOrderId === "" ? order.id : 0;
    }
    const named = orderId === 0 ? { orderId, clientOrderId } : { orderId };
    const cancel: Command = { kind: "CancelOrder", stampMs: this.stamp(), session, ...named };
    if (!random.chance(0.05)) return cancel;
    return { ...cancel, validUntilMs: state.time + random.int(-100, 300) };
  }
}
