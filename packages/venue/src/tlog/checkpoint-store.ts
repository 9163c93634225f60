/**
 * The last checkpoint that this venue signed, durable before anyone sees it: after a crash the venue knows
 * what it must stay consistent with.
 */
import { existsSync, readFileSync } from "node:fs";
import { writeDurably } from "./durable-file.js";

export class CheckpointStore {
  constructor(private readonly path: string) {}

  read(): string | undefined {
    return existsSync(this.path) ? readFileSync(this.path, "utf8") : undefined;
  }

  write(note: string): Promise<void> {
    return writeDurably(this.path, note);
  }
}
