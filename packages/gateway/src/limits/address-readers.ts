/**
 * The connections of each client address.
 *
 * A connection can be paused only after a read, up to 64 KiB, is parsed as a whole. Once an address has
 * used its part of a turn of the event loop, none of its connections is read until the next turn:
 * otherwise one turn could parse a read of each of them. In the next turn all of them are read again, in
 * debt too: a trader who shares the address may want to cancel.
 */
import type { CostBudgets } from "./cost-budget.js";

export interface AddressReader {
  stopReading(): void;
  goOnReading(): void;
}

export class AddressReaders {
  private readonly readers = new Map<string, Set<AddressReader>>();
  /** Addresses of which nothing is read now. */
  private readonly yielding = new Set<string>();

  constructor(private readonly budgets: Pick<CostBudgets, "isTurnUsed">) {}

  count(address: string): number {
    return this.readers.get(address)?.size ?? 0;
  }

  /** Returns a function that removes the reader. */
  add(address: string, reader: AddressReader): () => void {
    const readers = this.readers.get(address) ?? new Set();
    this.readers.set(address, readers.add(reader));
    return () => {
      readers.delete(reader);
      if (readers.size === 0) this.readers.delete(address);
    };
  }

  /** Must be called before each item of a read is handled. */
  yieldIfUsed(address: string): void {
    if (!this.budgets.isTurnUsed(address) || this.yielding.has(address)) return;
    const readers = this.readers.get(address);
    if (readers === undefined) return;
    this.yielding.add(address);
    for (const reader of readers) reader.stopReading();
    setImmediate(() => {
      this.yielding.delete(address);
      for (const reader of readers) reader.goOnReading();
    });
  }
}
