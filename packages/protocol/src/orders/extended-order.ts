/** Orders with all their terms; amendments, batches, and the margin of a position. */

import { type Static, type TSchema, Type } from "typebox";
import { PreconfirmAck } from "../blocks/preconfirm.js";
import { ErrorCodeWord } from "../errors/error-body.js";
import { MAX_BATCH_OPERATIONS } from "../markets/rules.js";
import { SELF_TRADES } from "../markets/wire-names.js";
import { ORDER_NAME_PATTERN } from "../text/patterns.js";
import { Dollars, LogPosition, MarketSymbol, Nullable, OrderId, TimeMs } from "../text/scalar.js";
import {
  CanceledOrder,
  ClientOrderId,
  OrderNonce,
  OrderType,
  PlaceOrderBody,
  Side,
  TimeInForce,
  Trigger,
} from "./order.js";
import type { AMEND_FIELDS, EXIT_FIELDS, ORDER_FIELDS, TARGET_FIELDS } from "./order-fields.js";

export const SelfTrade = Type.Enum([...SELF_TRADES]);
export type SelfTrade = Static<typeof SelfTrade>;

const OrderPrice = Type.Number({ exclusiveMinimum: 0 });
const OrderSize = Type.Number({
  exclusiveMinimum: 0,
  description: "Units of base: a whole number of lots.",
});
const ValidUntil = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "Unix milliseconds; refused with too_late at a later venue time.",
  }),
);
const Expiry = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "Unix milliseconds, 1 s to 90 days ahead; never filled at or after it.",
});

/** An order of its own, which closes at `price` what the order has opened. */
const Exit = Type.Object(
  {
    price: Type.Number({ exclusiveMinimum: 0, description: "The trigger price." }),
    limitPrice: Type.Optional(
      Nullable(
        Type.Number({ exclusiveMinimum: 0, description: "Once triggered, a limit order at it." }),
      ),
    ),
  } satisfies Record<(typeof EXIT_FIELDS)[number], TSchema>,
  { title: "Exit", additionalProperties: false },
);
export type ExitTerms = Static<typeof Exit>;

const terms = {
  symbol: MarketSymbol,
  side: Side,
  type: OrderType,
  margin: Type.Optional(PlaceOrderBody.properties.margin),
  leverage: Type.Optional(PlaceOrderBody.properties.leverage),
  price: PlaceOrderBody.properties.price,
  reduceOnly: PlaceOrderBody.properties.reduceOnly,
  postOnly: PlaceOrderBody.properties.postOnly,
  size: Type.Optional(OrderSize),
  timeInForce: Type.Optional(TimeInForce),
  expiresAt: Type.Optional(Expiry),
  clientOrderId: Type.Optional(ClientOrderId),
  trigger: Type.Optional(Trigger),
  limitPrice: Type.Optional(Nullable(OrderPrice)),
  closePosition: Type.Optional(Type.Boolean()),
  selfTrade: Type.Optional(SelfTrade),
  takeProfit: Type.Optional(Exit),
  stopLoss: Type.Optional(Exit),
} satisfies Record<(typeof ORDER_FIELDS)[number], TSchema>;

/** Every plain order is one of these, too. */
export const ExtendedOrderBody = Type.Object(
  { ...terms, validUntil: ValidUntil, nonce: OrderNonce },
  { title: "ExtendedOrderBody", additionalProperties: false },
);
export type ExtendedOrderBody = Static<typeof ExtendedOrderBody>;

/** What an order, placed alone or in a batch, says of itself. */
export type OrderTerms = Omit<ExtendedOrderBody, "nonce" | "validUntil">;

const target = {
  orderId: Type.Optional(OrderId),
  clientOrderId: Type.Optional(ClientOrderId),
} satisfies Record<(typeof TARGET_FIELDS)[number], TSchema>;

