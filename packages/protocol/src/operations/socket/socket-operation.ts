/**
 * The contract of one operation of the socket: a JSON message that is answered with `ok`, `pong` or
 * `error`. An operation that has a REST equivalent shares its schemas, limit, cost and error codes.
 */

import { type Static, type TObject, Type } from "typebox";
import type { ErrorCode } from "../../errors/error-table.js";
import type { Operation } from "../operation.js";

/** Where a gateway accepts WebSockets. */
export const SOCKET_PATH = "/ws/v1";

export const MessageId = Type.Optional(
  Type.Union([Type.String({ maxLength: 64 }), Type.Integer()], {
    description: "Echoed by the answer.",
  }),
);

export const Replayed = Type.Boolean({
  description: "Whether the nonce was used before, by the same body: the answer is the first one.",
});

export const AppliedSeq = Type.Integer({
  minimum: 0,
  description: "The log position that the gateway had applied.",
});

/** A message that carries a signed body of the REST interface. */
export function signedMessage<Op extends string>(op: Op, bodyName: string) {
  return Type.Object({
    op: Type.Literal(op),
    id: MessageId,
    body: Type.String({ description: `The JSON text of ${bodyName}, exactly as signed.` }),
    sig: Type.String(),
  });
}

export interface SocketOperation {
  readonly op: string;
  readonly summary: string;
  /** `bearer` needs a socket that is bound to a session. */
  readonly access: "public" | "bearer";
  readonly message: TObject;
  /** The fields of `ok`, or of `pong`, in addition to `id` and `op`. */
  readonly answer: TObject;
  /** The REST operation of the same meaning. */
  readonly rest?: Operation;
  /** The codes of this operation's own rules; those of `rest` come in addition. */
  readonly errors: readonly ErrorCode[];
}

export type MessageOf<O extends SocketOperation> = Static<O["message"]>;

/** The message of an operation, without its id. */
export function messageOf<O extends SocketOperation>(
  { op }: O,
  fields: Omit<MessageOf<O>, "op" | "id">,
): object {
  return { op, ...fields };
}
