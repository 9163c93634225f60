/**
 * One order of one trader: near the touch, so that trades are frequent, at sizes from one micro to
 * more than the wallet, and now and then wrong on purpose.
 */

import type { Random } from "@perpgate/protocol/random";
import {
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type OrderTypeCode,
  type PlaceOrder,
  SHORT,
  type Side,
  STOP_ORDER,
} from "../../commands.js";
import { plainOrder } from "../commands.js";
import {
  type Account,
  type Market,
  type Order,
  type Position,
  positionOf,
} from "../reference/state.js";
import type { ReferenceVenue } from "../reference/venue.js";
import { withExits } from "./exits.js";
import { extendStop } from "./stop-terms.js";
import { Terms } from "./terms.js";
import type { Signed } from "./traders.js";

/**
 * Orders that are wrong on purpose.
 */
const NEVER = 2 ** 53;

/** One field that a client should not send, or only rarely means. */
function spoil(
  random: Random,
  venue: ReferenceVenue,
  order: PlaceOrder,
  session: Signed,
): PlaceOrder {
  const first = venue.state.markets[order.market]?.config.tiers[0]?.maxLeverage ?? 1;
  const changes: readonly Partial<PlaceOrder>[] = [
    { session: random.int(1, 50) },
    { key: session.oldKey },
    { key: "00" },
    { market: random.pick([-1, 17, 0.5]) },
    { market: random.int(0, venue.state.markets.length - 1) },
    { marginMicros: random.pick([0, -1, 1.5, NEVER]) },
    { leverage: random.pick([0, 2.5, -3]) },
    { leverage: first + 1 },
    { nonce: random.pick([-1, 0.5, NEVER]) },
    { priceTicks: random.pick([-1, 0.25, NEVER]) },
    { marginMicros: 10 ** 15 + 1, leverage: 1 },
    { priceTicks: 0 },
    { postOnly: true },
    { reduceOnly: true },
    { type: MARKET_ORDER, postOnly: true },
  ];
  return { ...order, ...random.pick(changes) };
}

export class Orders {
  private readonly terms: Terms;

  constructor(
    private readonly random: Random,
    private readonly venue: ReferenceVenue,
    private readonly stamp: () => number,
    private readonly wrong: number,
  ) {
    this.terms = new Terms(random, venue);
  }

  /** Anything that a trader might send. */
  any(session: Signed, market: Market, account: Account): PlaceOrder {
    const draft = this.draft(session, market, account);
    // A spoiled one keeps its nonce.
    const isSpoiled = draft.nonce !== session.nextNonce;
    const order = isSpoiled ? draft : { ...draft, nonce: this.nonce(session) };
    return this.remember(session, order);
  }

  /** As `any`, without a nonce of its own. */
  draft(session: Signed, market: Market, account: Account): PlaceOrder {
    const { random } = this;
    const position = positionOf(this.venue.state, account.number, market.number);
    const type = random.pick<OrderTypeCode>([
      LIMIT_ORDER,
      LIMIT_ORDER,
      LIMIT_ORDER,
      MARKET_ORDER,
      STOP_ORDER,
    ]);
    const side = this.side(position);
    const reducing = side > 0 ? position.lots < 0n : position.lots > 0n;
    const reduceOnly = random.chance(reducing ? 0.35 : 0.02);
    const { leverage, margin } = this.size(market, account, position);
    const order: PlaceOrder = {
      kind: "PlaceOrder",
      stampMs: this.stamp(),
      session: session.number,
      key: session.key,
      nonce: session.nextNonce,
      market: market.number,
      side,
      type,
      marginMicros: reduceOnly ? this.closing(position) : margin,
      leverage,
      priceTicks: this.price(market, side, type),
      reduceOnly,
      postOnly: type === LIMIT_ORDER && random.chance(0.15),
    };
    return this.change(session, this.extend(order, market, position));
  }

  /** A share of the orders has more than the plain terms. */
  private extend(order: PlaceOrder, market: Market, position: Position): PlaceOrder {
    const { random, terms } = this;
    const extended = random.chance(0.3) ? terms.extend(order, market, position) : order;
    const whole = extendStop(random, extended, market, position);
    return this.venue.state.version < 3 ? whole : withExits(random, whole, market);
  }

  /** Now and then something is wrong with it. */
  private change(session: Signed, order: PlaceOrder): PlaceOrder {
    const { random } = this;
    if (!random.chance(this.wrong)) return order;
    const isExtended = order.extras !== undefined;
    if (isExtended && random.chance(0.5)) return this.terms.spoil(order);
    return spoil(random, this.venue, order, session);
  }

  /** An order of a scene: what is not given is plain. */
  of(session: Signed, market: Market, given: Partial<PlaceOrder>): PlaceOrder {
    const { number, key } = session;
    const signed = { stampMs: this.stamp(), session: number, key, nonce: session.nextNonce++ };
    return this.remember(session, plainOrder({ ...signed, market: market.number, ...given }));
  }

