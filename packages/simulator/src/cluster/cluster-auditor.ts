/**
 * The auditor of a simulated cluster. It numbers every attempt to have a command executed, remembers
 * every answer, and compares them at the end with a fresh replay of the stream.
 */
import type { Command } from "@perpgate/engine";
import type { Applied, Evidence } from "@perpgate/venue";
import type { ReplicaState } from "@perpgate/venue/testing";
import { stateHashOf } from "../auditor/transcript.js";
import { mustHold } from "../auditor/violation.js";
import type { Answer, TraderAttempt } from "./attempt.js";
import { AuditedReplay } from "./audited-replay.js";
import type { GatewayProcess } from "./gateway-process.js";
import type { ModelMessage } from "./model-stream.js";

/** From its arrival at the gateway: ten seconds in flight, what was before it, and the checks. */
const MOST_MS = 12_500;

const NOTHING = new Uint8Array(0);

export class ClusterAuditor {
  readonly attempts: TraderAttempt[] = [];
  /** Attempts without an answer. */
  waiting = 0;
  private isAhead: ((process: GatewayProcess) => boolean) | undefined;
  /** Sequences of the messages that the restored stream lost, and that `reseed` brought back. */
  private lost = { after: 0, upTo: 0 };
  readonly counts = {
    acknowledged: 0,
    notExecuted: 0,
    unknown: 0,
    lost: 0,
    canceledByReport: 0,
    canceledByWriter: 0,
    /** Batches of the log that were dropped: stored twice, or later than the end of their writer. */
    duplicates: 0,
    tooLate: 0,
    forked: 0,
    undone: 0,
  };

  /**
   * The stream has lost its messages after a sequence, up to another. From now on answers of the gateways
   * that have not read those are not kept: they cannot know, and `reseed` brings the messages back.
   */
  fork(
    isAhead: (process: GatewayProcess) => boolean,
    lost: { readonly after: number; readonly upTo: number },
  ): void {
    this.isAhead = isAhead;
    this.lost = lost;
  }

  endFork(): void {
    this.isAhead = undefined;
  }

  attempt(command: Command, nowMs: number, { pausedMs }: GatewayProcess): TraderAttempt {
    const number = this.attempts.length;
    const attempt: TraderAttempt = {
      number,
      command,
      sentAtMs: nowMs,
      pausedMs,
      answer: "waiting",
      isForked: false,
      seq: 0,
      events: NOTHING,
    };
    this.attempts.push(attempt);
    this.waiting++;
    return attempt;
  }

  evidenceOf({ number }: TraderAttempt): Evidence {
    const signed = new Uint8Array(4);
    new DataView(signed.buffer).setUint32(0, number + 1);
    return { signed, signature: NOTHING, publicKey: NOTHING };
  }

  answered(
    attempt: TraderAttempt,
    applied: Applied | null,
    why: Answer,
    nowMs: number,
    process: GatewayProcess,
  ): void {
    const { command, answer } = attempt;
    mustHold(answer === "waiting", () => `${command.kind} was answered ${answer}, then ${why}`);
    const waitedMs = nowMs - attempt.sentAtMs - (process.pausedMs - attempt.pausedMs);
    mustHold(waitedMs <= MOST_MS, () => `${command.kind} was answered after ${waitedMs} ms`);
    attempt.answer = applied === null ? why : "applied";
    this.waiting--;
    attempt.isForked = this.isAhead?.(process) === false;
    if (applied === null) {
      if (why === "not_executed") this.counts.notExecuted++;
      else if (why === "lost") this.counts.lost++;
      else this.counts.unknown++;
      return;
    }
    if (this.isAhead !== undefined) {
      const { name } = process.parts;
      mustHold(attempt.isForked, () => `${name} acknowledged after the stream was restored`);
      this.counts.forked++;
    }
    attempt.seq = applied.seq;
    attempt.events = Uint8Array.from(applied.events.bytes());
    this.counts.acknowledged++;
  }

  /** The log, once everything is at rest, against the answers and the gateways. */
  audit(messages: readonly ModelMessage[], gateways: readonly GatewayProcess[]): void {
    const log = new AuditedReplay();
    for (const message of messages) log.take(message);
    for (const attempt of this.attempts) {
      if (this.isUndone(attempt, log)) this.counts.undone++;
      else if (!attempt.isForked || attempt.answer !== "applied") log.check(attempt);
    }
    this.counts.canceledByReport = log.canceled.byReport;
    this.counts.canceledByWriter = log.canceled.byWriter;
    this.counts.duplicates = log.drops.get("counter_passed") ?? 0;
    this.counts.tooLate = log.drops.get("writer_not_live") ?? 0;
    const expected = hashesOf(log.state);
    for (const { state, parts } of gateways) {
      const found = hashesOf(state);
      mustHold(
        found === expected,
        () => `${parts.name}: ${found}, but a replay of the log gives ${expected}`,
      );
    }
  }

  /**
   * A batch was stored, and lost before its gateway read it; the other history ended the writer. Only a
   * message that `reseed` brought back can have executed what was answered `not_executed` there.
   */
  private isUndone({ number, answer, isForked }: TraderAttempt, log: AuditedReplay): boolean {
    const { after, upTo } = this.lost;
    const sequence = log.sequenceOf(number);
    return isForked && answer === "not_executed" && sequence > after && sequence <= upTo;
  }
}

function hashesOf({ engine, blocks }: ReplicaState): string {
  const { number, parentHash, events } = blocks.open();
  const open = Buffer.from(events).toString("base64").slice(-64);
  return `seq ${engine.seq}, state ${stateHashOf(engine)}, block ${number} on ${parentHash.toString("hex")} with ${open}`;
}
