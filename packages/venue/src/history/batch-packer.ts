/** Batches of the log on their way to another thread: all records in one piece of memory, which moves. */
import type { Batch, BatchId, LogSeq } from "@perpgate/journal";

interface PackedBatch {
  readonly id: BatchId;
  readonly seq: LogSeq;
  readonly end: LogSeq;
  readonly lengths: readonly number[];
  readonly isUnfit: boolean;
}

export interface PackedBatches {
  readonly batches: readonly PackedBatch[];
  readonly records: Uint8Array<ArrayBuffer>;
}

const FIRST_BYTES = 64 * 1024;
const KEPT_BYTES = 2 * 1024 * 1024;

export class BatchPacker {
  private batches: PackedBatch[] = [];
  private records = new Uint8Array(FIRST_BYTES);
  /** Of the records so far. */
  bytes = 0;

  get isEmpty(): boolean {
    return this.batches.length === 0;
  }

  add({ id, seq, end, records, isUnfit }: Batch): void {
    const lengths: number[] = [];
    for (const record of records) {
      if (this.bytes + record.length > this.records.length) this.grow(record.length);
      this.records.set(record, this.bytes);
      this.bytes += record.length;
      lengths.push(record.length);
    }
    this.batches.push({ id, seq, end, lengths, isUnfit: isUnfit === true });
  }

  take(): PackedBatches {
    const { batches } = this;
    // A copy: the memory is reused, unless it has grown.
    const records = this.records.slice(0, this.bytes);
    if (this.records.length > KEPT_BYTES) this.records = new Uint8Array(FIRST_BYTES);
    this.batches = [];
    this.bytes = 0;
    return { batches, records };
  }

  private grow(more: number): void {
    const wider = new Uint8Array(2 * Math.max(this.records.length, this.bytes + more));
    wider.set(this.records.subarray(0, this.bytes));
    this.records = wider;
  }
}

export function* unpacked({ batches, records }: PackedBatches): Generator<Batch> {
  let from = 0;
  for (const { id, seq, end, lengths, isUnfit } of batches) {
    const own = lengths.map((length) => {
      from += length;
      return Buffer.from(records.buffer, records.byteOffset + from - length, length);
    });
    yield { id, seq, end, records: own, ...(isUnfit ? { isUnfit } : {}) };
  }
}
