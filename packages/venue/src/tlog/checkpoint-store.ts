/**
 * The last checkpoint that this venue signed, durable before anyone sees it: after a crash the venue knows
 * what it must stay consistent with.
 */
import { existsSync, readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

export class CheckpointStore {
  constructor(private readonly path: string) {}

  read(): string | undefined {
    return existsSync(this.path) ? readFileSync(this.path, "utf8") : undefined;
  }

  async write(note: string): Promise<void> {
    const partial = `${this.path}.new`;
    await writeDurably(partial, note);
    await rename(partial, this.path);
    const folder = await open(dirname(this.path), "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
