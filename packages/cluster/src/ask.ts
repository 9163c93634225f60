/** Questions that are asked until JetStream answers. */

import type { NatsConnection } from "@nats-io/transport-node";
import { ClusterError, textOf } from "./errors.js";
import { JetStreamError, STREAM_NOT_FOUND } from "./jetstream-api.js";

/** What a question goes through; `move` chooses another server. */
export interface Asked {
  readonly connection: NatsConnection | undefined;
  move(reason: string): void;
}

/** Servers that start together may not know their streams yet. */
export const NOT_FOUND_MS = 3000;
const RETRY_PAUSE_MS = 100;
/** A server without answers for this long may be cut off from the others; another one is asked. */
const MOVE_AFTER_MS = 3000;

/** Asks until there is an answer; servers may be electing a leader, or be restarted. */
export async function askServers<T>(
  link: Asked,
  withinMs: number,
  question: (connection: NatsConnection) => Promise<T>,
): Promise<T> {
  const began = performance.now();
  let problem = "no connection";
  let askedSince = began;
  for (;;) {
    const { connection } = link;
    const waitedMs = performance.now() - began;
    try {
      if (connection !== undefined) return await question(connection);
    } catch (error) {
      if (error instanceof ClusterError) throw error;
      const isMissing = error instanceof JetStreamError && error.code === STREAM_NOT_FOUND;
      if (isMissing && waitedMs > NOT_FOUND_MS) {
        const text = "the stream does not exist: run `perpgate cluster init` once for the venue";
        throw new ClusterError("no_stream", text);
      }
      problem = textOf(error);
      if (!isMissing && performance.now() - askedSince > MOVE_AFTER_MS) {
        link.move(`JetStream does not answer through it: ${problem}`);
        askedSince = performance.now();
      }
    }
    if (waitedMs > withinMs) {
      throw new ClusterError("unreachable", `JetStream does not answer: ${problem}`);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
  }
}

/** As `askServers`, through one connection. */
export function askThrough<T>(
  connection: NatsConnection,
  withinMs: number,
  question: (connection: NatsConnection) => Promise<T>,
): Promise<T> {
  return askServers({ connection, move: () => {} }, withinMs, question);
}
