import { Type } from "typebox";
import { BatchAnswer } from "../../extended-order.js";
import { placeBatch } from "../place-batch.js";
import { AppliedSeq, MessageId, Replayed, type SocketOperation } from "./socket-operation.js";

export const socketBatch = {
  op: "batch",
  summary: "Place, amend and cancel several orders",
  access: "bearer",
  message: Type.Object({
    op: Type.Literal("batch"),
    id: MessageId,
    body: Type.String({ description: "The JSON text of BatchBody, exactly as signed." }),
    sig: Type.String(),
  }),
  answer: Type.Object({ batch: BatchAnswer, replayed: Replayed, seq: AppliedSeq }),
  rest: placeBatch,
  errors: ["token_required"],
} satisfies SocketOperation;
