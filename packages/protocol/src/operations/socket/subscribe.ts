import { Type } from "typebox";
import { MessageId, type SocketOperation } from "./socket-operation.js";

export const StreamNames = Type.Array(Type.String({ maxLength: 64 }), {
  minItems: 1,
  maxItems: 256,
  description: "Names of streams, such as `book.BTCUSD`.",
});

export const socketSubscribe = {
  op: "subscribe",
  summary: "Open streams; private ones need a token here or in an earlier `auth`",
  access: "public",
  message: Type.Object({
    op: Type.Literal("subscribe"),
    id: MessageId,
    streams: StreamNames,
    token: Type.Optional(Type.String({ description: "As in `auth`." })),
    since: Type.Optional(Type.Integer({ minimum: 0, description: "Resume after this seq." })),
    format: Type.Optional(
      Type.Enum(["packed", "plain"], { description: "Of books: bytes, the default, or numbers." }),
    ),
  }),
  answer: Type.Object({
    streams: StreamNames,
    seq: Type.Integer({ minimum: 0, description: "The log position that the streams start from." }),
  }),
  errors: [
    "unknown_stream",
    "market_not_found",
    "token_required",
    "invalid_token",
    "too_many_streams",
  ],
} satisfies SocketOperation;
