/**
 * What a power failure leaves of a file that was written and not synced: of its changed pages any may
 * have reached the disk, in no order.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "@perpgate/protocol/random";

const PAGE_BYTES = 4096;

export class UnsyncedPages {
  private readonly before = new Map<string, Buffer>();

  /** What the log's files hold now counts as synced. */
  constructor(private readonly folder: string) {
    for (const name of logsIn(folder)) this.before.set(name, readFileSync(join(folder, name)));
  }

  /** Puts the old content of some changed pages back, of at least one; returns how many changed. */
  lose(random: Random): number {
    let changed = 0;
    for (const name of logsIn(this.folder)) {
      const path = join(this.folder, name);
      const now = readFileSync(path);
      const old = Buffer.alloc(now.length);
      this.before.get(name)?.copy(old);
      for (let at = 0; at < now.length; at += PAGE_BYTES) {
        const page = now.subarray(at, at + PAGE_BYTES);
        const synced = old.subarray(at, at + PAGE_BYTES);
        if (page.equals(synced)) continue;
        if (changed === 0 || random.chance(0.5)) synced.copy(page);
        changed++;
      }
      writeFileSync(path, now);
    }
    return changed;
  }
}

function logsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .sort();
}
