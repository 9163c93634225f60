/** What a gateway's mirror has of certain messages, and whether a replica that reads it applies them. */

import { type Batch, inspectLog, LOG_START, nodeDisk, SegmentReader } from "@perpgate/journal";
import { Replica } from "@perpgate/venue";
import { journalFolderOf } from "../folders.js";

export interface MirroredMessage {
  /** Of the stream. */
  readonly sequence: number;
  readonly writer: string;
  readonly counter: number;
  /** Why the replica drops it; null if it applies it. */
  readonly dropped: string | null;
}

/** The messages with a record that contains the text, such as an order's signed body; by text. */
export function messagesWith(
  folder: string,
  texts: readonly string[],
): ReadonlyMap<string, readonly MirroredMessage[]> {
  const found = new Map<string, MirroredMessage[]>(texts.map((text) => [text, []]));
  for (const { batch, message } of messagesOf(folder)) {
    for (const [text, messages] of found) if (contains(batch, text)) messages.push(message);
  }
  return found;
}

/** Why the replica drops the messages at these sequences; null for one that it applies. */
export function dropsAt(
  folder: string,
  sequences: Iterable<number>,
): ReadonlyMap<number, string | null> {
  const wanted = new Set(sequences);
  const drops = new Map<number, string | null>();
  for (const { message } of messagesOf(folder)) {
    if (wanted.has(message.sequence)) drops.set(message.sequence, message.dropped);
  }
  return drops;
}

function* messagesOf(folder: string): Generator<{ batch: Batch; message: MirroredMessage }> {
  const directory = journalFolderOf(folder);
  const end = inspectLog(nodeDisk, directory)?.end.batch ?? 0;
  const replica = new Replica();
  const reader = new SegmentReader(nodeDisk, directory, LOG_START);
  try {
    for (let batch = reader.next(end); batch !== undefined; batch = reader.next(end)) {
      const dropped = replica.applyBatch(batch) ? null : replica.dropped;
      yield { batch, message: { sequence: batch.end.batch, ...batch.id, dropped } };
    }
  } finally {
    reader.close();
  }
}

function contains({ records }: Batch, text: string): boolean {
  return records.some((record) => Buffer.from(record).includes(text));
}
