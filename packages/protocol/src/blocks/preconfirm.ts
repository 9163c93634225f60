/** The acknowledgement of an order or a cancel, and the proof that its block contains it. */

import { type Static, Type } from "typebox";
import { ClientOrderId, OrderNonce, OrderReason, OrderStatus, Side } from "../orders/order.js";
import {
  BlockNumber,
  Count,
  Dollars,
  Hex32,
  LogPosition,
  MarketSymbol,
  Nullable,
  OrderId,
  Price,
  RECEIPTED,
  Size,
} from "../text/scalar.js";
import { LEAF_BYTES, PLAIN_LEAF_BYTES } from "./acknowledgement-leaf.js";
import { CANCEL_LEAF_BYTES } from "./cancel-leaf.js";

const PositionAfter = Type.Object({
  size: Type.Number({ description: "Signed; short is negative." }),
  avgEntry: Price,
  unrealizedPnl: Dollars,
});

export const AttachedExit = Type.Object(
  { orderId: OrderId, kind: Type.Enum(["takeProfit", "stopLoss"]) },
  { title: "AttachedExit" },
);
export type AttachedExit = Static<typeof AttachedExit>;

const acknowledgement = {
  ackNonce: LogPosition,
  orderId: OrderId,
  symbol: MarketSymbol,
  side: Side,
  nonce: OrderNonce,
  status: OrderStatus,
  filledSize: Size,
  remainingSize: Size,
  avgFillPrice: Price,
  feePaid: Dollars,
  positionAfter: PositionAfter,
  expectedBlock: BlockNumber,
  reason: OrderReason,
  clientOrderId: Nullable(ClientOrderId),
  exits: Type.Optional(
    Type.Array(AttachedExit, { description: "The exits of the order, if it has some." }),
  ),
};

/** What is hashed and proven. */
export const Acknowledgement = Type.Object(acknowledgement, { title: "Acknowledgement" });
export type Acknowledgement = Static<typeof Acknowledgement>;

/** What is hashed and proven of a cancel. */
export const CancelAcknowledgement = Type.Object(
  {
    ackNonce: LogPosition,
    orderId: OrderId,
    status: Type.Literal("canceled"),
    remainingSize: Size,
    expectedBlock: BlockNumber,
  },
  { title: "CancelAcknowledgement" },
);
export type CancelAcknowledgement = Static<typeof CancelAcknowledgement>;

/** The time is stored next to it, and in its receipt; it is not part of the leaf. */
const logged = {
  ...acknowledgement,
  time: Type.Integer({
    description:
      "Unix milliseconds: the log's time of the order or amendment; the same in a replay.",
  }),
};
export const LoggedAcknowledgement = Type.Object(logged, { title: "LoggedAcknowledgement" });
export type LoggedAcknowledgement = Static<typeof LoggedAcknowledgement>;

export const PreconfirmAck = Type.Object(
  {
    ...logged,
    elapsedMs: Type.Number({ description: "Added by the answering gateway; never stored." }),
    ...RECEIPTED,
  },
  { title: "PreconfirmAck" },
);
export type PreconfirmAck = Static<typeof PreconfirmAck>;

const LEAF_LENGTHS = [PLAIN_LEAF_BYTES, LEAF_BYTES, CANCEL_LEAF_BYTES];

/** Of an order or amendment with `ack`, of a cancel with `canceled`. */
export const PreconfirmProof = Type.Object(
  {
    ack: Type.Optional(Acknowledgement),
    canceled: Type.Optional(CancelAcknowledgement),
    block: BlockNumber,
    index: Count,
    leaf: Type.String({
      pattern: `^0x(${LEAF_LENGTHS.map((bytes) => `[0-9a-f]{${2 * bytes}}`).join("|")})$`,
      description: "The bytes that the path begins from: the acknowledgement as it is sealed.",
    }),
    path: Type.Array(Hex32, { description: "Sibling hashes from the leaf to acksRoot." }),
    log: Nullable(
      Type.Object(
        {
          checkpoint: Type.String({ description: "The latest, a signed note." }),
          path: Type.Array(Hex32, {
            description: "Sibling hashes from the block's header, entry block − 1, to the root.",
          }),
        },
        {
          description:
            "The block in the transparency log; null until a checkpoint covers it, within seconds.",
        },
      ),
    ),
  },
  { title: "PreconfirmProof" },
);
export type PreconfirmProof = Static<typeof PreconfirmProof>;

export const AckNoncePath = Type.Object({ ackNonce: LogPosition });
