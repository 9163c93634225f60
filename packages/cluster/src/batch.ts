/** The shapes that the log exchanges with its user. */

import { type Batch, type Message, type MessageVerdict, mirroredId } from "@perpgate/journal";

/** The gateway's copy of the log. */
export interface Mirror {
  /** Messages that it holds or has queued: the stream sequence of the last one. */
  readonly end: number;
  /**
   * The last values of the chain, c(end) last: all of them, or the last 65,536. Read once, at open.
   */
  chainTail(): readonly Uint8Array[];
  /**
   * Stores the message at this sequence, encoded by `encodeMirrored`. The log does not wait for the
   * promise; if it rejects, the log stops.
   */
  append(sequence: number, record: Uint8Array): Promise<void>;
}

export interface LogHooks {
  /** This gateway's last block, put into every message. */
  lastBlock(): { readonly number: number; readonly hash: Uint8Array };
  /** The hash of a block, undefined if this gateway does not know it. */
  blockHash(number: number): Uint8Array | undefined;
  /** Undefined if batches can be applied; otherwise none is delivered before the promise resolves. */
  room(): Promise<void> | undefined;
}

/** What is delivered for the message at this stream sequence. */
export function batchAt(
  sequence: number,
  verdict: MessageVerdict,
  message: Message | undefined,
): Batch {
  const seq = { batch: sequence - 1, record: sequence - 1 };
  const end = { batch: sequence, record: sequence };
  if (message === undefined) {
    return { id: mirroredId(sequence), seq, end, records: [], isUnfit: true };
  }
  const { writer, counter, records } = message;
  if (verdict !== "sound") return { id: { writer, counter }, seq, end, records: [], isUnfit: true };
  return { id: { writer, counter }, seq, end, records };
}
