/** Creates the venue's stream, and publishes its first message: Genesis, once. */

import { headers, type NatsConnection } from "@nats-io/transport-node";
import { encodeMessage } from "@perpgate/journal";
import { askThrough } from "./ask.js";
import { CHAIN_START } from "./chain.js";
import { ClusterError, textOf } from "./errors.js";
import {
  errorIn,
  INSUFFICIENT_PEERS,
  JetStreamError,
  type JsonFields,
  jetStreamRequest,
  numberOf,
  parse,
  REQUEST_MS,
  STREAM_NAME_IN_USE,
  type StreamFigures,
  storedMessage,
  streamState,
  UNAVAILABLE,
  WRONG_LAST_SEQUENCE,
} from "./jetstream-api.js";
import { checkServer, checkStream, type StreamOptions, streamConfig } from "./stream-config.js";
import { checkStreamName, subjectOf } from "./subjects.js";

/** The writer of Genesis alone. */
const GENESIS_WRITER = "0".repeat(32);

const NO_BLOCK = { number: 0, hash: new Uint8Array(32) };
const EXPECTED_LAST = "Nats-Expected-Last-Sequence";
const CREATE_MS = 3000;
/** Servers that have just started may not know each other yet. */
const CREATE_WITHIN_MS = 20_000;
const CREATE_PAUSE_MS = 100;
const NOT_YET = [INSUFFICIENT_PEERS, UNAVAILABLE];

/** Creates the stream; does nothing if there is one as asked for. Rejects with `ClusterError`. */
export async function createStream(
  connection: NatsConnection,
  options: StreamOptions,
): Promise<void> {
  const { stream } = options;
  checkStreamName(stream);
  const server = connection.info;
  if (server !== undefined) refuse(checkServer(connection.getServer(), server).refused);
  await create(connection, stream, streamConfig(options));
  const { config } = await stateOf(connection, stream);
  refuse([...checkStream(stream, config).refused, ...differencesOf(options, config)]);
}

/** What a stream that was there before has other than asked for; limits count only if they are named. */
function differencesOf(
  { stream, replicas = 3, maxBytes }: StreamOptions,
  config: JsonFields,
): string[] {
  const asked: readonly (readonly [name: string, value: number | undefined])[] = [
    ["num_replicas", replicas],
    ["max_bytes", maxBytes],
  ];
  return asked.flatMap(([name, value]) => {
    const found = numberOf(config, name);
    if (value === undefined || value === found) return [];
    return [`stream ${stream} exists with ${name} ${found}, not ${value}`];
  });
}

/** The state of a stream that was just created: its servers may be electing a leader. */
function stateOf(connection: NatsConnection, stream: string): Promise<StreamFigures> {
  return askThrough(connection, CREATE_WITHIN_MS, (to) => streamState(to, stream));
}

async function create(
  connection: NatsConnection,
  stream: string,
  config: JsonFields,
): Promise<void> {
  const until = performance.now() + CREATE_WITHIN_MS;
  for (;;) {
    try {
      await jetStreamRequest(connection, `STREAM.CREATE.${stream}`, config, CREATE_MS);
      return;
    } catch (error) {
      const code = error instanceof JetStreamError ? error.code : undefined;
      if (code === STREAM_NAME_IN_USE) return;
      // Without an answer it is asked again: to create the same stream twice is no error.
      const isFinal = code !== undefined && !NOT_YET.includes(code);
      if (isFinal || performance.now() > until) {
        const text = `JetStream did not create stream ${stream}: ${textOf(error)}`;
        throw new ClusterError("unsuitable", text, { cause: error });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, CREATE_PAUSE_MS));
  }
}

/**
 * Publishes Genesis as the first message of the stream, and waits until all servers hold it. Of several
 * callers one succeeds; the others reject with `already_initialised`.
 */
export async function publishGenesis(
  connection: NatsConnection,
  stream: string,
  records: readonly Uint8Array[],
): Promise<void> {
  await publishFirst(connection, stream, records);
  await untilOnAllServers(connection, stream);
}

async function publishFirst(
  connection: NatsConnection,
  stream: string,
  records: readonly Uint8Array[],
): Promise<void> {
  const subject = subjectOf(stream, GENESIS_WRITER);
  const claim = { seq: 0, chain: CHAIN_START };
  const id = { writer: GENESIS_WRITER, counter: 0 };
  const bytes = encodeMessage({ ...id, claim, block: NO_BLOCK, records });
  let problem = "";
  // After an attempt without an answer, the first message may be this caller's.
  let isUnsure = false;
  // Its servers may be electing a leader: then nobody answers, and the request fails immediately.
  for (const until = performance.now() + CREATE_WITHIN_MS; performance.now() < until; ) {
    try {
      if (await publishAt(connection, subject, bytes, 0)) return;
      if (isUnsure && (await isFirst(connection, stream, bytes))) return;
      throw new ClusterError("already_initialised", `stream ${stream} has its Genesis already`);
    } catch (error) {
      if (error instanceof ClusterError) throw error;
      isUnsure = true;
      problem = textOf(error);
      await new Promise((resolve) => setTimeout(resolve, CREATE_PAUSE_MS));
    }
  }
  throw new ClusterError("unreachable", `Genesis was not acknowledged: ${problem}`);
}

/**
 * A server that is elected before it holds Genesis says for some moments that the log is empty, and a core
 * that starts then would find no venue. Servers that are away are not waited for longer: the venue has begun.
 */
async function untilOnAllServers(connection: NatsConnection, stream: string): Promise<void> {
  for (const until = performance.now() + CREATE_WITHIN_MS; performance.now() < until; ) {
    const { config, replicas } = await stateOf(connection, stream);
    const missing = numberOf(config, "num_replicas") - 1 - replicas.length;
    if (missing <= 0 && replicas.every(({ isCurrent }) => isCurrent)) return;
    await new Promise((resolve) => setTimeout(resolve, CREATE_PAUSE_MS));
  }
}

/**
 * Publishes a message that must become the one after `last`. False if the stream has another last
 * sequence; rejects on any other refusal and without an answer.
 */
export async function publishAt(
  connection: NatsConnection,
  subject: string,
  bytes: Uint8Array,
  last: number,
): Promise<boolean> {
  const head = headers();
  head.set(EXPECTED_LAST, String(last));
  const options = { headers: head, timeout: REQUEST_MS };
  const answer = parse((await connection.request(subject, bytes, options)).data);
  const error = errorIn(answer);
  if (error?.code === WRONG_LAST_SEQUENCE) return false;
  if (error !== undefined) throw error;
  if (numberOf(answer, "seq") !== last + 1) throw new Error("the server named another sequence");
  return true;
}

async function isFirst(
  connection: NatsConnection,
  stream: string,
  bytes: Uint8Array,
): Promise<boolean> {
  const stored = await askThrough(connection, CREATE_WITHIN_MS, (to) => {
    return storedMessage(to, stream, 1);
  });
  return stored !== undefined && Buffer.compare(stored.data, bytes) === 0;
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new ClusterError("unsuitable", problems.join("; "));
}
