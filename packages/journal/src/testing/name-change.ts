/** What was done to a directory of the simulated disk, in one step. */

import type { FakeInode } from "./fake-inode.js";

export interface NameChange {
  readonly directory: string;
  /** Each name's new file, or undefined if the name is gone. */
  readonly names: readonly (readonly [path: string, inode: FakeInode | undefined])[];
}

export function applyChange({ names }: NameChange, to: Map<string, FakeInode>): void {
  for (const [path, inode] of names) {
    if (inode === undefined) to.delete(path);
    else to.set(path, inode);
  }
}
