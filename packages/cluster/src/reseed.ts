/**
 * Rebuilds a stream from a mirror: the same subjects and bytes at the same sequences, in an empty
 * stream. All gateways must be stopped. Any refusal ends it; the stream is then deleted and the
 * reseed run again.
 */

import type { NatsConnection } from "@nats-io/transport-node";
import { askThrough } from "./ask.js";
import { ClusterError, textOf } from "./errors.js";
import { createStream, publishAt, stateOf } from "./init.js";
import { storedMessage } from "./jetstream-api.js";
import type { StreamOptions } from "./stream-config.js";

/** A message of the mirror. */
export interface ReseedMessage {
  readonly sequence: number;
  readonly subject: string;
  readonly message: Uint8Array;
}

export interface ReseedOptions extends StreamOptions {
  readonly connection: NatsConnection;
  /** Every message of the mirror in order; the first one's sequence becomes the stream's first. */
  readonly messages: Iterable<ReseedMessage>;
  /** Called from time to time with the last stored sequence. */
  readonly onProgress?: (sequence: number) => void;
}

/** Publishes in flight: the server checks each one's expected sequence in their order. */
const IN_FLIGHT = 64;
const ANSWER_MS = 20_000;

/** Returns the last sequence. Rejects with `ClusterError`, which names the sequence. */
export async function reseed(options: ReseedOptions): Promise<number> {
  const { connection, stream, onProgress } = options;
  const messages = options.messages[Symbol.iterator]();
  let next = messages.next();
  if (next.done === true) throw refused(0, "the mirror holds no message");
  const firstSequence = next.value.sequence;
  await createStream(connection, { ...options, firstSequence });
  const state = await stateOf(connection, stream);
  if (state.lastSeq !== firstSequence - 1 || state.bytes > 0) {
    throw refused(
      state.lastSeq,
      `stream ${stream} is not empty: it ends at sequence ${state.lastSeq}; delete it first`,
    );
  }
  let last = firstSequence - 1;
  while (next.done !== true) {
    const group: ReseedMessage[] = [];
    for (; next.done !== true && group.length < IN_FLIGHT; next = messages.next()) {
      if (next.value.sequence !== last + 1) {
        throw refused(last + 1, `the mirror lacks sequence ${last + 1}`);
      }
      group.push(next.value);
      last++;
    }
    await Promise.all(group.map((message) => store(connection, message)));
    onProgress?.(last);
  }
  await compareLast(connection, stream, last);
  return last;
}

async function store(
  connection: NatsConnection,
  { sequence, subject, message }: ReseedMessage,
): Promise<void> {
  let isStored: boolean;
  try {
    isStored = await publishAt(connection, subject, message, sequence - 1);
  } catch (error) {
    throw refused(sequence, textOf(error));
  }
  if (!isStored) throw refused(sequence, "another message was stored meanwhile");
}

async function compareLast(
  connection: NatsConnection,
  stream: string,
  last: number,
): Promise<void> {
  const { lastSeq } = await stateOf(connection, stream);
  const stored = await askThrough(connection, ANSWER_MS, (to) => storedMessage(to, stream, last));
  if (lastSeq !== last || stored === undefined) {
    throw refused(last, `the stream ends at sequence ${lastSeq}, not at ${last}`);
  }
}

function refused(sequence: number, reason: string): ClusterError {
  return new ClusterError("reseed_refused", `reseed stopped at sequence ${sequence}: ${reason}`, {
    sequence,
  });
}
