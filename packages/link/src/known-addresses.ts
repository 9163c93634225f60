/**
 * Addresses from which edges have linked, in a file of the data folder: after a start of the core its edges come back from
 * them, and strangers may be at the port first. The file is a hint; without it edges are strangers once.
 */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** More machines than a venue has. */
export const MAX_KNOWN = 1_024;
export const LINKED_EDGES = "linked-edges";
const PRIVATE_FILE = 0o600;

export class KnownAddresses {
  /** The one from which an edge linked longest ago first. */
  private readonly addresses: Set<string>;
  private readonly file: string;

  /** `onProblem`: the file cannot be written; the addresses are known until the end of the process. */
  constructor(
    folder: string,
    private readonly onProblem: (error: unknown) => void,
  ) {
    this.file = join(folder, LINKED_EDGES);
    this.addresses = new Set(read(this.file));
  }

  has(address: string): boolean {
    return this.addresses.has(address);
  }

  add(address: string): void {
    const isNew = !this.addresses.delete(address);
    this.addresses.add(address);
    const [oldest] = this.addresses;
    if (this.addresses.size > MAX_KNOWN && oldest !== undefined) this.addresses.delete(oldest);
    if (isNew) this.write();
  }

  private write(): void {
    try {
      const text = [...this.addresses, ""].join("\n");
      writeFileSync(`${this.file}.new`, text, { mode: PRIVATE_FILE });
      renameSync(`${this.file}.new`, this.file);
    } catch (error) {
      this.onProblem(error);
    }
  }
}

function read(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean).slice(-MAX_KNOWN);
  } catch {
    return [];
  }
}
