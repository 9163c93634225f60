import { Type } from "typebox";
import { MarginChange } from "../../extended-order.js";
import { changeMargin } from "../change-margin.js";
import { AppliedSeq, MessageId, Replayed, type SocketOperation } from "./socket-operation.js";

export const socketMargin = {
  op: "margin",
  summary: "Move money between the wallet and the margin of a position",
  access: "bearer",
  message: Type.Object({
    op: Type.Literal("margin"),
    id: MessageId,
    body: Type.String({ description: "The JSON text of MarginBody, exactly as signed." }),
    sig: Type.String(),
  }),
  answer: Type.Object({ margin: MarginChange, replayed: Replayed, seq: AppliedSeq }),
  rest: changeMargin,
  errors: ["token_required"],
} satisfies SocketOperation;
