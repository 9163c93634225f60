/** PlaceOrder: session and nonce, the checks, the execution, and the acknowledgement. */
import { typeWord } from "@perpgate/protocol/acknowledgement-leaf";
import type { ClientIdWords } from "@perpgate/protocol/client-order-id";
import { FILL_OR_KILL, type PlaceOrder } from "../commands.js";
import { emit } from "../events/event-log.js";
import { STATUS_CANCELED } from "../events/event-table.js";
import { END, REFUSAL } from "../reasons.js";
import { isTooLate, refuse } from "../refuse.js";
import { consumeNonce, signingSession } from "../sessions/signing.js";
import type { Market } from "../state/market.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import { announce, execute } from "./execute.js";
import { mayPlace } from "./placement-checks.js";
import { placeExits } from "./placement-exits.js";
import { undoTrial } from "./undo-trial.js";

/**
 * Checks and executes; returns whether the order was accepted. The acknowledgement follows in
 * `acknowledge`, after the checks of the invariants.
 */
export function applyPlaceOrder(s: VenueState, order: PlaceOrder): boolean {
  const session = signingSession(s, order);
  if (session === undefined) return false;
  const { extras } = order;
  if (extras !== undefined && isTooLate(s, extras.validUntilMs)) {
    return refuse(s, REFUSAL.too_late, s.timeMs);
  }
  const market = s.markets[order.market];
  if (market === undefined) return refuse(s, REFUSAL.unknown_symbol);
  // A figure of the checks that overflows is this market's.
  s.focus = order.market;
  if (!mayPlace(s, session, market, order)) return false;
  s.scratch.session = session;
  if (order.extras?.timeInForce === FILL_OR_KILL) fillOrKill(s, session, market, order);
  else execute(s, session, market, order);
  placeExits(s, session, market, order);
  return true;
}

/** Executes the order; if a lot is left, nothing has happened. */
function fillOrKill(s: VenueState, session: Session, market: Market, order: PlaceOrder): void {
  const { trial, outcome, placement, work } = s.scratch;
  const { spent } = work;
  const { unitsPerUnitUndone } = s.rules;
  // What it does may have to be undone, and that counts, too. Makers that are over are there again then.
  work.endAside();
  const outer = work.narrow(Math.floor(work.left / (1 + unitsPerUnitUndone)));
  const eventWords = s.events.length;
  const row = market.positions.ensure(session.account);
  trial.begin();
  trial.notePosition(market, row);
  execute(s, session, market, order);
  trial.isOn = false;
  work.widen(outer);
  if (outcome.remainingLots === 0) return;
  const { reason } = outcome;
  undoTrial(s, market);
  work.charge(unitsPerUnitUndone * (work.spent - spent));
  s.events.cutTo(eventWords);
  market.positions.reopen(row, session.account);
  announce(s, session, market, order, row);
  outcome.status = STATUS_CANCELED;
  // That the book has too little for it is what the order is about.
  const isPlain = reason === END.none || reason === END.book_empty;
  outcome.reason = isPlain ? END.not_filled : reason;
  outcome.remainingLots = placement.lots;
}

/** What an acknowledgement says of its order, its outcome apart. */
type Acknowledged = Pick<PlaceOrder, "market" | "side" | "type" | "nonce" | "batch">;

/** The last event of an accepted command; its nonce counts as used from here on. */
export function acknowledge(
  s: VenueState,
  order: Acknowledged,
  orderId: number,
  client: ClientIdWords,
): void {
  const { taker, outcome } = s.scratch;
  const { session } = s.scratch;
  if (session === null) throw new Error("no order to acknowledge");
  const market = s.markets[order.market]!;
  const lots = market.positions.lots(taker.row);
  const cost = market.positions.cost(taker.row);
  emit.OrderAcknowledged(s.events, {
    orderId,
    account: session.account,
    session: session.number,
    market: order.market,
    side: order.side,
    type: typeWord(order.type, s.scratch.attachedExits),
    nonce: order.nonce,
    status: outcome.status,
    reason: outcome.reason,
    filledLots: taker.filledLots,
    filledMicros: taker.filledMicros,
    feeMicros: taker.feeMicros,
    remainingLots: outcome.remainingLots,
    positionLots: lots,
    positionCostMicros: cost,
    unrealizedMicros: lots * market.markUnit - cost,
    block: s.totals.block,
    ackNonce: s.seq,
    client1: client[0],
    client2: client[1],
    client3: client[2],
    client4: client[3],
    client5: client[4],
  });
  s.totals.blockAcks += 1;
  consumeNonce(s, session, order.nonce, order.batch);
}
