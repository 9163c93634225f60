/** What a gateway's mirror has of certain messages, and whether a replica that reads it applies them. */

import { type Batch, inspectLog, LOG_START, LogReader, nodeDisk } from "@perpgate/journal";
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
  const directory = journalFolderOf(folder);
  const end = inspectLog(nodeDisk, directory)?.end.batch ?? 0;
  const replica = new Replica();
  const reader = new LogReader(nodeDisk, directory, LOG_START);
  try {
    for (let batch = reader.next(end); batch !== undefined; batch = reader.next(end)) {
      const dropped = replica.applyBatch(batch) ? null : replica.dropped;
      for (const [text, messages] of found) {
        if (!contains(batch, text)) continue;
        messages.push({ sequence: batch.end.batch, ...batch.id, dropped });
      }
    }
  } finally {
    reader.close();
  }
  return found;
}

function contains({ records }: Batch, text: string): boolean {
  return records.some((record) => Buffer.from(record).includes(text));
}
