import { type Batch, type Message, type MessageVerdict, mirroredId } from "@perpgate/journal";

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
