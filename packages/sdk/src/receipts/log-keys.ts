/**
 * The keys of the log that a receipt belongs to. They are the receipt's own until another one is needed:
 * then the venue's successor notes lead from it to those before and after it.
 */

import { isLogKey, logKeyChain, type NoteKey } from "@perpgate/protocol/receipts";
import { type LogReader, Withheld } from "./log-reader.js";
import { verifyEd25519 } from "./verify-ed25519.js";

interface OtherKey {
  readonly verdict: "invalid" | "withheld";
  readonly reason: string;
}

export class LogKeys {
  known: readonly NoteKey[];
  /** The notes that relate them, once they were needed. */
  successors: readonly string[] = [];
  private notes: Promise<readonly string[]> | undefined;

  constructor(
    private readonly own: NoteKey,
    private readonly reader: LogReader,
  ) {
    this.known = [own];
  }

  /** Null if the pinned key is another one of the log. */
  async otherKeyProblem(pinned: string): Promise<OtherKey | null> {
    try {
      await this.take(await this.reader.successors());
    } catch (error) {
      if (error instanceof Withheld) return { verdict: "withheld", reason: error.message };
      throw error;
    }
    if (this.known.some((key) => isLogKey(key, pinned))) return null;
    const reason = "the receipt is of another log key than the pinned one";
    return { verdict: "invalid", reason };
  }

  /** Whether there are other keys now than before. @throws Withheld if the notes are no chain */
  async follow(): Promise<boolean> {
    this.notes ??= this.reader.successors().catch((error: unknown) => {
      // Nothing leads to another key: what the caller has found stands.
      if (error instanceof Withheld) return [];
      throw error;
    });
    const before = this.known.length;
    await this.take(await this.notes);
    return this.known.length > before;
  }

  private async take(notes: readonly string[]): Promise<void> {
    const chain = await logKeyChain(this.own, notes, verifyEd25519);
    if (typeof chain === "string") throw new Withheld(chain);
    if (chain.length === 1) return;
    this.known = chain;
    this.successors = notes;
  }
}
