/**
 * "AmendOrder": an open order changes and keeps its id. It is judged as if it had been canceled and
 * placed again for the lots that remain; a refusal puts everything back.
 */
import {
  type AmendOrder,
  CANCEL_RESTING,
  GOOD_TILL_CANCELED,
  LIMIT_ORDER,
  type OrderType,
  STOP_ORDER,
  STOP_TRIGGER,
} from "../../commands.js";
import { MAX_ORDER_NOTIONAL_MICROS } from "../../config.js";
import { STATUS_CANCELED, STATUS_PENDING, STATUS_RESTING } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { leaveBook } from "./book.js";
import { checkPost, checkPrice, checkSigned, referencePrice } from "./checks.js";
import { emit, settleEvents, touch } from "./end-events.js";
import { settleFunding } from "./funding.js";
import { abs, ceilDiv, floorDiv, max, min, num } from "./integers.js";
import { largest, waiting } from "./limits.js";
import { closable, isStopped, lotAtMark, MILLION, netEquityOf, unitOf } from "./margin.js";
import { namedOrder, openOrders } from "./open-orders.js";
import { checkOpening, type Parts, partsOf, shown } from "./opening.js";
import { acknowledge, type Outcome, takeAndRest } from "./placement.js";
import { type Refused, refused } from "./refusal.js";
import { endOrder, isOpen, reserve, settle } from "./settle.js";
import {
  accountOf,
  type Market,
  type Order,
  positionOf,
  type Session,
  type State,
} from "./state.js";

interface Amended {
  readonly price: bigint;
  readonly lots: bigint;
  readonly remaining: bigint;
  readonly keepsPlace: boolean;
  readonly expiresAt: number;
}

export function amendOrder(state: State, command: AmendOrder): Refused | null {
  const session = checkSigned(state, command);
  if ("refusal" in session) return session;
  const { nonce } = command;
  if ("replayed" in session) {
    const orderId = session.replayed;
    emit(state, { kind: "OrderReplayed", session: command.session, nonce, orderId });
    return null;
  }
  const until = command.validUntilMs;
  if (until !== 0 && state.time > until) return refused("too_late", state.time);
  const found = target(state, session, command);
  if ("refusal" in found) return found;
  const amended = afterwards(state, found, command);
  const market = state.markets[found.market];
  if (market === undefined) throw new Error("an order has a market");
  const faulty =
    amended.remaining === 0n ? null : check(state, session, market, found, amended, command);
  if (faulty !== null) return faulty;
  state.block.executed = true;
  execute(state, session, market, found, amended, command);
  return null;
}

function target(state: State, session: Session, command: AmendOrder): Order | Refused {
  const figures = [command.nonce, command.priceTicks, command.sizeLots];
  const isWhole = figures.every((figure) => Number.isSafeInteger(figure) && figure >= 0);
  const { expiresAtMs } = command;
  const changes = command.priceTicks > 0 || command.sizeLots > 0 || expiresAtMs !== -1;
  const isTime = Number.isSafeInteger(expiresAtMs) && expiresAtMs >= -1;
  if (!isWhole || !changes || !isTime || command.limitTicks !== 0) {
    return refused("invalid_order");
  }
  const own = openOrders(accountOf(state, session.account));
  const order = namedOrder(own, command.orderId, command.clientOrderId);
  if (order?.market !== command.market) return refused("order_not_amendable");
  const expiry = order.extra?.expiresAt ?? 0;
  if (expiry !== 0 && state.time >= expiry) return refused("order_not_amendable");
  const market = state.markets[order.market];
  if (market?.status === "halted") return refused("market_halted");
  if (market === undefined || isStopped(market)) return refused("market_settled");
  if (session.markets.length > 0 && !session.markets.includes(order.market)) {
    return refused("session_symbol_not_allowed");
  }
  if (order.reached) return refused("order_not_amendable");
  // Stops with a limit, and those that close the position, cannot be amended yet.
  const { extra } = order;
  if (extra !== null && (extra.limit > 0n || extra.closePosition)) {
    return refused("order_not_amendable");
  }
  // A stop without a limit is immediate-or-cancel: it has no expiry.
  return expiresAtMs !== -1 && !order.resting ? refused("invalid_order") : order;
}

