/**
 * Asks the stream's leader for its state once a second, and finds what must stop a gateway: a stream
 * that was created again, that is gone, that ends before what this gateway applied, or that has lost
 * what this gateway still needs.
 */

import type { NatsConnection } from "@nats-io/transport-node";
import { ClusterError } from "./errors.js";
import { ApiError, STREAM_NOT_FOUND, type StreamState, streamState } from "./jetstream-api.js";

const POLL_MS = 1000;
/**
 * A new leader may not have applied everything yet, or not know the stream; a stream that lost messages
 * stays behind, and one that was deleted stays missing.
 */
export const BELOW_MS = 10_000;
/** Without an answer for this long, the server may be cut off from the others. */
const UNANSWERED_MS = 5000;

export class StreamWatch {
  private sincePollMs = 0;
  private isPolling = false;
  /** When the stream was first seen to end below what was applied; undefined if it did not lately. */
  private belowSinceMs: number | undefined;
  /** When the stream was first found missing; undefined if the last poll found it or had no answer. */
  private missingSinceMs: number | undefined;
  private runMs = 0;
  private unansweredMs = 0;
  private asked: NatsConnection | undefined;
  private readonly created: string;
  private describedMs = 0;

  constructor(
    private readonly stream: string,
    /** As found when the log was opened, then as last described. */
    private described: StreamState,
    private readonly lastSeq: () => number,
    private readonly onState: (state: StreamState) => void,
    private readonly diverged: (error: ClusterError) => void,
    private readonly unanswered: () => void,
  ) {
    this.created = described.created;
  }

  /** As described within the last seconds; undefined if there was no answer. */
  get state(): StreamState | undefined {
    return this.runMs - this.describedMs < UNANSWERED_MS ? this.described : undefined;
  }

  /** Whether the stream ended below what was applied when it was last described. */
  get isBelow(): boolean {
    return this.belowSinceMs !== undefined;
  }

  tick(elapsedMs: number, connection: NatsConnection | undefined): void {
    this.runMs += elapsedMs;
    this.sincePollMs += elapsedMs;
    this.unansweredMs = connection === this.asked ? this.unansweredMs + elapsedMs : 0;
    this.asked = connection;
    if (connection !== undefined && this.unansweredMs >= UNANSWERED_MS) {
      this.unansweredMs = 0;
      this.unanswered();
      return;
    }
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
      this.unansweredMs = 0;
      this.missingSinceMs = undefined;
      this.judge(state, applied);
      this.described = state;
      this.describedMs = this.runMs;
      this.onState(state);
    } catch (error) {
      // Without a leader there is nothing to compare; the next poll asks again.
      const isMissing = error instanceof ApiError && error.code === STREAM_NOT_FOUND;
      if (isMissing) this.onMissing(applied);
      else this.missingSinceMs = undefined;
    } finally {
      this.isPolling = false;
    }
  }

  private onMissing(applied: number): void {
    this.unansweredMs = 0;
    this.missingSinceMs ??= this.runMs;
    if (this.runMs - this.missingSinceMs < BELOW_MS) return;
    this.diverged(missingStream(this.stream, BELOW_MS, applied));
  }

  private judge(state: StreamState, applied: number): void {
    const { created, firstSeq, lastSeq } = state;
    if (created !== this.created) {
      this.stop(
        applied,
        `the stream was created again at ${created} (before: ${this.created}); this gateway ` +
          `applied up to sequence ${applied}`,
      );
    }
    if (lastSeq >= applied) {
      this.belowSinceMs = undefined;
      if (firstSeq > this.lastSeq() + 1) this.diverged(startsLater(firstSeq, this.lastSeq()));
      return;
    }
    this.belowSinceMs ??= this.runMs;
    if (this.runMs - this.belowSinceMs >= BELOW_MS) {
      this.stop(
        lastSeq,
        `the stream has ended at sequence ${lastSeq} for ${BELOW_MS / 1000} s, but this gateway ` +
          `applied up to sequence ${applied}: messages were lost; stop all gateways and run ` +
          "`perpgate cluster reseed`",
      );
    }
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
