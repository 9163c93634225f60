/**
 * Scenes of traders whose session has caps that their orders just meet: the mark moves between
 * placement and fill, and what exceeds the cap by then ends with that reason. And of stops that a market
 * which was closed to entries does not let grow.
 */
import type { Random } from "@perpgate/protocol/random";
import { type Command, LIMIT_ORDER, type OpenSession, SHORT, STOP_ORDER } from "../../commands.js";
import { TICK_MS } from "../../config.js";
import { type Market, positionOf } from "../reference/state.js";
import type { ReferenceVenue } from "../reference/venue.js";
import type { Amendments } from "./amendments.js";
import { indexUpdate } from "./index-feed.js";
import type { Orders } from "./orders.js";
import { STOP_EXTRAS } from "./stop-terms.js";
import type { Signed, Traders } from "./traders.js";

const LIMIT_EXTRAS = { ...STOP_EXTRAS, timeInForce: 0 } as const;

export class Caps {
  constructor(
    private readonly random: Random,
    private readonly venue: ReferenceVenue,
    private readonly traders: Traders,
    private readonly orders: Orders,
    private readonly amendments: Amendments,
    private readonly stamp: () => number,
  ) {}

  *scene(market: Market): Generator<Command> {
    const { random, traders } = this;
    const [first, second] = [random.pick(traders.all), random.pick(traders.all)];
    const owner = traders.sessionOf(first);
    const other = traders.sessionOf(second);
    if (first === second || owner === null || other === null || market.mark < 100n) return;
    const sizeLots = random.int(2, 50);
    if (random.chance(0.5)) yield* this.stop(owner, other, market, sizeLots);
    else yield* this.bid(owner, other, market, sizeLots);
  }

  /** Some traders try to enlarge the stops that they have in the market. */
  *growStops(market: Market): Generator<Command> {
    const { state } = this.venue;
    let tries = 2;
    for (const trader of this.traders.all) {
      const session = this.traders.sessionOf(trader);
      const account = session && state.sessions.get(session.number)?.account;
      if (session === null || account === undefined || account === null) continue;
      const { orders } = positionOf(state, account, market.number);
      const stop = orders.find(({ resting, reduceOnly }) => !resting && !reduceOnly);
      if (stop === undefined || tries === 0) continue;
      tries--;
      const sizeLots = Number(stop.lots) + 1;
      yield this.amendments.of(session, market.number, stop.id, { sizeLots });
    }
  }

  /** A stop whose lots cost more than `maxOrderNotional` at the price that it finds. */
  private *stop(owner: Signed, other: Signed, market: Market, sizeLots: number) {
    const mark = Number(market.mark);
    const priceTicks = mark + Math.max(1, Math.floor(mark * 0.002));
    const cap = sizeLots * priceTicks * market.config.microsPerTickLot;
    const session = yield* this.signIn(owner, { maxOrderNotionalMicros: cap });
    if (session === null) return;
    const extras = { ...STOP_EXTRAS, sizeLots };
    const terms = { type: STOP_ORDER, marginMicros: 0, priceTicks, extras } as const;
    yield this.orders.of(session, market, terms);
    const far = priceTicks + Math.max(1, Math.floor(mark * 0.01));
    yield this.ask(other, market, far, sizeLots);
    yield this.moveTo(market, mark * 1.006);
    yield { kind: "Tick", slot: this.venue.state.lastTick / TICK_MS + 1 } as const;
  }

  /** A bid that meets `maxNotional` when it is placed, grows too large, and fills at a higher mark. */
  private *bid(owner: Signed, other: Signed, market: Market, sizeLots: number) {
    const mark = Number(market.mark);
    const priceTicks = mark - Math.max(1, Math.floor(mark * 0.002));
    const cap = sizeLots * priceTicks * market.config.microsPerTickLot;
    const session = yield* this.signIn(owner, { maxNotionalMicros: cap });
    if (session === null) return;
    const extras = { ...LIMIT_EXTRAS, sizeLots };
    const terms = { type: LIMIT_ORDER, marginMicros: 0, priceTicks, extras } as const;
    yield this.orders.of(session, market, terms);
    const id = this.venue.state.position;
    yield this.amendments.of(session, market.number, id, { sizeLots: sizeLots + 1 });
    yield this.moveTo(market, mark * 1.03);
    yield { kind: "Tick", slot: this.venue.state.lastTick / TICK_MS + 1 } as const;
    yield this.ask(other, market, priceTicks, sizeLots);
  }

  /** Another session of the same trader, who keeps the first one. */
  private *signIn(
    { opened }: Signed,
    caps: Partial<OpenSession>,
  ): Generator<Command, Signed | null> {
    const { random } = this;
    const { state } = this.venue;
    const again: OpenSession = {
      ...opened,
      stampMs: this.stamp(),
      key: random.hex(16),
      tokenHash: random.hex(64),
      siweNonce: random.hex(16),
      siweNonceUntilMs: state.time + 1_000,
      expiresAtMs: state.time + 60_000,
      maxOrderNotionalMicros: 0,
      maxNotionalMicros: 0,
      markets: [],
      ...caps,
    };
    yield again;
    const number = state.position;
    const { key } = again;
    if (!state.sessions.has(number)) return null;
    return { number, opened: again, key, oldKey: key, nextNonce: 0, sent: [] };
  }

  private ask(session: Signed, market: Market, priceTicks: number, sizeLots: number): Command {
    const extras = { ...LIMIT_EXTRAS, sizeLots };
    const terms = { type: LIMIT_ORDER, side: SHORT, marginMicros: 0, priceTicks, extras } as const;
    return this.orders.of(session, market, terms);
  }

  private moveTo(market: Market, ticks: number): Command {
    const indexTicks = Math.min(2 ** 30, Math.max(1, Math.round(ticks)));
    return indexUpdate(this.venue.state, this.stamp(), market.number, indexTicks);
  }
}