  private remember(session: Signed, order: PlaceOrder): PlaceOrder {
    session.sent.push(order);
    if (session.sent.length > 5_000) session.sent.shift();
    return order;
  }

  private side(position: Position): Side {
    if (position.lots === 0n) return this.random.chance(0.5) ? LONG : SHORT;
    const toward: Side = position.lots > 0n ? LONG : SHORT;
    return this.random.chance(0.5) ? toward : toward === LONG ? SHORT : LONG;
  }

  nonce(session: Signed): number {
    const { random } = this;
    const next = session.nextNonce;
    if (random.chance(0.02)) return Math.max(0, next - random.int(1, 3_000));
    if (random.chance(0.01)) return this.belowWindow(session);
    if (random.chance(0.02)) return next + random.int(1, 50);
    session.nextNonce += random.chance(0.05) ? random.int(2, 9) : 1;
    return next;
  }

  /** Just below, or at, the lowest nonce that the venue remembers of the session. */
  private belowWindow(session: Signed): number {
    const known = this.venue.state.sessions.get(session.number)?.nonces.keys() ?? [];
    const lowest = [...known].reduce((a, b) => Math.min(a, b), session.nextNonce);
    return Math.max(0, lowest - this.random.int(0, 2));
  }

  private closing(position: Position): number {
    if (this.random.chance(0.5)) return 10 ** 12;
    return Math.max(1, Math.floor(Math.abs(Number(position.cost)) * this.random.next()));
  }

  /** Leverage and margin, mostly such that the tiers allow them together. */
  private size(
    market: Market,
    account: Account,
    position: Position,
  ): { leverage: number; margin: number } {
    const { random } = this;
    const { tiers, microsPerTickLot, takerFeePpm } = market.config;
    const rows = tiers.map((tier) => tier.maxLeverage);
    const leverage = random.chance(0.4) ? random.pick([1, ...rows]) : random.int(1, rows[0] ?? 1);
    const wallet = Math.max(100, Number(account.wallet));
    const lot = Number(market.mark) * microsPerTickLot;
    const top = tiers.at(-1)?.upToMicros ?? 0;
    const usable = Math.min(wallet * leverage, top);
    const kind = random.weighted({ part: 50, most: 8, all: 5, lots: 12, micros: 3, over: 2 });
    const exact = Math.floor((wallet * 1e6) / (1e6 + leverage * takerFeePpm));
    const notional = {
      part: usable * random.next() ** 2 * 0.25,
      most: usable * (0.2 + 0.8 * random.next()),
      all: (exact + random.int(-1, 1)) * leverage,
      lots: lot * random.pick([1, 1, 2, 3, 10, 100]) + leverage * random.int(-1, 1),
      micros: random.int(1, 2_000) * leverage,
      over: wallet * leverage * (1 + random.next()),
    }[kind];
    const held = Math.abs(Number(position.lots)) * lot;
    const tier = tiers.find((each) => held + notional * 1.01 <= each.upToMicros);
    const allowed = random.chance(0.9) ? Math.min(leverage, tier?.maxLeverage ?? 1) : leverage;
    return { leverage: allowed, margin: Math.max(1, Math.floor(notional / allowed)) };
  }

  price(market: Market, side: Side, type: OrderTypeCode): number {
    const { random } = this;
    const mark = Number(market.mark);
    if (mark === 0) return random.int(0, 100);
    const step = Math.max(1, Math.round(mark / 20_000));
    const away = (share: number): number => Math.max(1, Math.round(mark * share * random.next()));
    if (type === STOP_ORDER) {
      if (random.chance(0.04)) return this.farPrice(mark);
      return Math.max(1, mark + side * (random.chance(0.05) ? -away(0.02) : away(0.03)));
    }
    if (type === MARKET_ORDER)
      return random.chance(0.7) ? 0 : Math.max(1, mark + side * away(0.02));
    const bid = this.touch(market.bids, mark, -step);
    const ask = this.touch(market.asks, mark, step);
    const [own, other] = side === LONG ? [bid, ask] : [ask, bid];
    const band = Math.floor((mark * market.config.bandPpm) / 1e6);
    const kind = random.weighted({ join: 40, cross: 25, near: 30, wide: 6, edge: 3, far: 1 });
    const price = {
      join: own + step * random.int(-3, 3),
      cross: other + step * random.int(-1, 3) * side,
      near: mark - side * away(0.006),
      wide: mark + random.pick([LONG, SHORT]) * away(0.08),
      edge: mark + side * (band + random.int(-1, 1)),
      far: this.farPrice(mark),
    }[kind];
    return Math.max(1, price);
  }

  /** The best price of a side, unless the mark has left it behind. */
  private touch(orders: readonly Order[], mark: number, step: number): number {
    const best = Number(orders[0]?.price ?? 0n);
    const usable = Math.abs(best - mark) < mark * 0.04 + 2 || this.random.chance(0.1);
    return best > 0 && usable ? best : mark + step;
  }

  private farPrice(mark: number): number {
    const low = Math.ceil(mark / 10);
    return this.random.pick([low - 1, low, mark * 10, mark * 10 + 1]);
  }
}
