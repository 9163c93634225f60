/**
 * Checkpoints that were published, with their cosignatures: after a start the last one is served again,
 * and while the log is in conflict the last one that nothing contradicts. Durable, and few: the newest, and
 * for each power of four the newest one before the last multiple of it, so the one before any size is near.
 */
import { existsSync, readFileSync } from "node:fs";
import { parseCheckpoint, parseNote, parseNotes } from "@perpgate/protocol/receipts";
import { writeDurably } from "./durable-file.js";

interface Kept {
  readonly size: number;
  readonly note: string;
}

export class PublishedNotes {
  /** The largest first. */
  private kept: readonly Kept[];

  constructor(private readonly path: string) {
    const text = existsSync(path) ? readFileSync(path, "utf8") : "[]";
    // What cannot be read is not served.
    const notes = parseNotes(text) ?? [];
    this.kept = notes
      .map((note) => ({ size: sizeOf(note), note }))
      .filter(({ size }) => size > 0)
      .sort((one, other) => other.size - one.size);
  }

  /** The largest first. */
  get notes(): readonly string[] {
    return this.kept.map(({ note }) => note);
  }

  /** In place of one of the same size. */
  async add(size: number, note: string): Promise<void> {
    const all = [{ size, note }, ...this.kept.filter((each) => each.size !== size)];
    this.kept = thinned(all.sort((one, other) => other.size - one.size));
    await writeDurably(this.path, JSON.stringify(this.notes));
  }
}

function thinned(notes: readonly Kept[]): readonly Kept[] {
  const newest = notes[0]?.size ?? 0;
  const wanted = new Set(notes.slice(0, 1));
  for (let step = 1; step <= newest; step *= 4) {
    const bound = newest - (newest % step);
    const before = notes.find(({ size }) => size < bound);
    if (before !== undefined) wanted.add(before);
  }
  return notes.filter((each) => wanted.has(each));
}

function sizeOf(note: string): number {
  const parsed = parseNote(note);
  return (parsed === undefined ? undefined : parseCheckpoint(parsed))?.size ?? 0;
}
