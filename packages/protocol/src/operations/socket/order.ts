import { Type } from "typebox";
import { placeOrder } from "../place-order.js";
import { MessageId, type SocketOperation } from "./socket-operation.js";

export const socketOrder = {
  op: "order",
  summary: "Place an order",
  access: "bearer",
  message: Type.Object({
    op: Type.Literal("order"),
    id: MessageId,
    body: Type.String({ description: "The JSON text of PlaceOrderBody, exactly as signed." }),
    sig: Type.String(),
  }),
  rest: placeOrder,
  errors: ["token_required"],
} satisfies SocketOperation;
