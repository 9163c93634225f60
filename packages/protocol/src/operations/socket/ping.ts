import { Type } from "typebox";
import { TimeMs } from "../../text/scalar.js";
import { MessageId, type SocketOperation } from "./socket-operation.js";

export const socketPing = {
  op: "ping",
  summary: "Answered by a `pong` with the gateway's time",
  access: "public",
  message: Type.Object({ op: Type.Literal("ping"), id: MessageId }),
  answer: Type.Object({ time: TimeMs }),
  errors: [],
} satisfies SocketOperation;