/** Price and lots after the amendment. */
function afterwards(state: State, order: Order, command: AmendOrder): Amended {
  const filled = order.lots - order.remaining;
  let remaining = order.remaining;
  if (command.sizeLots > 0) {
    remaining = max(0n, BigInt(command.sizeLots) - filled);
    const position = positionOf(state, order.account, order.market);
    if (order.reduceOnly) remaining = min(remaining, closable(position, order.side));
  }
  const price = command.priceTicks > 0 ? BigInt(command.priceTicks) : order.price;
  const keepsPlace = price === order.price && remaining <= order.remaining;
  const expiresAt =
    command.expiresAtMs === -1 ? (order.extra?.expiresAt ?? 0) : command.expiresAtMs;
  return { price, lots: filled + remaining, remaining, keepsPlace, expiresAt };
}

function typeOf(order: Order): OrderType {
  return order.resting ? LIMIT_ORDER : STOP_ORDER;
}

function check(
  state: State,
  session: Session,
  market: Market,
  order: Order,
  amended: Amended,
  command: AmendOrder,
): Refused | null {
  if (market.held !== null) {
    return refused("index_held", num(market.held.index), num(market.index ?? 0n));
  }
  const { expiresAtMs } = command;
  const [earliest, latest] = [state.time + 1_000, state.time + 90 * 86_400_000];
  if (expiresAtMs > 0 && (expiresAtMs < earliest || expiresAtMs > latest)) {
    return refused("expiry_out_of_range", earliest, latest);
  }
  const priced = {
    side: order.side,
    type: typeOf(order),
    priceTicks: num(amended.price),
    reduceOnly: order.reduceOnly,
  };
  const extras = { trigger: order.extra?.trigger ?? STOP_TRIGGER, limitTicks: 0 };
  const price = checkPrice({ ...priced, extras }, market);
  if (price !== null) return price;
  const most = market.config.tiers[0]?.maxLeverage ?? 0;
  if (order.leverage > BigInt(most)) return refused("leverage_above_maximum", most);
  const position = positionOf(state, order.account, order.market);
  const capacity = closable(position, order.side);
  const reference = referencePrice(priced, market) * unitOf(market);
  const whole = amended.lots * reference;
  if (whole > BigInt(MAX_ORDER_NOTIONAL_MICROS)) return refused("notional_limit");
  const isExit = order.reduceOnly || amended.remaining <= capacity;
  const least = market.config.minNotionalMicros;
  if (whole < BigInt(least) && !isExit) return refused("notional_too_small", least);
  const posted = order.postOnly ? checkPost(priced, market) : null;
  if (posted !== null) return posted;
  const cap = session.maxOrderNotional;
  if (cap > 0n && !isExit && whole > cap) return refused("session_order_cap_exceeded", num(cap));

  // As if it had been canceled: its reserve is back, its capacity with the orders behind it.
  const account = accountOf(state, order.account);
  const { orders } = position;
  const share = order.closing;
  account.wallet += order.reserve;
  position.orders = orders.filter((other) => other !== order);
  if (!amended.keepsPlace) reserve(account, market, position);
  const parts = amended.keepsPlace
    ? keptParts(order, capacity, share, amended.remaining)
    : capacity === 0n
      ? openingParts(shown(market, priced), amended.remaining)
      : partsOf(market, position, priced, capacity, amended.remaining);
  const refusal = checkWithout(state, session, market, order, amended, parts, reference);
  position.orders = orders;
  account.wallet -= order.reserve;
  reserve(account, market, position);
  return refusal;
}

/** An order that keeps its place keeps its share of the capacity, and crosses nothing. */
function keptParts(order: Order, capacity: bigint, share: bigint, lots: bigint): Parts {
  const opens = (wanted: bigint): bigint =>
    order.resting ? max(0n, wanted - share) : max(0n, wanted - capacity);
  const opening = order.reduceOnly && capacity > 0n ? 0n : opens(lots);
  return { opening, closes: capacity > 0n, openNow: () => 0n, openRest: opens, lots };
}

