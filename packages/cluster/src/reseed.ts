/**
 * Rebuilds a stream from a mirror: the same subjects and bytes at the same sequences, in an empty
 * stream. All gateways must be stopped.
 *
 * Each publish names the sequence before its own, so a message is stored at its place or not at all,
 * however often and however late it arrives. What is not acknowledged, such as in an election or when a
 * connection is lost, is looked for in the stream, and published again where it is missing. A message of
 * another origin ends the reseed; the stream is then deleted and the reseed run again.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { NatsConnection } from "@nats-io/transport-node";
import { askServers } from "./ask.js";
import { ClusterError, textOf } from "./errors.js";
import { createStream, publishAt } from "./init.js";
import { storedMessage, streamState } from "./jetstream-api.js";
import { Link, type Logger, type ServerAccess } from "./link.js";
import type { StreamOptions } from "./stream-config.js";

/** A message of the mirror. */
export interface ReseedMessage {
  readonly sequence: number;
  readonly subject: string;
  readonly message: Uint8Array;
}

export interface ReseedOptions extends StreamOptions {
  readonly access: ServerAccess;
  readonly logger: Logger;
  /** Every message of the mirror in order; the first one's sequence becomes the stream's first. */
  readonly messages: Iterable<ReseedMessage>;
  /** Called from time to time with the last stored sequence. */
  readonly onProgress?: (sequence: number) => void;
}

/** Publishes in flight: the server checks each one's expected sequence in their order. */
const IN_FLIGHT = 64;
/** Without progress for this long, it ends. Restored servers may take half a minute to elect a leader. */
const PATIENCE_MS = 60_000;
const RETRY_PAUSE_MS = 100;
const PULSE_MS = 50;

/** Returns the last sequence. Rejects with `ClusterError`, which names the sequence. */
export async function reseed(options: ReseedOptions): Promise<number> {
  const link = new Link(options.access, options.logger, () => undefined);
  await link.open(0);
  const pulse = setInterval(() => link.tick(PULSE_MS), PULSE_MS);
  try {
    return await publishMirror(link, options);
  } catch (error) {
    const isMissing = error instanceof ClusterError && error.code === "no_stream";
    const text = `stream ${options.stream} was deleted meanwhile: run the reseed again`;
    throw isMissing ? new ClusterError("reseed_refused", text) : error;
  } finally {
    clearInterval(pulse);
    await link.close();
  }
}

async function publishMirror(link: Link, options: ReseedOptions): Promise<number> {
  const { stream, onProgress } = options;
  const messages = options.messages[Symbol.iterator]();
  let next = messages.next();
  if (next.done === true) throw refused(0, "the mirror holds no message");
  const firstSequence = next.value.sequence;
  await askServers(link, PATIENCE_MS, (to) => createStream(to, { ...options, firstSequence }));
  const state = await askServers(link, PATIENCE_MS, (to) => streamState(to, stream));
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
    await store(link, stream, group);
    onProgress?.(last);
  }
  await expectEnd(link, stream, last);
  return last;
}

/** Publishes messages until the stream has all of them. */
async function store(link: Link, stream: string, group: readonly ReseedMessage[]): Promise<void> {
  let rest = group;
  let progressedMs = performance.now();
  for (;;) {
    const { unsure, problem } = await publish(link.connection, rest);
    const lacking = await lackingOf(link, stream, unsure);
    const [first] = lacking;
    if (first === undefined) return;
    if (lacking.length < rest.length) progressedMs = performance.now();
    if (performance.now() - progressedMs > PATIENCE_MS) throw refused(first.sequence, problem);
    rest = lacking;
    await delay(RETRY_PAUSE_MS);
  }
}

/** Returns those that were not acknowledged, and why the first of them was not. */
async function publish(
  connection: NatsConnection | undefined,
  messages: readonly ReseedMessage[],
): Promise<{ readonly unsure: readonly ReseedMessage[]; readonly problem: string }> {
  if (connection === undefined) return { unsure: messages, problem: "no server is connected" };
  const problems = await Promise.all(
    messages.map(({ sequence, subject, message }) =>
      publishAt(connection, subject, message, sequence - 1).then(
        (isStored) => (isStored ? undefined : "the stream has another last sequence"),
        textOf,
      ),
    ),
  );
  const unsure = messages.filter((_, index) => problems[index] !== undefined);
  return { unsure, problem: problems.find((text) => text !== undefined) ?? "" };
}

/** Those that the stream does not have. Refuses a stream that has another message in the place of one. */
async function lackingOf(
  link: Link,
  stream: string,
  messages: readonly ReseedMessage[],
): Promise<readonly ReseedMessage[]> {
  if (messages.length === 0) return [];
  const { lastSeq } = await askServers(link, PATIENCE_MS, (to) => streamState(to, stream));
  const lacking: ReseedMessage[] = [];
  for (const own of messages) {
    const { sequence, subject, message } = own;
    const stored =
      sequence > lastSeq
        ? undefined
        : await askServers(link, PATIENCE_MS, (to) => storedMessage(to, stream, sequence));
    if (stored === undefined) lacking.push(own);
    else if (stored.subject !== subject || Buffer.compare(stored.data, message) !== 0) {
      throw refused(sequence, "another message was stored meanwhile");
    }
  }
  return lacking;
}

/** A new leader may not have applied everything yet. */
async function expectEnd(link: Link, stream: string, last: number): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; ; await delay(RETRY_PAUSE_MS)) {
    const { lastSeq } = await askServers(link, PATIENCE_MS, (to) => streamState(to, stream));
    if (lastSeq === last) return;
    if (lastSeq > last || performance.now() > until) {
      throw refused(last, `the stream ends at sequence ${lastSeq}, not at ${last}`);
    }
  }
}

function refused(sequence: number, reason: string): ClusterError {
  return new ClusterError("reseed_refused", `reseed stopped at sequence ${sequence}: ${reason}`, {
    sequence,
  });
}
