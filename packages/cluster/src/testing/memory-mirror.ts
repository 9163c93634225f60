/** A mirror in memory, for tests of the log alone; it outlives those that write it. */

import type { Mirror } from "@perpgate/journal";
import { type Batch, batchOf, decodeMirrored, mirroredId } from "@perpgate/journal";
import type { ReseedMessage } from "../reseed.js";

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
