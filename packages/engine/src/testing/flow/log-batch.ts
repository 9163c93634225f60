/** A batch of the log, as a writer sends it and every replica reads it. */
import type { Command } from "../../commands.js";
import type { DropReason } from "../../state/writers.js";
import type { BatchTaker } from "../sole-writer.js";

export interface LogBatch {
  readonly writer: string;
  readonly counter: number;
  readonly commands: readonly Command[];
}

interface Replica<E> extends BatchTaker {
  apply(command: Command): E;
}

/** Applies the batch and hands over what each command returned; or says why it is dropped. */
export function applyBatch<E>(
  replica: Replica<E>,
  batch: LogBatch,
  each: (command: Command, result: E) => void = () => undefined,
): DropReason | null {
  const dropped = replica.acceptBatch(batch.writer, batch.counter, batch.commands);
  if (dropped !== null) return dropped;
  for (const command of batch.commands) each(command, replica.apply(command));
  return null;
}
