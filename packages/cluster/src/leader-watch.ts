/**
 * Asks the stream's leader, four times a second, for its last message and for the one that was applied
 * last. Only the leader answers `STREAM.MSG.GET`; direct gets and descriptions of the stream come from
 * servers that are cut off from it, too.
 *
 * A server through which no leader answers for a second is left. That the stream ends below what was applied
 * counts when its leader has said so for 10 s, through two servers.
 */

import type { NatsConnection } from "@nats-io/transport-node";
import { CHAIN_START, type MessageChain, nextLink } from "./chain.js";
import { ClusterError } from "./errors.js";
import type { Incoming } from "./incoming.js";
import {
  JetStreamError,
  lastMessage,
  STREAM_NOT_FOUND,
  storedMessage,
  streamState,
} from "./jetstream-api.js";

/** What the stream's leader says, asked for the message at the sequence that was applied last then. */
export interface LeaderAnswer {
  readonly sequence: number;
  /** Whether it has the message that was applied, another one, or none. */
  readonly has: "same" | "other" | "none";
  /** The last sequence of the stream. */
  readonly last: number;
  /** When it was asked. */
  readonly askedAtMs: number;
}

interface LeaderWatchEvents {
  answered(answer: LeaderAnswer): void;
  unanswered(): void;
  /** The stream has lost messages that were applied. */
  lost(error: ClusterError): void;
  move(reason: string): void;
}

const ASK_EVERY_MS = 250;
const ANSWER_MS = 600;
/** Without an answer for as long the server is left. */
const UNANSWERED_MS = 900;
/** A new leader may not have applied everything yet. */
export const BELOW_MS = 10_000;
/** Then another server is asked. */
const BELOW_MOVE_MS = 4_000;

export class LeaderWatch {
  private sinceAskMs = ASK_EVERY_MS;
  private isAsking = false;
  private unansweredMs = 0;
  private asked: NatsConnection | undefined;
  /** Servers through which the stream ended below what was applied, since when it does. */
  private readonly below = new Set<string>();
  private belowMs = 0;
  private belowMovedMs = 0;

  constructor(
    private readonly stream: string,
    private readonly chain: Pick<MessageChain, "last" | "at">,
    private readonly events: LeaderWatchEvents,
    /** How many servers there are to ask through. */
    private readonly servers: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** `elapsedMs`: time that this process ran. */
  tick(elapsedMs: number, connection: NatsConnection | undefined, server: string): void {
    if (connection !== this.asked) this.unansweredMs = 0;
    this.asked = connection;
    if (this.below.size > 0) this.belowMs += elapsedMs;
    this.sinceAskMs += elapsedMs;
    if (connection === undefined) return;
    this.unansweredMs += elapsedMs;
    if (this.unansweredMs >= UNANSWERED_MS) {
      this.unansweredMs = 0;
      this.events.move("the stream's leader does not answer through it");
    } else if (!this.isAsking && this.sinceAskMs >= ASK_EVERY_MS) {
      void this.ask(connection, server);
    }
  }

  private async ask(connection: NatsConnection, server: string): Promise<void> {
    this.isAsking = true;
    this.sinceAskMs = 0;
    const askedAtMs = this.nowMs();
    const sequence = this.chain.last;
    try {
      const last = await lastMessage(connection, this.stream, ANSWER_MS);
      const isRead = sequence === 0 || last === undefined || last.sequence <= sequence;
      const own = isRead ? last : await storedMessage(connection, this.stream, sequence, ANSWER_MS);
      // Messages that have grown too old leave a stream that is empty and does not begin again.
      const lastSequence =
        last?.sequence ?? (await streamState(connection, this.stream, ANSWER_MS)).lastSeq;
      if (connection === this.asked) this.unansweredMs = 0;
      const has = sequence === 0 ? "same" : this.compare(sequence, own);
      this.judge(has === "none" && lastSequence < sequence, sequence, lastSequence, server);
      this.events.answered({ sequence, has, last: lastSequence, askedAtMs });
    } catch (error) {
      // No leader, no stream, or a server that is gone. That there is no stream is an answer: to move on would
      // only interrupt `StreamWatch`, which waits until it is certain.
      const isMissing = error instanceof JetStreamError && error.code === STREAM_NOT_FOUND;
      if (isMissing && connection === this.asked) this.unansweredMs = 0;
      this.events.unanswered();
    } finally {
      this.isAsking = false;
    }
  }

  private compare(sequence: number, stored: Incoming | undefined): LeaderAnswer["has"] {
    if (stored?.sequence !== sequence) return "none";
    const before = sequence === 1 ? CHAIN_START : this.chain.at(sequence - 1);
    const own = this.chain.at(sequence);
    // Read meanwhile so far beyond it that the chain is no longer kept.
    if (before === undefined || own === undefined) return "none";
    const theirs = nextLink(before, stored.subject, stored.data);
    return Buffer.compare(theirs, own) === 0 ? "same" : "other";
  }

  private judge(isBelow: boolean, applied: number, last: number, server: string): void {
    if (!isBelow) {
      this.below.clear();
      this.belowMs = 0;
      this.belowMovedMs = 0;
      return;
    }
    this.below.add(server);
    if (this.belowMs >= BELOW_MS && this.below.size >= Math.min(2, this.servers)) {
      const text =
        `the stream has ended at sequence ${last} for ${BELOW_MS / 1000} s, but this gateway applied ` +
        `up to sequence ${applied}: messages were lost; stop all gateways and run ` +
        "`perpgate cluster reseed`";
      this.events.lost(new ClusterError("diverged", text, { sequence: last }));
    } else if (this.belowMs - this.belowMovedMs >= BELOW_MOVE_MS && this.servers > 1) {
      this.belowMovedMs = this.belowMs;
      this.events.move("the stream ends below what was applied, as its leader says through it");
    }
  }
}

export function contradiction(sequence: number): ClusterError {
  const text =
    `the stream has another message at sequence ${sequence} than this gateway has applied: its ` +
    "servers were restored from an older copy; perpgate cluster reseed";
  return new ClusterError("diverged", text, { sequence });
}