/** Nothing closes: what the book shows trades immediately, the rest rests. */
function openingParts(book: bigint, lots: bigint): Parts {
  const openNow = (wanted: bigint): bigint => min(book, wanted);
  const openRest = (wanted: bigint): bigint => wanted - openNow(wanted);
  return { opening: lots, closes: false, openNow, openRest, lots };
}

function checkWithout(
  state: State,
  session: Session,
  market: Market,
  order: Order,
  amended: Amended,
  parts: Parts,
  reference: bigint,
): Refused | null {
  const position = positionOf(state, order.account, order.market);
  const capacity = closable(position, order.side);
  const leverage = num(order.leverage);
  if (parts.opening > 0n) {
    const resulting = capacity > 0n ? parts.opening : abs(position.lots) + amended.remaining;
    const added = parts.opening * reference;
    const faulty = checkOpening(state, session, market, { leverage }, resulting, added);
    if (faulty !== null) return faulty;
  }
  const own = amended.remaining * amended.price * unitOf(market);
  if (waiting(market, position) + own > BigInt(MAX_ORDER_NOTIONAL_MICROS)) {
    return refused("notional_limit");
  }
  if (order.reduceOnly) return null;
  const { extra } = order;
  if (extra !== null && extra.size > 0n && extra.margin > 0n) {
    const opening =
      order.resting && capacity > 0n
        ? parts.openNow(parts.lots) + parts.openRest(parts.lots)
        : max(0n, amended.remaining - capacity);
    const needed = ceilDiv(extra.opened + opening * reference, order.leverage);
    if (needed > extra.margin) return refused("margin_too_small", num(needed));
  }
  if (!order.resting || amended.keepsPlace) return null;
  return checkMoney(state, market, order, amended, parts, reference);
}

/** What would rest, and what the book shows within its price, must be paid for. */
function checkMoney(
  state: State,
  market: Market,
  order: Order,
  amended: Amended,
  parts: Parts,
  reference: bigint,
): Refused | null {
  const position = positionOf(state, order.account, order.market);
  const { wallet } = accountOf(state, order.account);
  const { takerFeePpm, makerFeePpm } = market.config;
  const capacity = closable(position, order.side);
  const feeOf = (notional: bigint, ppm: number): bigint => ceilDiv(notional * BigInt(ppm), MILLION);
  const cost = (notional: bigint, ppm: number): bigint =>
    ceilDiv(notional, order.leverage) + feeOf(notional, ppm);
  const released =
    capacity === 0n
      ? 0n
      : max(0n, netEquityOf(market, position) - feeOf(capacity * lotAtMark(market), takerFeePpm));
  const pays = (lots: bigint): boolean => {
    const resting = cost(parts.openRest(lots) * amended.price * unitOf(market), makerFeePpm);
    if (resting > wallet) return false;
    const now = parts.openNow(lots);
    return now === 0n || resting + cost(now * reference, takerFeePpm) <= wallet + released;
  };
  if (pays(amended.remaining)) return null;
  const needed = ceilDiv(amended.remaining * reference, order.leverage);
  const lotsFor = (margin: bigint): bigint => floorDiv(margin * order.leverage, reference);
  const most = largest(needed - 1n, (margin) => pays(lotsFor(margin)));
  return refused("insufficient_margin", num(most), num(lotsFor(most)));
}

function execute(
  state: State,
  session: Session,
  market: Market,
  order: Order,
  amended: Amended,
  command: AmendOrder,
): void {
  const { nonce, batch } = command;
  const before = { fund: state.fund, fees: state.fees };
  const position = positionOf(state, order.account, order.market);
  touch(state, position);
  const type = typeOf(order);
  const clientId = order.extra?.clientId ?? "";
  const outcome = change(state, session, market, order, amended, command);
  settleEvents(state, before);
  const { id: orderId, side } = order;
  acknowledge(state, session, position, outcome, {
    orderId,
    side,
    type,
    nonce,
    batch,
    clientId,
  });
}

