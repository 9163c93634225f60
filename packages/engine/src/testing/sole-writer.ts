/** The one writer of a venue in tests: each command is a batch of its own. */
import { type Command, GENESIS_WRITER, type WriterJoined } from "../commands.js";
import type { DropReason } from "../state/writers.js";
import { RULE_SETS } from "../versions.js";

export interface BatchTaker {
  acceptBatch(writer: string, counter: number, commands: readonly Command[]): DropReason | null;
}

/** A writer's id. */
export function writerId(number: number): string {
  return number.toString(16).padStart(32, "0");
}

export function joining(writer: string, name: string, stampMs: number): WriterJoined {
  const versions = [RULE_SETS[0]!.version, RULE_SETS.at(-1)!.version] as const;
  const keys = { receiptKey: "", certificate: "" };
  return { kind: "WriterJoined", stampMs, writer, name, versions, ...keys };
}

export class SoleWriter {
  private joined = 0;
  private id = GENESIS_WRITER;
  private counter = -1;

  /** The command by which the process begins to write, again if it did before. */
  joins(stampMs: number): WriterJoined {
    return joining(writerId(++this.joined), "gateway", stampMs);
  }

  /** To be called before the command is applied. */
  sends(venue: BatchTaker, command: Command): void {
    if (command.kind === "WriterJoined") {
      this.id = command.writer;
      this.counter = -1;
    }
    if (this.id !== GENESIS_WRITER || this.counter < 0) this.counter++;
    this.repeats(venue, command);
  }

  /** Gives the batch that was sent last to another replica. */
  repeats(venue: BatchTaker, command: Command): void {
    const dropped = venue.acceptBatch(this.id, this.counter, [command]);
    if (dropped !== null) throw new Error(`${command.kind}: dropped, ${dropped}`);
  }
}
