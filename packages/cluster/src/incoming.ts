/** A message of the stream: from a push consumer, from a direct get, or as the stream's leader answers it. */

import type { Msg } from "@nats-io/transport-node";

export interface Incoming {
  /** The stream sequence. */
  readonly sequence: number;
  readonly subject: string;
  readonly data: Uint8Array;
}

const ACK_PREFIX = "$JS.ACK.";
/** Tokens of the reply subject from its end: …, stream sequence, consumer sequence, time, pending. */
const SHORT_TOKENS = 9;
const SEQUENCE_AT = 5;

/** A message that a consumer pushed; undefined for its status messages. */
export function pushed({
  reply = "",
  subject,
  data,
}: Pick<Msg, "reply" | "subject" | "data">): Incoming | undefined {
  if (!reply.startsWith(ACK_PREFIX)) return undefined;
  const tokens = reply.split(".");
  // Longer forms have domain and account before the stream's name.
  const shift = tokens.length === SHORT_TOKENS ? 0 : 2;
  const sequence = Number(tokens[SEQUENCE_AT + shift]);
  if (!Number.isSafeInteger(sequence)) return undefined;
  return { sequence, subject, data };
}

/** A message of a direct get; undefined for the status messages that end one. */
export function fetched({ headers, data }: Pick<Msg, "headers" | "data">): Incoming | undefined {
  // The last header of a name is the server's: a stored message may carry the same names before it.
  const text = headers?.last("Nats-Sequence") ?? "";
  const sequence = Number(text);
  if (headers === undefined || text === "" || !Number.isSafeInteger(sequence)) return undefined;
  return { sequence, subject: headers.last("Nats-Subject"), data };
}
