import { Type } from "typebox";
import { MessageId, type SocketOperation } from "./socket-operation.js";

export const socketAuth = {
  op: "auth",
  summary: "Bind the socket to the token's session",
  access: "public",
  message: Type.Object({ op: Type.Literal("auth"), id: MessageId, token: Type.String() }),
  answer: Type.Object({}),
  errors: ["invalid_token"],
} satisfies SocketOperation;
