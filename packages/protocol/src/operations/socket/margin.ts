import { Type } from "typebox";
import { MarginChange } from "../../orders/extended-order.js";
import { changeMargin } from "../change-margin.js";
import { AppliedSeq, Replayed, type SocketOperation, signedMessage } from "./socket-operation.js";

export const socketMargin = {
  op: "margin",
  summary: "Move money between the wallet and the margin of a position",
  access: "bearer",
  message: signedMessage("margin", "MarginBody"),
  answer: Type.Object({ margin: MarginChange, replayed: Replayed, seq: AppliedSeq }),
  rest: changeMargin,
  errors: ["token_required"],
} satisfies SocketOperation;
