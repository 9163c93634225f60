import { Type } from "typebox";
import { PreconfirmAck } from "../../blocks/preconfirm.js";
import { placeOrder } from "../place-order.js";
import { Replayed, type SocketOperation, signedMessage } from "./socket-operation.js";

export const socketOrder = {
  op: "order",
  summary: "Place an order",
  access: "bearer",
  message: signedMessage("order", "PlaceOrderBody"),
  answer: Type.Object({ ack: PreconfirmAck, replayed: Replayed }),
  rest: placeOrder,
  errors: ["token_required"],
} satisfies SocketOperation;
