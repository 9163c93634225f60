/**
 * An acknowledgement from the fields of its leaf. The venue builds its responses with this, and a client
 * rebuilds them from the leaf, so that the two can be compared exactly.
 */

import { averagePrice, fromMicros, fromSteps, type UnitsOfMarket } from "../numbers/units.js";
import { clientIdOf } from "../orders/client-order-id.js";
import { EXIT_KINDS, EXIT_NAMES, exitId, orderIdText } from "../orders/order-id.js";
import {
  type AcknowledgedField,
  type AcknowledgementLeaf,
  END_REASONS,
  exitsOfTypeWord,
  ORDER_STATUSES,
  typeWord,
} from "./acknowledgement-leaf.js";
import type { AnswerLeaf } from "./answer-leaf.js";
import type { CancelLeaf } from "./cancel-leaf.js";
import type { Acknowledgement, AttachedExit, CancelAcknowledgement } from "./preconfirm.js";

/** @throws RangeError if a number has no meaning in that market, or none at all. */
export function acknowledgementOf(
  field: (name: AcknowledgedField) => number,
  market: UnitsOfMarket,
): Acknowledgement {
  const exits = exitsOfTypeWord(field("type"));
  const status = ORDER_STATUSES[field("status")];
  if (status === undefined) throw new RangeError("an acknowledgement has an unknown status");
  const filled = field("filledLots");
  const lots = field("positionLots");
  const acknowledgement: Acknowledgement = {
    ackNonce: String(field("ackNonce")),
    orderId: orderIdText(field("orderId")),
    symbol: market.symbol,
    side: field("side") > 0 ? "long" : "short",
    nonce: field("nonce"),
    status,
    filledSize: fromSteps(filled, market.lot),
    remainingSize: fromSteps(field("remainingLots"), market.lot),
    avgFillPrice: averagePrice(market, field("filledMicros"), filled),
    feePaid: fromMicros(field("feeMicros")),
    positionAfter: {
      size: fromSteps(lots, market.lot),
      avgEntry: averagePrice(market, field("positionCostMicros"), lots),
      unrealizedPnl: fromMicros(field("unrealizedMicros")),
    },
    expectedBlock: field("block"),
    reason: endReasonOf(field("reason")),
    clientOrderId: clientIdOf([
      field("client1"),
      field("client2"),
      field("client3"),
      field("client4"),
      field("client5"),
    ]),
  };
  // Few orders have some, and a spread object costs half a kilobyte.
  if (exits !== 0) acknowledgement.exits = exitsOf(field("orderId"), exits);
  return acknowledgement;
}

/** The exits of an order: 1 a take profit, 2 a stop loss, 3 both. */
function exitsOf(orderId: number, exits: number): AttachedExit[] {
  return EXIT_KINDS.filter((kind) => (exits & kind) !== 0).map((kind) => ({
    orderId: orderIdText(exitId(orderId, kind)),
    kind: EXIT_NAMES[kind],
  }));
}

export function acknowledgementOfLeaf(
  leaf: AcknowledgementLeaf,
  market: UnitsOfMarket,
): Acknowledgement {
  const word = (name: AcknowledgedField) =>
    name === "type" ? typeWord(leaf.type, leaf.exits) : leaf[name];
  return acknowledgementOf(word, market);
}

export function cancelOfLeaf(leaf: CancelLeaf, { lot }: UnitsOfMarket): CancelAcknowledgement {
  return {
    ackNonce: String(leaf.ackNonce),
    orderId: orderIdText(leaf.orderId),
    status: "canceled",
    remainingSize: fromSteps(leaf.remainingLots, lot),
    expectedBlock: leaf.block,
  };
}

/** What was answered and is sealed. */
export type SealedAnswer = Acknowledgement | CancelAcknowledgement;

export function answerOfLeaf(leaf: AnswerLeaf, market: UnitsOfMarket): SealedAnswer {
  return "kind" in leaf ? cancelOfLeaf(leaf, market) : acknowledgementOfLeaf(leaf, market);
}

export function endReasonOf(code: number): string | null {
  return code === 0 ? null : (END_REASONS[code] ?? null);
}
