import { Type } from "typebox";
import { PreconfirmAck } from "../../preconfirm.js";
import { placeOrder } from "../place-order.js";
import { MessageId, Replayed, type SocketOperation } from "./socket-operation.js";

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
  answer: Type.Object({ ack: PreconfirmAck, replayed: Replayed }),
  rest: placeOrder,
  errors: ["token_required"],
} satisfies SocketOperation;
