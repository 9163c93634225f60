import { Type } from "typebox";
import { MessageId, type SocketOperation } from "./socket-operation.js";

export const socketPing = {
  op: "ping",
  summary: "Answered by a `pong` with the gateway's time",
  access: "public",
  message: Type.Object({ op: Type.Literal("ping"), id: MessageId }),
  errors: [],
} satisfies SocketOperation;
