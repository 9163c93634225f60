/** What a client says on a socket, and the frame that every answer and update comes in. */

import { type Static, Type } from "typebox";
import { LogPosition } from "./scalar.js";

const MessageId = Type.Optional(
  Type.Union([Type.String({ maxLength: 64 }), Type.Integer()], {
    description: "Echoed by the answer.",
  }),
);
const StreamNames = Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 256 });

export const SubscribeMessage = Type.Object({
  op: Type.Literal("subscribe"),
  id: MessageId,
  streams: StreamNames,
  token: Type.Optional(Type.String()),
  since: Type.Optional(Type.Integer({ minimum: 0, description: "Resume after this seq." })),
  format: Type.Optional(Type.Enum(["packed", "plain"])),
});
export const UnsubscribeMessage = Type.Object({
  op: Type.Literal("unsubscribe"),
  id: MessageId,
  streams: StreamNames,
});
export const AuthMessage = Type.Object({
  op: Type.Literal("auth"),
  id: MessageId,
  token: Type.String(),
});
export const PingMessage = Type.Object({ op: Type.Literal("ping"), id: MessageId });
export const OrderMessage = Type.Object({
  op: Type.Literal("order"),
  id: MessageId,
  body: Type.String({ description: "The JSON text of PlaceOrderBody, exactly as signed." }),
  sig: Type.String(),
});
export const CancelMessage = Type.Object({
  op: Type.Literal("cancel"),
  id: MessageId,
  orderId: LogPosition,
});
export const SessionMessage = Type.Object({
  op: Type.Literal("session"),
  id: MessageId,
  cancelOnDisconnect: Type.Boolean({
    description: "Whether the session's open orders go with its last socket.",
  }),
});

export const ClientMessage = Type.Union([
  SubscribeMessage,
  UnsubscribeMessage,
  AuthMessage,
  PingMessage,
  OrderMessage,
  CancelMessage,
  SessionMessage,
]);
export type ClientMessage = Static<typeof ClientMessage>;

export const ServerFrame = Type.Object({
  t: Type.String({ description: "The stream's first word, or ok, error, pong." }),
  s: Type.Optional(Type.String({ description: "The rest of the stream's name." })),
  d: Type.Unknown(),
});
export type ServerFrame = Static<typeof ServerFrame>;
