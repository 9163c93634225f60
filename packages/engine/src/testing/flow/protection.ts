/**
 * Scenes of traders who protect their positions: stop-losses and take-profits that close whatever is
 * there, for positions that are open and for entries that are not filled yet.
 */
import type { Random } from "@perpgate/protocol/random";
import {
  type Command,
  LIMIT_ORDER,
  LONG,
  type PlaceOrder,
  SHORT,
  type Side,
  STOP_ORDER,
  STOP_TRIGGER,
  TAKE_PROFIT_TRIGGER,
  type TriggerCode,
} from "../../commands.js";
import { TICK_MS } from "../../config.js";
import { type Market, positionOf } from "../reference/state.js";
import type { ReferenceVenue } from "../reference/venue.js";
import { indexUpdate } from "./index-feed.js";
import type { Orders } from "./orders.js";
import { STOP_EXTRAS } from "./stop-terms.js";
import type { Signed, Traders } from "./traders.js";

interface Protected {
  readonly session: Signed;
  readonly account: number;
  /** The side of the position, or of its entry. */
  readonly side: Side;
}

export class Protection {
  constructor(
    private readonly random: Random,
    private readonly venue: ReferenceVenue,
    private readonly traders: Traders,
    private readonly orders: Orders,
    private readonly stamp: () => number,
  ) {}

  /** Several traders enter, protect themselves, and the mark moves through one or both prices. */
  *scene(market: Market): Generator<Command> {
    const { random } = this;
    const some: Protected[] = [];
    for (const actor of this.actors(market).slice(0, random.int(1, 6))) {
      const { session, account } = actor;
      if (random.chance(0.5)) yield this.entry(session, market, actor.side, account);
      yield this.closing(session, market, actor.side, STOP_TRIGGER);
      yield this.closing(session, market, actor.side, TAKE_PROFIT_TRIGGER);
      some.push(actor);
    }
    const first = some[0];
    if (first === undefined) return;
    const kind = random.weighted({ away: 4, both: 3, flip: 2, empty: 3, thin: 2 });
    if (kind === "both") yield* this.bothInOneTick(first, market);
    if (kind === "flip") yield this.flip(first, market);
    if (kind === "empty" || kind === "thin") {
      for (const { session } of this.actors(market)) {
        if (kind === "thin" && random.chance(0.5)) continue;
        const stampMs = this.stamp();
        yield { kind: "CancelAll", stampMs, session: session.number, market: market.number };
      }
      yield this.closing(first.session, market, first.side, STOP_TRIGGER);
    }
    yield this.move(market, 1 + random.pick([1, -1]) * 0.012);
    yield { kind: "Tick", slot: this.venue.state.lastTick / TICK_MS + 1 };
    // A little of what the book lacks.
    for (const { session } of this.actors(market).slice(0, 2)) {
      yield this.quote(session, market, random.pick([LONG, SHORT]));
    }
    yield { kind: "Tick", slot: this.venue.state.lastTick / TICK_MS + 1 };
  }

  private actors(market: Market): Protected[] {
    const { random } = this;
    const { state } = this.venue;
    const actors: (Protected & { place: number })[] = [];
    for (const trader of this.traders.all) {
      const session = this.traders.sessionOf(trader);
      const account = session && state.sessions.get(session.number)?.account;
      if (session === null || account === undefined || account === null) continue;
      const { lots } = positionOf(state, account, market.number);
      const side: Side = lots === 0n ? random.pick([LONG, SHORT]) : lots > 0n ? LONG : SHORT;
      // Those with a position first.
      actors.push({ session, account, side, place: random.next() + (lots === 0n ? 0.5 : 0) });
    }
    return actors.sort((a, b) => a.place - b.place);
  }

