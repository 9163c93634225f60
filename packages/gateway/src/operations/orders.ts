import type { Acknowledgement, PreconfirmAck } from "@perpgate/protocol";
import {
  amendOrder,
  cancelAllOrders,
  cancelNamedOrder,
  cancelOrder,
  cancelOrdersAfter,
  getOrder,
  getOrders,
  placeOrder,
} from "@perpgate/protocol/operations";
import { orderWithinBudget } from "../limits/charge-operation.js";
import { handleByVenue } from "./handler.js";

/** The venue checks the signature, because a repeated nonce is answered before that check. */
export const placeOrderHandler = handleByVenue(
  placeOrder,
  async ({ caller, client, body, bodyBytes, signature }, venue, { budgets }) => {
    if (client.overBudget !== undefined) {
      await orderWithinBudget(budgets, client, body.reduceOnly === true, client.header);
    }
    const ack = await venue.placeOrder(caller(), { body, bytes: bodyBytes, signature });
    return timed(ack, client.elapsedMs());
  },
);

export const amendOrderHandler = handleByVenue(
  amendOrder,
  async ({ caller, client, params, body, bodyBytes, signature }, venue, { budgets }) => {
    if (client.overBudget !== undefined) {
      await orderWithinBudget(budgets, client, false, client.header);
    }
    const request = { body, bytes: bodyBytes, signature };
    const ack = await venue.amendOrder(caller(), params.id, request);
    return timed(ack, client.elapsedMs());
  },
);

export const cancelNamedOrderHandler = handleByVenue(cancelNamedOrder, ({ caller, body }, venue) =>
  venue.cancelOrder(caller(), body),
);

export const ORDER_HANDLERS = [
  placeOrderHandler,
  amendOrderHandler,
  cancelNamedOrderHandler,
  handleByVenue(cancelOrder, ({ caller, params }, venue) =>
    venue.cancelOrder(caller(), { orderId: params.id }),
  ),
  handleByVenue(getOrders, ({ caller, query }, venue) => venue.orders(caller(), query)),
  handleByVenue(getOrder, ({ caller, params }, venue) => venue.order(caller(), params.id)),
  handleByVenue(cancelAllOrders, ({ caller, body }, venue) =>
    venue.cancelAllOrders(caller(), body.symbol),
  ),
  handleByVenue(cancelOrdersAfter, ({ caller, body }, venue) =>
    venue.cancelOrdersAfter(caller(), body.afterMs),
  ),
];

/** Copied field by field: a spread object costs half a kilobyte that outlives its request. */
function timed(ack: Acknowledgement, elapsedMs: number): PreconfirmAck {
  return {
    ackNonce: ack.ackNonce,
    orderId: ack.orderId,
    symbol: ack.symbol,
    side: ack.side,
    nonce: ack.nonce,
    status: ack.status,
    filledSize: ack.filledSize,
    remainingSize: ack.remainingSize,
    avgFillPrice: ack.avgFillPrice,
    feePaid: ack.feePaid,
    positionAfter: ack.positionAfter,
    expectedBlock: ack.expectedBlock,
    reason: ack.reason,
    clientOrderId: ack.clientOrderId,
    elapsedMs,
  };
}
