/**
 * A gateway reduced to its log, for tests of the log alone: a writer that publishes numbered records,
 * applies the engine's rules about writers in their simplest form, and keeps a mirror in memory.
 */

import { createHash, randomBytes } from "node:crypto";
import {
  type Batch,
  type BatchId,
  batchOf,
  decodeMessage,
  decodeMirrored,
  mirroredId,
} from "@perpgate/journal";
import type { LogHooks, Mirror } from "../batch.js";
import type { Logger } from "../link.js";
import { type LogOptions, ReplicatedLog } from "../replicated-log.js";
import type { ReseedMessage } from "../reseed.js";

/** A mirror in memory; it outlives the gateways that write it. */
export class MemoryMirror implements Mirror {
  readonly records: Uint8Array[] = [];
  /** When set, the next appends reject with it. */
  failure: Error | undefined;

  get end(): number {
    return this.records.length;
  }

  chainTail(): readonly Uint8Array[] {
    return this.records.slice(-65_536).map((record) => Uint8Array.from(mirrored(record).chain));
  }

  append(sequence: number, record: Uint8Array): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (sequence !== this.end + 1) return Promise.reject(new Error(`a gap at ${sequence}`));
    this.records.push(record);
    return Promise.resolve();
  }

  /** As the log delivers the message at a sequence. */
  batchAt(sequence: number): Batch {
    const at = { batch: sequence - 1, record: sequence - 1 };
    const end = { batch: sequence, record: sequence };
    return batchOf(mirrored(this.records[sequence - 1]!), {
      id: mirroredId(sequence),
      seq: at,
      end,
    });
  }

  /** A copy that ends at a sequence. */
  upTo(end: number): MemoryMirror {
    const copy = new MemoryMirror();
    copy.records.push(...this.records.slice(0, end));
    return copy;
  }

  *messages(): Generator<ReseedMessage> {
    for (const [index, record] of this.records.entries()) {
      const { subject, message } = mirrored(record);
      yield { sequence: index + 1, subject, message };
    }
  }
}

export function mirrored(record: Uint8Array) {
  const decoded = decodeMirrored(record);
  if (decoded === undefined) throw new Error("a mirror holds what is no message");
  return decoded;
}

export interface Applied {
  readonly sequence: number;
  readonly writer: string;
  readonly counter: number;
  readonly text: string;
}

/** Every ten applied batches make a block, whose hash covers all of them. */
const BLOCK_BATCHES = 10;

export class LogGateway implements LogHooks {
  readonly writer = randomBytes(16).toString("hex");
  readonly lines: string[] = [];
  readonly applied: Applied[] = [];
  readonly dropped: BatchId[] = [];
  /** Own batches that were applied: what clients would be answered. */
  acknowledged = 0;
  /** Set when the log stopped. */
  stopped: Error | undefined;
  log!: ReplicatedLog;
  private readonly counters = new Map<string, number>();
  private readonly blocks: Uint8Array[] = [];
  private state = createHash("sha256").digest();
  private counter = -1;
  private waiting: { readonly resolve: (delivered: boolean) => void } | undefined;

  private constructor(readonly mirror: MemoryMirror) {}

  static async start(
    options: Pick<LogOptions, "servers" | "stream"> & Partial<LogOptions>,
    mirror = new MemoryMirror(),
  ): Promise<LogGateway> {
    const gateway = new LogGateway(mirror);
    for (const [index, record] of mirror.records.entries()) gateway.replay(index + 1, record);
    const logger: Logger = {
      info: (text) => gateway.lines.push(text),
      warn: (text) => gateway.lines.push(text),
    };
    gateway.log = await ReplicatedLog.open({
      name: "test",
      logger,
      hooks: gateway,
      patienceMs: 30_000,
      ...options,
      mirror,
    });
    void gateway.log.stopped.then((error) => {
      gateway.stopped = error;
      gateway.waiting?.resolve(false);
    });
    await gateway.log.start((batch) => gateway.apply(batch));
    return gateway;
  }

  /** Publishes one batch; resolves with whether it was applied. */
  publish(...texts: readonly string[]): Promise<boolean> {
    this.counter++;
    const delivered = new Promise<boolean>((resolve) => {
      this.waiting = { resolve };
    });
    if (this.stopped !== undefined) return Promise.resolve(false);
    this.log.publish(
      { writer: this.writer, counter: this.counter },
      texts.map((text) => Buffer.from(text)),
    );
    return delivered;
  }

  close(): Promise<void> {
    this.waiting?.resolve(false);
    return this.log.close();
  }

  /** Of everything mirrored and applied. */
  digest(): string {
    const hash = createHash("sha256").update(JSON.stringify(this.applied));
    for (const record of this.mirror.records) hash.update(record);
    return hash.digest("hex");
  }

  /** Makes this gateway's blocks differ from those of the others, as an engine fault would. */
  corruptBlocks(): void {
    for (const block of this.blocks) block.fill(7);
  }

  /** As an engine fault would that seals a block less. */
  loseBlock(): void {
    this.blocks.pop();
  }

  lastBlock() {
    const number = this.blocks.length;
    return { number, hash: this.blocks[number - 1] ?? new Uint8Array(32) };
  }

  blockHash(number: number): Uint8Array | undefined {
    return this.blocks[number - 1];
  }

  isLive(writer: string): boolean {
    return this.counters.has(writer);
  }

  room(): undefined {
    return undefined;
  }

  /** Exactly the next counter of a writer is applied, everything else is dropped. */
  private apply({ id, end, records, isUnfit }: Batch): void {
    const { writer, counter } = id;
    const isAwaited = writer === this.writer && counter === this.counter;
    if (isUnfit === true && isAwaited) {
      this.dropped.push(id);
      this.waiting?.resolve(false);
    }
    if (isUnfit === true || (this.counters.get(writer) ?? -1) + 1 !== counter) return;
    this.counters.set(writer, counter);
    const sequence = end.batch;
    for (const record of records) {
      const text = Buffer.from(record).toString();
      this.applied.push({ sequence, writer, counter, text });
      this.state = createHash("sha256").update(this.state).update(text).digest();
    }
    if (this.applied.length >= (this.blocks.length + 1) * BLOCK_BATCHES) {
      this.blocks.push(Uint8Array.from(this.state));
    }
    if (!isAwaited) return;
    this.acknowledged++;
    this.waiting?.resolve(true);
  }

  private replay(sequence: number, record: Uint8Array): void {
    const batch = unwrap(sequence, record);
    if (batch !== undefined) this.apply(batch);
  }
}

function unwrap(sequence: number, record: Uint8Array): Batch | undefined {
  const { verdict, message } = mirrored(record);
  const decoded = verdict === "sound" ? decodeMessage(message) : undefined;
  if (decoded === undefined) return undefined;
  const { writer, counter, records } = decoded;
  const seq = { batch: sequence - 1, record: sequence - 1 };
  return { id: { writer, counter }, seq, end: { batch: sequence, record: sequence }, records };
}
