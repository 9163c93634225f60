import { Type } from "typebox";
import { PreconfirmAck } from "../../blocks/preconfirm.js";
import { amendOrder } from "../amend-order.js";
import { Replayed, type SocketOperation, signedMessage } from "./socket-operation.js";

export const socketAmend = {
  op: "amend",
  summary: "Change an open order",
  access: "bearer",
  message: signedMessage("amend", "AmendOrderBody"),
  answer: Type.Object({ ack: PreconfirmAck, replayed: Replayed }),
  rest: amendOrder,
  errors: ["token_required"],
} satisfies SocketOperation;
