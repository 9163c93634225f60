import { Type } from "typebox";
import { PreconfirmAck } from "../../preconfirm.js";
import { amendOrder } from "../amend-order.js";
import { MessageId, Replayed, type SocketOperation } from "./socket-operation.js";

export const socketAmend = {
  op: "amend",
  summary: "Change an open order",
  access: "bearer",
  message: Type.Object({
    op: Type.Literal("amend"),
    id: MessageId,
    body: Type.String({ description: "The JSON text of AmendOrderBody, exactly as signed." }),
    sig: Type.String(),
  }),
  answer: Type.Object({ ack: PreconfirmAck, replayed: Replayed }),
  rest: amendOrder,
  errors: ["token_required"],
} satisfies SocketOperation;
