/** Orders: placing, reading, canceling. */

import { type Static, Type } from "typebox";
import { ORDER_TYPES } from "../blocks/acknowledgement-leaf.js";
import { ORDER_CURSORS, TIME_SPAN, WideLimit } from "../http/paging.js";
import { MAX_CANCEL_AFTER_MS, MIN_CANCEL_AFTER_MS } from "../markets/rules.js";
import { TIMES_IN_FORCE, TRIGGERS } from "../markets/wire-names.js";
import {
  BlockNumber,
  Dollars,
  LogPosition,
  MarketSymbol,
  Nullable,
  OrderId,
  Price,
  RECEIPTED,
  Size,
  TimeMs,
} from "../text/scalar.js";
import { CLIENT_ORDER_ID_PATTERN } from "./client-order-id.js";

export const Side = Type.Enum(["long", "short"]);
export type Side = Static<typeof Side>;
export const OrderType = Type.Enum([...ORDER_TYPES]);
export type OrderType = Static<typeof OrderType>;
export const OrderStatus = Type.Enum(["filled", "resting", "pending", "canceled"]);
export type OrderStatus = Static<typeof OrderStatus>;
export const OrderReason = Nullable(
  Type.String({ description: "Why the order ended as it did: unfunded, band, book_empty, …" }),
);

export const OrderNonce = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "Unique per order within the session; a retry repeats it.",
});

export const ClientOrderId = Type.String({
  pattern: CLIENT_ORDER_ID_PATTERN,
  description: "Your own id: 1 to 36 letters, digits, _ or -; unique among your open orders.",
});

export const TimeInForce = Type.Enum([...TIMES_IN_FORCE]);
export type TimeInForce = Static<typeof TimeInForce>;
export const Trigger = Type.Enum([...TRIGGERS]);
export type Trigger = Static<typeof Trigger>;

/** A component of its own: generators make a property required whose schema has a default in place. */
const OffByDefault = Type.Boolean({ default: false, title: "OffByDefault" });

export const PlaceOrderBody = Type.Object(
  {
    symbol: MarketSymbol,
    side: Side,
    type: OrderType,
    margin: Type.Number({ exclusiveMinimum: 0, description: "Dollars; floored to a micro." }),
    leverage: Type.Integer({ minimum: 1 }),
    price: Type.Optional(
      Nullable(
        Type.Number({
          exclusiveMinimum: 0,
          description: "Limit and trigger price; the worst price of a market order.",
        }),
      ),
    ),
    reduceOnly: Type.Optional(OffByDefault),
    postOnly: Type.Optional(OffByDefault),
    nonce: OrderNonce,
  },
  { title: "PlaceOrderBody", additionalProperties: false },
);
export type PlaceOrderBody = Static<typeof PlaceOrderBody>;

export const Order = Type.Object(
  {
    orderId: OrderId,
    symbol: MarketSymbol,
    side: Side,
    type: OrderType,
    status: OrderStatus,
    price: Nullable(Price),
    size: Type.Number({
      description: "Units of base: filledSize + remainingSize, of an order by money too.",
    }),
    filledSize: Size,
    remainingSize: Size,
    avgFillPrice: Price,
    margin: Dollars,
    leverage: Type.Integer(),
    reduceOnly: Type.Boolean(),
    postOnly: Type.Boolean(),
    nonce: OrderNonce,
    reason: OrderReason,
    createdAt: TimeMs,
    updatedAt: TimeMs,
    clientOrderId: Nullable(ClientOrderId),
    timeInForce: TimeInForce,
    expiresAt: Nullable(TimeMs),
    trigger: Nullable(Trigger),
    limitPrice: Nullable(Price),
    closePosition: Type.Boolean(),
    triggered: Type.Optional(
      Type.Boolean({
        description:
          "Of closePosition: true once it was triggered; it is pending while the book cannot take it.",
      }),
    ),
    parentOrderId: Type.Optional({
      ...LogPosition,
      description: "Of an exit: the order that it is attached to.",
    }),
  },
  { title: "Order" },
);
export type Order = Static<typeof Order>;
export const Orders = Type.Array(Order);

export const OrderIdPath = Type.Object({ id: OrderId });

export const OrdersQuery = Type.Object({
  status: Type.Optional(Type.Enum(["open", "all"], { default: "open" })),
  nonce: Type.Optional(OrderNonce),
  clientOrderId: Type.Optional(ClientOrderId),
  symbol: Type.Optional(MarketSymbol),
  limit: WideLimit,
  ...ORDER_CURSORS,
  ...TIME_SPAN,
});
export type OrdersQuery = Static<typeof OrdersQuery>;

export const CanceledOrder = Type.Object(
  {
    orderId: OrderId,
    status: Type.Literal("canceled"),
    remainingSize: Size,
    ackNonce: Type.Optional(LogPosition),
    expectedBlock: Type.Optional(BlockNumber),
    time: Type.Optional(
      Type.Integer({
        description:
          "Unix milliseconds: the log's time of the cancel. This, `ackNonce`, `expectedBlock` and what " +
          "follows them are there from engine version 3 on.",
      }),
    ),
    ...RECEIPTED,
  },
  { title: "CanceledOrder" },
);
export type CanceledOrder = Static<typeof CanceledOrder>;

export const CancelAllBody = Type.Object(
  { symbol: Type.Optional(MarketSymbol) },
  { title: "CancelAllBody" },
);
export type CancelAllBody = Static<typeof CancelAllBody>;
export const CanceledOrders = Type.Object(
  { canceled: Type.Array(OrderId) },
  { title: "CanceledOrders" },
);
export type CanceledOrders = Static<typeof CanceledOrders>;

export const CancelAfterBody = Type.Object(
  {
    afterMs: Type.Union(
      [
        Type.Integer({ minimum: MIN_CANCEL_AFTER_MS, maximum: MAX_CANCEL_AFTER_MS }),
        Type.Literal(0),
      ],
      {
        description: "0 switches off; 1000 to 3600000 arms.",
      },
    ),
  },
  { title: "CancelAfterBody" },
);
export type CancelAfterBody = Static<typeof CancelAfterBody>;
export const CancelTimer = Type.Object({ cancelAt: Nullable(TimeMs) }, { title: "CancelTimer" });
export type CancelTimer = Static<typeof CancelTimer>;
