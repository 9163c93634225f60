import { Type } from "typebox";
import { MessageId, type SocketOperation } from "./socket-operation.js";
import { StreamNames } from "./subscribe.js";

export const socketUnsubscribe = {
  op: "unsubscribe",
  summary: "Close streams",
  access: "public",
  message: Type.Object({
    op: Type.Literal("unsubscribe"),
    id: MessageId,
    streams: StreamNames,
  }),
  answer: Type.Object({ streams: StreamNames }),
  errors: ["not_subscribed"],
} satisfies SocketOperation;
