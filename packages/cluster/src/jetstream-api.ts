/** Requests to JetStream's interface, and the checked shapes of what it answers. */

import type { NatsConnection } from "@nats-io/transport-node";
import { ClusterError } from "./errors.js";
import type { Incoming } from "./incoming.js";
import { subjectFilter } from "./subjects.js";

export const REQUEST_MS = 2000;

/** Codes of JetStream's errors that the log reacts to. */
export const INSUFFICIENT_PEERS = 10005;
export const UNAVAILABLE = 10008;
export const WRONG_LAST_SEQUENCE = 10071;
export const STREAM_NOT_FOUND = 10059;
export const STREAM_NAME_IN_USE = 10058;
const NO_MESSAGE_FOUND = 10037;

export class JetStreamError extends Error {
  constructor(
    readonly code: number,
    description: string,
  ) {
    super(description);
    this.name = "ApiError";
  }
}

export type JsonFields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null;
}

export const fieldsOf = (from: JsonFields, name: string): JsonFields => {
  const value = from[name];
  return isFields(value) ? value : {};
};

export const numberOf = (from: JsonFields, name: string): number => {
  const value = from[name];
  return typeof value === "number" ? value : 0;
};

export const stringOf = (from: JsonFields, name: string): string => {
  const value = from[name];
  return typeof value === "string" ? value : "";
};

/** The error in an answer of JetStream. */
export function errorIn(answer: JsonFields): JetStreamError | undefined {
  const error = answer.error;
  if (!isFields(error)) return undefined;
  return new JetStreamError(numberOf(error, "err_code"), stringOf(error, "description"));
}

/** Rejects with `JetStreamError` when JetStream refuses, and when there is no answer. */
export async function jetStreamRequest(
  connection: NatsConnection,
  operation: string,
  body: JsonFields | undefined,
  timeoutMs = REQUEST_MS,
): Promise<JsonFields> {
  const payload = body === undefined ? "" : JSON.stringify(body);
  const { data } = await connection.request(`$JS.API.${operation}`, payload, {
    timeout: timeoutMs,
  });
  const answer = parse(data);
  const error = errorIn(answer);
  if (error !== undefined) throw error;
  return answer;
}

export function parse(data: Uint8Array): JsonFields {
  try {
    const value: unknown = JSON.parse(Buffer.from(data).toString("utf8"));
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}

/** What the log needs to know about its stream. */
export interface StreamFigures {
  /** The server's text; it changes when the stream is created again. */
  readonly created: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly bytes: number;
  /** Undefined: no limit. */
  readonly maxBytes: number | undefined;
  readonly leader: string;
  /** Servers of the stream other than the leader. */
  readonly replicas: readonly StreamReplica[];
  readonly config: JsonFields;
}

export interface StreamReplica {
  readonly server: string;
  readonly isCurrent: boolean;
  readonly isOffline: boolean;
  /** Operations that it lacks. */
  readonly lag: number;
}

export async function streamState(
  connection: NatsConnection,
  stream: string,
  timeoutMs = REQUEST_MS,
): Promise<StreamFigures> {
  const answer = await jetStreamRequest(connection, `STREAM.INFO.${stream}`, undefined, timeoutMs);
  const state = fieldsOf(answer, "state");
  const config = fieldsOf(answer, "config");
  const cluster = fieldsOf(answer, "cluster");
  const replicas = Array.isArray(cluster.replicas) ? cluster.replicas.filter(isFields) : [];
  const maxBytes = numberOf(config, "max_bytes");
  return {
    created: stringOf(answer, "created"),
    firstSeq: numberOf(state, "first_seq"),
    lastSeq: numberOf(state, "last_seq"),
    bytes: numberOf(state, "bytes"),
    maxBytes: maxBytes > 0 ? maxBytes : undefined,
    leader: stringOf(cluster, "leader"),
    replicas: replicas.map((replica) => ({
      server: stringOf(replica, "name"),
      isCurrent: replica.current === true,
      isOffline: replica.offline === true,
      lag: numberOf(replica, "lag"),
    })),
    config,
  };
}

/** A message as the stream's leader has it; undefined if the stream has none at this sequence. */
export async function storedMessage(
  connection: NatsConnection,
  stream: string,
  sequence: number,
  timeoutMs = REQUEST_MS,
): Promise<Incoming | undefined> {
  const found = await messageOf(connection, stream, { seq: sequence }, timeoutMs);
  if (found === undefined || found.sequence === sequence) return found;
  throw new ClusterError("failed", `the server answered message ${sequence} with another one`);
}

/** The last message as the stream's leader has it; undefined if the stream is empty. */
export function lastMessage(
  connection: NatsConnection,
  stream: string,
  timeoutMs = REQUEST_MS,
): Promise<Incoming | undefined> {
  return messageOf(connection, stream, { last_by_subj: subjectFilter(stream) }, timeoutMs);
}

/** Only the leader of the stream answers this. */
async function messageOf(
  connection: NatsConnection,
  stream: string,
  which: JsonFields,
  timeoutMs: number,
): Promise<Incoming | undefined> {
  try {
    const answer = await jetStreamRequest(connection, `STREAM.MSG.GET.${stream}`, which, timeoutMs);
    const message = fieldsOf(answer, "message");
    return {
      sequence: numberOf(message, "seq"),
      subject: stringOf(message, "subject"),
      data: Buffer.from(stringOf(message, "data"), "base64"),
    };
  } catch (error) {
    if (error instanceof JetStreamError && error.code === NO_MESSAGE_FOUND) return undefined;
    throw error;
  }
}
