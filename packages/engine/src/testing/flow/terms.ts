/**
 * Terms that plain orders do not have, for a share of a flow's orders: sizes near what the book shows,
 * margins near what they need, orders that fill or are canceled, expiries that come soon, client ids
 * that collide.
 */
import type { Random } from "@perpgate/protocol/random";
import {
  CANCEL_BOTH,
  CANCEL_RESTING,
  CANCEL_TAKER,
  FILL_OR_KILL,
  GOOD_TILL_CANCELED,
  IMMEDIATE_OR_CANCEL,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type OrderExtras,
  type PlaceOrder,
  STOP_ORDER,
  type TimeInForceCode,
} from "../../commands.js";
import { PLAIN_EXTRAS } from "../commands.js";
import type { Market, Position } from "../reference/state.js";
import type { ReferenceVenue } from "../reference/venue.js";

const DAY_MS = 86_400_000;

export class Terms {
  constructor(
    private readonly random: Random,
    private readonly venue: ReferenceVenue,
  ) {}

  /** The order with terms of its own. */
  extend(order: PlaceOrder, market: Market, position: Position): PlaceOrder {
    const { random } = this;
    const timeInForce = this.timeInForce(order);
    const isTaking = order.type !== STOP_ORDER && timeInForce !== GOOD_TILL_CANCELED;
    const priceTicks =
      isTaking && order.type === LIMIT_ORDER ? this.deepPrice(order, market) : order.priceTicks;
    const isSized = (isTaking && timeInForce === FILL_OR_KILL) || random.chance(0.5);
    const sizeLots = isSized ? this.lots({ ...order, priceTicks }, market, position, isTaking) : 0;
    const extras: OrderExtras = {
      ...PLAIN_EXTRAS,
      sizeLots,
      timeInForce,
      expiresAtMs: timeInForce === GOOD_TILL_CANCELED ? this.expiresAt() : 0,
      clientOrderId: this.clientId(),
      selfTrade: random.pick([CANCEL_RESTING, CANCEL_RESTING, CANCEL_TAKER, CANCEL_BOTH]),
      validUntilMs: random.chance(0.05) ? this.venue.state.time + random.int(-150, 300) : 0,
    };
    const marginMicros = isSized
      ? this.margin(order, market, sizeLots, priceTicks)
      : order.marginMicros;
    const postOnly = order.postOnly && timeInForce === GOOD_TILL_CANCELED;
    return { ...order, priceTicks, marginMicros, postOnly, extras };
  }

  /** One term that does not go with the others, or is none at all. */
  spoil(order: PlaceOrder): PlaceOrder {
    const { random } = this;
    const { extras = PLAIN_EXTRAS } = order;
    const changes: readonly Partial<OrderExtras>[] = [
      { sizeLots: random.pick([-1, 0.5, 2 ** 53]) },
      { sizeLots: 2 ** 50 },
      { expiresAtMs: random.pick([-1, 1.5, 1]) },
      { expiresAtMs: this.venue.state.time + 1_000 },
      { validUntilMs: random.pick([-1, 0.5, 1]) },
      { clientOrderId: random.pick(["a b", "é", "x".repeat(37)]) },
      { timeInForce: random.pick([GOOD_TILL_CANCELED, IMMEDIATE_OR_CANCEL, FILL_OR_KILL]) },
    ];
    return { ...order, extras: { ...extras, ...random.pick(changes) } };
  }

  private timeInForce({ type }: PlaceOrder): TimeInForceCode {
    if (type === STOP_ORDER) return IMMEDIATE_OR_CANCEL;
    if (type === MARKET_ORDER) return this.random.pick([IMMEDIATE_OR_CANCEL, FILL_OR_KILL]);
    const kind = this.random.weighted({ gtc: 5, ioc: 2, fok: 4 });
    if (kind === "gtc") return GOOD_TILL_CANCELED;
    return kind === "ioc" ? IMMEDIATE_OR_CANCEL : FILL_OR_KILL;
  }

  /** At the touch or some levels into the book. */
  private deepPrice({ side, priceTicks }: PlaceOrder, market: Market): number {
    const { random } = this;
    const makers = side === LONG ? market.asks : market.bids;
    const maker = makers[Math.min(makers.length - 1, random.int(0, 12))];
    if (maker === undefined || random.chance(0.15)) return priceTicks;
    return Math.max(1, Number(maker.price) + side * random.int(0, 2));
  }

  private lots(order: PlaceOrder, market: Market, position: Position, isTaking: boolean): number {
    const { random } = this;
    const makers = order.side === LONG ? market.asks : market.bids;
    const cap = this.venue.state.sessions.get(order.session)?.maxOrderNotional ?? 0n;
    if (cap > 0n && random.chance(0.4)) {
      const best = makers[0]?.price ?? market.mark;
      const price = order.type === MARKET_ORDER ? Number(best) : order.priceTicks;
      return Math.max(1, Math.floor(Number(cap) / (price * market.config.microsPerTickLot)));
    }
    if (isTaking && makers.length > 0 && random.chance(0.6)) {
      const shown = makers.slice(0, random.int(1, 10)).reduce((sum, m) => sum + m.remaining, 0n);
      return Math.max(1, Number(shown) + random.pick([-1, 0, 0, 1]));
    }
    if (position.lots !== 0n && random.chance(0.3)) {
      return Math.max(1, Math.abs(Number(position.lots)) + random.pick([-1, 0, 1, 10]));
    }
    const lot = Math.max(1, Number(market.mark) * market.config.microsPerTickLot);
    return Math.max(1, Math.floor((order.marginMicros * order.leverage) / lot));
  }

  /** None, what the size needs by a micro more or less, or what the order had. */
  private margin(
    { leverage, marginMicros }: PlaceOrder,
    market: Market,
    lots: number,
    priceTicks: number,
  ): number {
    const { random } = this;
    const price = priceTicks > 0 ? priceTicks : Number(market.mark);
    const needed = Math.ceil((lots * price * market.config.microsPerTickLot) / leverage);
    const kind = random.weighted({ none: 5, exact: 3, part: 1, sent: 1 });
    const margin = {
      none: 0,
      exact: Math.min(10 ** 12, needed) + random.pick([-1, 0, 0, 1]),
      part: Math.floor(needed * random.next()),
      sent: marginMicros,
    }[kind];
    return Math.max(0, Math.min(margin, 10 ** 13));
  }

  private expiresAt(): number {
    const { random, venue } = this;
    if (random.chance(0.4)) return 0;
    const ahead = random.pick([
      random.int(1_000, 1_400),
      random.int(1_000, 6_000),
      random.int(1_000, 60_000),
      90 * DAY_MS,
      random.pick([999, 90 * DAY_MS + 1]),
    ]);
    return venue.state.time + ahead + random.int(-20, 20) * (random.chance(0.2) ? 1 : 0);
  }

  private clientId(): string {
    const { random } = this;
    if (random.chance(0.6)) return "";
    return random.chance(0.8) ? `c-${random.int(0, 9)}` : `${random.hex(30)}_-Zz09`;
  }
}
