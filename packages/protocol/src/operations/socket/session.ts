import { Type } from "typebox";
import { MessageId, type SocketOperation } from "./socket-operation.js";

export const socketSession = {
  op: "session",
  summary: "Set the options of the socket's session",
  access: "bearer",
  message: Type.Object({
    op: Type.Literal("session"),
    id: MessageId,
    cancelOnDisconnect: Type.Boolean({
      description: "Whether the session's open orders go with its last socket.",
    }),
  }),
  answer: Type.Object({ cancelOnDisconnect: Type.Boolean() }),
  errors: ["token_required", "venue_unavailable"],
} satisfies SocketOperation;
