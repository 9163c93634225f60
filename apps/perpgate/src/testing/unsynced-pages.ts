/**
 * What a power failure leaves of a file that was written and not synced: of its changed pages any may
 * have reached the disk, in no order.
 */

import { closeSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "@perpgate/protocol/random";

const PAGE_BYTES = 4096;

interface ChangedPage {
  readonly path: string;
  readonly at: number;
  readonly synced: Buffer;
}

export class UnsyncedPages {
  private readonly before = new Map<string, Buffer>();

  /** What the log's files hold now counts as synced. */
  constructor(private readonly folder: string) {
    for (const name of logsIn(folder)) this.before.set(name, readFileSync(join(folder, name)));
  }

  /** How many pages have changed since. */
  get changed(): number {
    return this.changes().length;
  }

  /** Puts the old content of some changed pages back, of at least one; returns how many changed. */
  lose(random: Random): number {
    const changes = this.changes();
    for (const [index, { path, at, synced }] of changes.entries()) {
      if (index > 0 && !random.chance(0.5)) continue;
      const file = openSync(path, "r+");
      writeSync(file, synced, 0, synced.length, at);
      closeSync(file);
    }
    return changes.length;
  }

  private changes(): ChangedPage[] {
    const changes: ChangedPage[] = [];
    for (const name of logsIn(this.folder)) {
      const path = join(this.folder, name);
      const now = readFileSync(path);
      const old = Buffer.alloc(now.length);
      this.before.get(name)?.copy(old);
      for (let at = 0; at < now.length; at += PAGE_BYTES) {
        const synced = old.subarray(at, at + PAGE_BYTES);
        if (!synced.equals(now.subarray(at, at + PAGE_BYTES))) changes.push({ path, at, synced });
      }
    }
    return changes;
  }
}

function logsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .sort();
}
