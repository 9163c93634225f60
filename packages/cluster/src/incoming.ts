/** A message as the reader receives it, from a push consumer or from a direct get. */

import type { Msg } from "@nats-io/transport-node";

export interface Incoming {
  /** The stream sequence. */
  readonly sequence: number;
  readonly subject: string;
  readonly data: Uint8Array;
  /** The leader's clock when it stored the message, in whole milliseconds. */
  readonly storedMs: number;
}

const ACK_PREFIX = "$JS.ACK.";
/** Tokens of the reply subject from its end: …, stream sequence, consumer sequence, time, pending. */
const SHORT_TOKENS = 9;
const SEQUENCE_AT = 5;
const TIME_AT = 7;
/** The time's last digits, below a millisecond. */
const NANOSECOND_DIGITS = 6;

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
  // Cut off, as `Date.parse` does: a double has no room for nanoseconds and would be rounded.
  const storedMs = Number(tokens[TIME_AT + shift]?.slice(0, -NANOSECOND_DIGITS));
  return { sequence, subject, data, storedMs };
}

/** A message of a direct get; undefined for the status messages that end one. */
export function fetched({ headers, data }: Pick<Msg, "headers" | "data">): Incoming | undefined {
  // The last header of a name is the server's: a stored message may carry the same names before it.
  const text = headers?.last("Nats-Sequence") ?? "";
  const sequence = Number(text);
  if (headers === undefined || text === "" || !Number.isSafeInteger(sequence)) return undefined;
  return {
    sequence,
    subject: headers.last("Nats-Subject"),
    data,
    storedMs: Date.parse(headers.last("Nats-Time-Stamp")),
  };
}