  /** A stop-loss or take-profit of the whole position, 0.1 to 1 % away. */
  private closing(session: Signed, market: Market, held: Side, trigger: TriggerCode): PlaceOrder {
    const { random } = this;
    const side: Side = held === LONG ? SHORT : LONG;
    const direction = trigger === STOP_TRIGGER ? side : held;
    const away = Number(market.mark) * (0.001 + 0.009 * random.next());
    return this.orders.of(session, market, {
      side,
      type: STOP_ORDER,
      priceTicks: Math.max(1, Math.round(Number(market.mark) + direction * Math.max(1, away))),
      marginMicros: 0,
      extras: { ...STOP_EXTRAS, trigger, closePosition: true },
    });
  }

  /** A resting entry below the market, or a stop entry above it, sometimes with a limit. */
  private entry(session: Signed, market: Market, side: Side, account: number): PlaceOrder {
    const { random } = this;
    const wallet = Number(this.venue.state.accounts[account - 1]?.wallet ?? 0n);
    const mark = Number(market.mark);
    const away = Math.max(1, mark * 0.005 * random.next());
    const isStop = random.chance(0.4);
    const priceTicks = Math.max(1, Math.round(mark + (isStop ? side : -side) * away));
    const limitTicks = isStop && random.chance(0.5) ? priceTicks : 0;
    const order: Partial<PlaceOrder> = {
      side,
      type: isStop ? STOP_ORDER : LIMIT_ORDER,
      priceTicks,
      leverage: random.int(1, 5),
      marginMicros: Math.max(1, Math.floor((wallet / 20) * random.next())),
    };
    if (limitTicks === 0) return this.orders.of(session, market, order);
    const extras = { ...STOP_EXTRAS, timeInForce: 0, limitTicks } as const;
    return this.orders.of(session, market, { ...order, extras });
  }

  /**
   * The mark falls below a stop-loss without a tick, a take-profit is placed above it, and the mark
   * rises between the two: one tick reaches both.
   */
  private *bothInOneTick({ session, side }: Protected, market: Market): Generator<Command> {
    const stop = this.closing(session, market, side, STOP_TRIGGER);
    yield stop;
    const price = stop.priceTicks;
    yield this.moveTo(market, price * (1 - side * 0.004));
    const { extras } = stop;
    if (extras === undefined) return;
    yield this.orders.of(session, market, {
      ...stop,
      nonce: session.nextNonce++,
      priceTicks: Math.max(1, Math.round(price * (1 - side * 0.002))),
      extras: { ...extras, trigger: TAKE_PROFIT_TRIGGER },
    });
    yield this.moveTo(market, price * (1 - side * 0.001));
    yield { kind: "Tick", slot: this.venue.state.lastTick / TICK_MS + 1 };
  }

  /** The position changes side while its protection waits. */
  private flip({ session, account, side }: Protected, market: Market): PlaceOrder {
    const { lots } = positionOf(this.venue.state, account, market.number);
    const money = Math.abs(Number(lots)) * Number(market.mark) * market.config.microsPerTickLot;
    return this.orders.of(session, market, {
      side: side === LONG ? SHORT : LONG,
      leverage: 2,
      marginMicros: Math.max(1, Math.floor(money * (0.4 + this.random.next()))),
    });
  }

  private quote(session: Signed, market: Market, side: Side): PlaceOrder {
    const mark = Number(market.mark);
    return this.orders.of(session, market, {
      side,
      type: LIMIT_ORDER,
      priceTicks: Math.max(1, Math.round(mark * (1 - side * 0.002))),
      marginMicros: Math.max(1, mark * market.config.microsPerTickLot * this.random.int(1, 30)),
    });
  }

  private move(market: Market, factor: number): Command {
    return this.moveTo(market, Number(market.index ?? market.mark) * factor);
  }

  private moveTo(market: Market, ticks: number): Command {
    const indexTicks = Math.min(2 ** 30, Math.max(1, Math.round(ticks)));
    return indexUpdate(this.venue.state, this.stamp(), market.number, indexTicks);
  }
}