const amendment = {
  ...target,
  price: Type.Optional(OrderPrice),
  size: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: "The new total, filled lots included; at or below those, the rest is canceled.",
    }),
  ),
  limitPrice: Type.Optional(OrderPrice),
  expiresAt: Type.Optional(Nullable(Expiry)),
} satisfies Record<(typeof AMEND_FIELDS)[number], TSchema>;

export const AmendOrderBody = Type.Object(
  { ...amendment, validUntil: ValidUntil, nonce: OrderNonce },
  { title: "AmendOrderBody", additionalProperties: false },
);
export type AmendOrderBody = Static<typeof AmendOrderBody>;
export type Amendment = Omit<AmendOrderBody, "nonce" | "validUntil">;

export const AmendPath = Type.Object({
  id: Type.String({
    pattern: ORDER_NAME_PATTERN,
    description: "The order's id, or the clientOrderId that the body names.",
  }),
});

export const CancelOrderBody = Type.Object(
  { ...target, validUntil: ValidUntil },
  { title: "CancelOrderBody", additionalProperties: false },
);
export type CancelOrderBody = Static<typeof CancelOrderBody>;

const PlaceOperation = Type.Object(
  { op: Type.Literal("place"), ...terms },
  { title: "PlaceOperation", additionalProperties: false },
);
const AmendOperation = Type.Object(
  { op: Type.Literal("amend"), ...amendment },
  { title: "AmendOperation", additionalProperties: false },
);
const CancelOperation = Type.Object(
  { op: Type.Literal("cancel"), ...target },
  { title: "CancelOperation", additionalProperties: false },
);
export type BatchOperation =
  | Static<typeof PlaceOperation>
  | Static<typeof AmendOperation>
  | Static<typeof CancelOperation>;

/** `oneOf` with a discriminator, so that a mistake is reported of the operation that was meant. */
const BatchOperation = Type.Unsafe<BatchOperation>({
  type: "object",
  discriminator: { propertyName: "op" },
  required: ["op"],
  oneOf: [PlaceOperation, AmendOperation, CancelOperation],
});

export const BatchBody = Type.Object(
  {
    nonce: OrderNonce,
    operations: Type.Array(BatchOperation, { minItems: 1, maxItems: MAX_BATCH_OPERATIONS }),
    validUntil: ValidUntil,
  },
  { title: "BatchBody", additionalProperties: false },
);
export type BatchBody = Static<typeof BatchBody>;

const BatchError = Type.Object({
  code: ErrorCodeWord,
  message: Type.String(),
  field: Type.Optional(Type.String()),
  details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

export const BatchResult = Type.Object(
  {
    status: Type.Integer({ description: "The HTTP status that it would have had alone." }),
    ack: Type.Optional(PreconfirmAck),
    canceled: Type.Optional(CanceledOrder),
    error: Type.Optional(BatchError),
  },
  { title: "BatchResult" },
);
export type BatchResult = Static<typeof BatchResult>;

export const BatchAnswer = Type.Object(
  { results: Type.Array(BatchResult, { description: "In the order of the operations." }) },
  { title: "BatchAnswer" },
);
export type BatchAnswer = Static<typeof BatchAnswer>;

export const MarginBody = Type.Object(
  {
    symbol: MarketSymbol,
    amount: Type.Number({
      description: "Dollars from the wallet to the margin; negative: back. Truncated to a micro.",
    }),
    nonce: OrderNonce,
  },
  { title: "MarginBody", additionalProperties: false },
);
export type MarginBody = Static<typeof MarginBody>;

export const MarginChange = Type.Object(
  {
    ackNonce: LogPosition,
    symbol: MarketSymbol,
    nonce: OrderNonce,
    amount: Dollars,
    margin: Type.Number({ description: "Dollars of margin of the position afterwards." }),
    available: Type.Number({ description: "Dollars that are free in the wallet afterwards." }),
    time: TimeMs,
  },
  { title: "MarginChange" },
);
export type MarginChange = Static<typeof MarginChange>;
