import { Type } from "typebox";
import { BatchAnswer } from "../../orders/extended-order.js";
import { placeBatch } from "../place-batch.js";
import { AppliedSeq, Replayed, type SocketOperation, signedMessage } from "./socket-operation.js";

export const socketBatch = {
  op: "batch",
  summary: "Place, amend and cancel several orders",
  access: "bearer",
  message: signedMessage("batch", "BatchBody"),
  answer: Type.Object({ batch: BatchAnswer, replayed: Replayed, seq: AppliedSeq }),
  rest: placeBatch,
  errors: ["token_required"],
} satisfies SocketOperation;
