import { Type } from "typebox";
import { LogPosition } from "../../scalar.js";
import { cancelOrder } from "../cancel-order.js";
import { MessageId, type SocketOperation } from "./socket-operation.js";

export const socketCancel = {
  op: "cancel",
  summary: "Cancel one order",
  access: "bearer",
  message: Type.Object({ op: Type.Literal("cancel"), id: MessageId, orderId: LogPosition }),
  rest: cancelOrder,
  errors: ["token_required"],
} satisfies SocketOperation;
