/**
 * An independent reading of a log: for each seq the record, the events of a fresh engine, and the
 * time.
 *
 * It does not use the venue's replica. Repeated batch ids, seqs, the venue's time and the single
 * execution of each nonce are computed here independently and must agree. The engine is the real
 * one; its results are checked by its own tests.
 */

import { createHash } from "node:crypto";
import { type Command, decodeEvents, Engine, type VenueEvent } from "@perpgate/engine";
import { type Batch, LOG_START, type LogSeq } from "@perpgate/journal";
import { decodeRecord } from "@perpgate/venue";
import { mustHold, sameBytes } from "./violation.js";

/**
 * The venue's time, computed from the log alone by the documented rule: a tick counts if it is newer
 * than the last, at most a second ahead of it, and the first of its batch; other commands happen at
 * their stamp, not before the previous command and at most a second after the last tick; only the
 * beginning and an ask for the time jump, the latter if it asks for a second or more. So the venue's time never goes back, even if the clocks of the machines do.
 */
const SLOT_MS = 200;
const LEAD_MS = 1_000;

class TimeRule {
  private timeMs = 0;
  private lastTickMs = 0;
  private begun = false;
  private hasTicked = false;

  /** The venue's time after the command. */
  after(command: Command): number {
    if (!this.begun && command.kind !== "Genesis") return this.timeMs;
    if (command.kind === "Tick") this.tick(command.slot * SLOT_MS);
    else if (!this.begun || this.isJump(command)) this.jump(command.stampMs);
    else this.pass(Math.min(command.stampMs, this.lastTickMs + LEAD_MS));
    this.begun = true;
    return this.timeMs;
  }

  beginBatch(): void {
    this.hasTicked = false;
  }

  /** One writer is a majority of itself. */
  private isJump(command: Command): boolean {
    return command.kind === "AskTime" && command.stampMs >= this.lastTickMs + LEAD_MS;
  }

  private tick(toMs: number): void {
    if (this.hasTicked) return;
    this.hasTicked = true;
    if (toMs <= this.lastTickMs || toMs > this.lastTickMs + LEAD_MS) return;
    this.lastTickMs = toMs;
    this.pass(toMs);
  }

  private jump(toMs: number): void {
    this.pass(toMs);
    this.lastTickMs = Math.max(this.lastTickMs, this.timeMs - (this.timeMs % SLOT_MS));
  }

  private pass(toMs: number): void {
    this.timeMs = Math.max(this.timeMs, toMs);
  }
}

export interface TranscriptEntry {
  readonly seq: number;
  readonly record: Uint8Array;
  readonly command: Command;
  /** The command's events, as the engine's words. */
  readonly words: Uint8Array;
  readonly timeMs: number;
}

export class Transcript {
  readonly engine = new Engine();
  /** By seq − 1. */
  readonly entries: TranscriptEntry[] = [];
  /** All batches of the log, repetitions included. */
  readonly batches: Batch[] = [];
  /** Order id by session and nonce. */
  readonly executions = new Map<string, number>();
  end: LogSeq = LOG_START;
  private readonly time = new TimeRule();
  private readonly originals = new Map<string, Batch>();
  private readonly counters = new Map<string, number>();

  /** Applies the next batch; returns its entries, or none if it repeats an earlier batch. */
  append(batch: Batch): TranscriptEntry[] {
    const { id, seq, records } = batch;
    mustHold(
      seq.batch === this.end.batch && seq.record === this.end.record,
      () => `batch ${seq.batch} of the log follows batch ${this.end.batch}`,
    );
    this.end = { batch: seq.batch + 1, record: seq.record + records.length };
    this.batches.push(batch);
    const isNew = id.counter > (this.counters.get(id.writer) ?? -1);
    const commands = records.map((record) => decodeRecord(record).command);
    const dropped = this.engine.acceptBatch(id.writer, id.counter, commands);
    mustHold(
      (dropped === null) === isNew,
      () => `batch ${id.writer}/${id.counter} is ${isNew ? "new" : "old"}, the engine: ${dropped}`,
    );
    this.time.beginBatch();
    if (!isNew) {
      this.checkRepetition(batch);
      return [];
    }
    this.counters.set(id.writer, id.counter);
    this.originals.set(`${id.writer}/${id.counter}`, batch);
    return records.map((record) => this.apply(record));
  }

  stateHash(): string {
    return stateHashOf(this.engine);
  }

  private apply(record: Uint8Array): TranscriptEntry {
    const { command } = decodeRecord(record);
    const events = this.engine.apply(command);
    const seq = this.entries.length + 1;
    const { timeMs } = this.engine.state;
    mustHold(this.engine.seq === seq, () => `seq ${seq} is counted otherwise`);
    const expectedMs = this.time.after(command);
    mustHold(timeMs === expectedMs, () => `seq ${seq} at ${timeMs}, not ${expectedMs}`);
    const entry = { seq, record, command, words: Uint8Array.from(events.bytes()), timeMs };
    this.entries.push(entry);
    for (const event of eventsOf(entry)) this.observe(event, seq);
    return entry;
  }

  private observe(event: VenueEvent, seq: number): void {
    if (event.kind === "OrderAcknowledged") {
      const key = orderKey(event.session, event.nonce);
      const earlier = this.executions.get(key);
      mustHold(earlier === undefined, () => `${key} executed at ${earlier} and at ${seq}`);
      mustHold(event.orderId === seq, () => `order ${event.orderId} is not its seq`);
      this.executions.set(key, seq);
    }
    if (event.kind === "OrderReplayed") {
      const key = orderKey(event.session, event.nonce);
      const original = this.executions.get(key);
      mustHold(original === event.orderId, () => `${key} is ${original}, not ${event.orderId}`);
    }
    mustHold(event.kind !== "MarketHalted", () => `a market halted at seq ${seq}`);
  }

  private checkRepetition({ id, records }: Batch): void {
    const original = this.originals.get(`${id.writer}/${id.counter}`);
    mustHold(
      original !== undefined &&
        original.records.length === records.length &&
        records.every((record, index) => sameBytes(record, original.records[index] ?? NOTHING)),
      () => `batch ${id.writer}/${id.counter} is in the log twice, not the same`,
    );
  }
}

const NOTHING = new Uint8Array(0);

export function orderKey(session: number, nonce: number): string {
  return `session ${session} nonce ${nonce}`;
}

function eventsOf({ words }: TranscriptEntry): VenueEvent[] {
  return decodeEvents(new Float64Array(words.buffer, 0, words.length / 8), words.length / 8);
}

export function stateHashOf(engine: Engine): string {
  return engine.stateHash((bytes) => createHash("sha256").update(bytes).digest("hex"));
}