function change(
  state: State,
  session: Session,
  market: Market,
  order: Order,
  amended: Amended,
  command: AmendOrder,
): Outcome {
  const none = { reason: END.none, filled: 0n, spent: 0n, fees: 0n };
  const position = positionOf(state, order.account, order.market);
  if (amended.remaining === 0n) {
    const { remaining } = order;
    endOrder(state, order, END.requested);
    return { ...none, status: STATUS_CANCELED, reason: END.requested, remaining };
  }
  emit(state, {
    kind: "OrderAmended",
    orderId: order.id,
    account: order.account,
    market: order.market,
    session: session.number,
    nonce: command.nonce,
    priceTicks: num(amended.price),
    lots: num(amended.lots),
    remainingLots: num(amended.remaining),
    limitTicks: 0,
    expiresAtMs: amended.expiresAt,
  });
  settleFunding(state, position);
  changeTerms(session, order, amended, command);
  if (order.resting && !amended.keepsPlace)
    return takeAgain(state, session, market, order, amended);
  apply(session, order, amended);
  if (!amended.keepsPlace) requeue(state, order);
  settle(state, order.account, order.market);
  const status = order.resting ? STATUS_RESTING : STATUS_PENDING;
  return { ...none, status, remaining: amended.remaining };
}

/** What plain orders do not have; one that is to expire has it from now on. */
function changeTerms(
  session: Session,
  order: Order,
  amended: Amended,
  { sizeLots }: AmendOrder,
): void {
  const { expiresAt } = amended;
  const cap = session.maxOrderNotional;
  if (order.extra === null) {
    if (expiresAt === 0) return;
    const none = { size: 0n, margin: 0n, selfTrade: CANCEL_RESTING, clientId: "" };
    const plain = { timeInForce: GOOD_TILL_CANCELED, trigger: STOP_TRIGGER, limit: 0n };
    order.extra = {
      ...none,
      ...plain,
      closePosition: false,
      expiresAt,
      cap,
      filled: 0n,
      opened: 0n,
    };
    return;
  }
  order.extra.cap = cap;
  order.extra.expiresAt = expiresAt;
  if (sizeLots > 0 && order.extra.size > 0n) order.extra.size = amended.lots;
}

function apply(session: Session, order: Order, amended: Amended): void {
  order.price = amended.price;
  order.lots = amended.lots;
  order.remaining = amended.remaining;
  order.cap = session.maxNotional;
}

/** Its rank is the highest now. */
function requeue(state: State, order: Order): void {
  const position = positionOf(state, order.account, order.market);
  position.orders = [...position.orders.filter((other) => other !== order), order];
}

/** Leaves the book, takes what it crosses, rests behind all others. */
function takeAgain(
  state: State,
  session: Session,
  market: Market,
  order: Order,
  amended: Amended,
): Outcome {
  const position = positionOf(state, order.account, order.market);
  // Until it rests or ends it is still an order of the account.
  state.serving = { order, taker: { filled: 0n } };
  position.orders = position.orders.filter((other) => other !== order);
  leaveBook(market, order);
  accountOf(state, order.account).wallet += order.reserve;
  order.reserve = 0n;
  order.closing = 0n;
  settle(state, order.account, order.market);
  apply(session, order, amended);
  const buying = {
    state,
    market,
    position,
    orderId: order.id,
    side: order.side,
    leverage: order.leverage,
    reduceOnly: order.reduceOnly,
    cap: order.cap,
    lots: amended.remaining,
    extra: order.extra,
  };
  let rested = false;
  const outcome = takeAndRest(buying, session, num(amended.price), false, (left) => {
    rested = true;
    order.remaining = left;
    return order;
  });
  // What settle ended has said so; what never rested has not.
  if (!rested && !isOpen(state, order)) {
    emit(state, {
      kind: "OrderEnded",
      orderId: order.id,
      account: order.account,
      market: order.market,
      reason: outcome.reason,
      remainingLots: num(outcome.remaining),
    });
  }
  state.serving = null;
  settle(state, order.account, order.market);
  return outcome;
}
