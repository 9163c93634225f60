import { Type } from "typebox";
import { CancelAllBody, CanceledOrders } from "../../orders/order.js";
import { cancelAllOrders } from "../cancel-all-orders.js";
import { AppliedSeq, MessageId, type SocketOperation } from "./socket-operation.js";

export const socketCancelAll = {
  op: "cancelAll",
  summary: "Cancel all open orders, of one market or of all",
  access: "bearer",
  message: Type.Object({
    op: Type.Literal("cancelAll"),
    id: MessageId,
    ...CancelAllBody.properties,
  }),
  answer: Type.Object({ ...CanceledOrders.properties, seq: AppliedSeq }),
  rest: cancelAllOrders,
  errors: ["token_required"],
} satisfies SocketOperation;
