/**
 * Asks for the stream's state once a second, and finds what must stop a gateway: a stream that was created
 * again, that is gone, or that has lost what this gateway still needs. Any server may answer; what only the
 * stream's leader knows is asked by `LeaderWatch`.
 */

import type { NatsConnection } from "@nats-io/transport-node";
import { ClusterError } from "./errors.js";
import {
  JetStreamError,
  STREAM_NOT_FOUND,
  type StreamFigures,
  streamState,
} from "./jetstream-api.js";

const POLL_MS = 1000;
/** A new leader may not know the stream yet; one that was deleted stays missing. */
const MISSING_MS = 10_000;
/** For as long a description counts. */
const DESCRIBED_MS = 5000;

export class StreamWatch {
  private sincePollMs = 0;
  private isPolling = false;
  /** When the stream was first found missing; undefined if the last poll found it or had no answer. */
  private missingSinceMs: number | undefined;
  private runMs = 0;
  private readonly created: string;
  private describedMs = 0;

  constructor(
    private readonly stream: string,
    /** As found when the log was opened, then as last described. */
    private described: StreamFigures,
    private readonly lastSeq: () => number,
    private readonly onState: (state: StreamFigures) => void,
    private readonly diverged: (error: ClusterError) => void,
  ) {
    this.created = described.created;
  }

  /** As described within the last seconds; undefined if there was no answer. */
  get state(): StreamFigures | undefined {
    return this.runMs - this.describedMs < DESCRIBED_MS ? this.described : undefined;
  }

  tick(elapsedMs: number, connection: NatsConnection | undefined): void {
    this.runMs += elapsedMs;
    this.sincePollMs += elapsedMs;
    if (connection === undefined || this.isPolling || this.sincePollMs < POLL_MS) return;
    void this.poll(connection);
  }

  private async poll(connection: NatsConnection): Promise<void> {
    this.isPolling = true;
    this.sincePollMs = 0;
    // Read first: the answer may be older than messages that arrive before it.
    const applied = this.lastSeq();
    try {
      const state = await streamState(connection, this.stream);
      this.missingSinceMs = undefined;
      this.judge(state, applied);
      this.described = state;
      this.describedMs = this.runMs;
      this.onState(state);
    } catch (error) {
      // Without a leader there is nothing to compare; the next poll asks again.
      const isMissing = error instanceof JetStreamError && error.code === STREAM_NOT_FOUND;
      if (isMissing) this.onMissing(applied);
      else this.missingSinceMs = undefined;
    } finally {
      this.isPolling = false;
    }
  }

  private onMissing(applied: number): void {
    this.missingSinceMs ??= this.runMs;
    if (this.runMs - this.missingSinceMs < MISSING_MS) return;
    this.diverged(missingStream(this.stream, MISSING_MS, applied));
  }

  private judge(state: StreamFigures, applied: number): void {
    const { created, firstSeq, lastSeq } = state;
    if (created !== this.created) {
      this.stop(
        applied,
        `the stream was created again at ${created} (before: ${this.created}); this gateway ` +
          `applied up to sequence ${applied}`,
      );
    }
    if (lastSeq < applied || firstSeq <= this.lastSeq() + 1) return;
    this.diverged(startsLater(firstSeq, this.lastSeq()));
  }

  private stop(sequence: number, message: string): void {
    this.diverged(new ClusterError("diverged", message, { sequence }));
  }
}

/** For a gateway that has applied messages: `cluster init` would begin another venue. */
export function missingStream(stream: string, forMs: number, applied: number): ClusterError {
  const text =
    `stream ${stream} has been missing for ${forMs / 1000} s; this gateway applied up to ` +
    `sequence ${applied}: stop all gateways and run \`perpgate cluster reseed\``;
  return new ClusterError("no_stream", text, { sequence: applied });
}

export function startsLater(firstSeq: number, lastSeq: number): ClusterError {
  return new ClusterError(
    "join_needed",
    `the stream begins at sequence ${firstSeq}, but this gateway needs sequence ${lastSeq + 1}: ` +
      "run `perpgate cluster join`",
    { sequence: lastSeq + 1 },
  );
}
