import { Type } from "typebox";
import { CanceledOrder, ClientOrderId } from "../../orders/order.js";
import { OrderId } from "../../text/scalar.js";
import { cancelNamedOrder } from "../cancel-named-order.js";
import { AppliedSeq, MessageId, type SocketOperation } from "./socket-operation.js";

export const socketCancel = {
  op: "cancel",
  summary: "Cancel one order by its id or by your own",
  access: "bearer",
  message: Type.Object({
    op: Type.Literal("cancel"),
    id: MessageId,
    orderId: Type.Optional(OrderId),
    clientOrderId: Type.Optional(ClientOrderId),
    validUntil: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  }),
  answer: Type.Object({ canceled: CanceledOrder, seq: AppliedSeq }),
  rest: cancelNamedOrder,
  errors: ["token_required"],
} satisfies SocketOperation;
