/**
 * Amendments of a trader's open orders: to a price near the touch, to more or fewer lots, to both, of
 * stops also the limit; and now and then of an order that is not there, or with figures that no client should send.
 */
import type { Random } from "@perpgate/protocol/random";
import { type AmendOrder, LIMIT_ORDER, STOP_ORDER, TAKE_PROFIT_TRIGGER } from "../../commands.js";
import { openOrders } from "../reference/open-orders.js";
import { type Account, marketOf, type Order } from "../reference/state.js";
import type { ReferenceVenue } from "../reference/venue.js";
import type { Orders } from "./orders.js";
import type { Signed } from "./traders.js";

const UNCHANGED = { priceTicks: 0, sizeLots: 0, limitTicks: 0, expiresAtMs: -1, validUntilMs: 0 };

export class Amendments {
  constructor(
    private readonly random: Random,
    private readonly venue: ReferenceVenue,
    private readonly orders: Orders,
    private readonly stamp: () => number,
    private readonly wrong: number,
  ) {}

  any(session: Signed, account: Account): AmendOrder {
    const draft = this.draft(session, account);
    // A spoiled one keeps its nonce.
    const isSpoiled = draft.nonce !== session.nextNonce;
    const sent = isSpoiled ? draft : { ...draft, nonce: this.orders.nonce(session) };
    session.sent.push(sent);
    if (session.sent.length > 5_000) session.sent.shift();
    return sent;
  }

  /** An amendment of a scene: what is not given stays as it is. */
  of(session: Signed, market: number, orderId: number, given: Partial<AmendOrder>): AmendOrder {
    return {
      kind: "AmendOrder",
      stampMs: this.stamp(),
      session: session.number,
      key: session.key,
      nonce: this.orders.nonce(session),
      market,
      orderId,
      clientOrderId: "",
      ...UNCHANGED,
      ...given,
    };
  }

  /** As `any`, without a nonce of its own. */
  draft(session: Signed, account: Account): AmendOrder {
    const { random } = this;
    const own = openOrders(account);
    const order = own.length > 0 ? random.pick(own) : undefined;
    const amendment: AmendOrder = {
      kind: "AmendOrder",
      stampMs: this.stamp(),
      session: session.number,
      key: session.key,
      nonce: session.nextNonce,
      market: order?.market ?? 0,
      ...this.target(order),
      ...UNCHANGED,
      ...(order === undefined ? { sizeLots: 1 } : this.change(order)),
    };
    return random.chance(this.wrong) ? this.spoil(session, amendment) : amendment;
  }

  /** By its id or by the client's. */
  private target(order: Order | undefined): Pick<AmendOrder, "orderId" | "clientOrderId"> {
    const { random } = this;
    const clientOrderId = order?.extra?.clientId ?? "";
    if (clientOrderId !== "" && random.chance(0.5)) return { orderId: 0, clientOrderId };
    const orderId = order?.id ?? random.int(1, this.venue.state.position);
    return { orderId, clientOrderId: "" };
  }

  private change(order: Order): Partial<AmendOrder> {
    const { random } = this;
    const isLimited = order.extra !== null && order.extra.limit > 0n;
    // What can be changed of a triggered stop is its limit.
    if (isLimited && random.chance(order.resting ? 0.8 : 0.3)) {
      const limitTicks = this.limit(order);
      if (order.resting || random.chance(0.5)) return { limitTicks };
      return { limitTicks, priceTicks: this.price(order) };
    }
    // Most of these have no size, and no expiry where they are plain stops.
    if (!order.resting && random.chance(0.5)) {
      return random.chance(0.7)
        ? { priceTicks: this.price(order) }
        : { expiresAtMs: this.expiry() };
    }
    const kind = random.weighted({ price: 5, size: 4, both: 2, same: 1, expiry: 1 });
    if (kind === "expiry") return { expiresAtMs: this.expiry() };
    if (kind === "same") return { priceTicks: Number(order.price) };
    return {
      ...(kind === "size" ? {} : { priceTicks: this.price(order) }),
      ...(kind === "price" ? {} : { sizeLots: this.size(order) }),
    };
  }

  private expiry(): number {
    const { random } = this;
    const { time } = this.venue.state;
    const far = 90 * 86_400_000;
    return random.pick([
      0,
      time + random.int(1_000, 20_000),
      time + 999,
      time + far,
      time + far + 1,
    ]);
  }

  private price(order: Order): number {
    const market = marketOf(this.venue.state, order.market);
    const type = order.resting ? LIMIT_ORDER : STOP_ORDER;
    const price = this.orders.price(market, order.side, type);
    const isTakeProfit = !order.resting && order.extra?.trigger === TAKE_PROFIT_TRIGGER;
    return Math.max(1, isTakeProfit ? 2 * Number(market.mark) - price : price);
  }

  /** Near the trigger or, of one that was triggered, near the touch; sometimes as it was. */
  private limit(order: Order): number {
    const { random } = this;
    if (random.chance(0.1)) return Number(order.extra?.limit ?? 0n);
    if (order.resting) return this.price(order);
    const away = Number(order.price) * random.pick([0.001, 0.004, 0.2]) * random.next();
    return Math.max(1, Math.round(Number(order.price) + random.pick([1, -1]) * away));
  }

  private size(order: Order): number {
    const { random } = this;
    const lots = Number(order.lots);
    const filled = lots - Number(order.remaining);
    const kind = random.weighted({ less: 4, more: 3, filled: 1, one: 1, huge: 0.3 });
    return {
      less: Math.max(1, filled + Math.ceil((lots - filled) * random.next())),
      more: Math.ceil(lots * (1 + random.next() ** 2)) + random.int(0, 2),
      filled: Math.max(1, filled - random.int(-1, 1)),
      one: lots + 1,
      huge: lots * 1_000_000,
    }[kind];
  }

  private spoil(session: Signed, amendment: AmendOrder): AmendOrder {
    const { random } = this;
    const changes: readonly Partial<AmendOrder>[] = [
      { orderId: random.int(1, this.venue.state.position) },
      { orderId: 0 },
      { market: random.pick([-1, 0, 1, 0.5, 17]) },
      { session: random.int(1, 50) },
      { key: session.oldKey },
      { nonce: random.pick([-1, 0.5, 2 ** 53]) },
      { priceTicks: random.pick([-1, 0.25, 2 ** 53]) },
      { priceTicks: Math.round(amendment.priceTicks * random.pick([0.05, 0.5, 2, 20])) },
      { sizeLots: random.pick([-1, 0.5, 2 ** 53]) },
      { limitTicks: random.pick([-1, 0.5, 1, Math.max(1, amendment.priceTicks)]) },
      { ...UNCHANGED },
      { sizeLots: Number.MAX_SAFE_INTEGER },
      { validUntilMs: this.venue.state.time - 1 },
      { expiresAtMs: random.pick([-2, 0.5]) },
      { orderId: 0, clientOrderId: random.pick(["none", "?"]) },
    ];
    return { ...amendment, ...random.pick(changes) };
  }
}
