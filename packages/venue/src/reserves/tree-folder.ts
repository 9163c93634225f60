/** The trees of the last seven days, one file each, named after its position. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isNotThere } from "@perpgate/journal";
import { HOUR_MS } from "@perpgate/protocol/rules";
import { type Liabilities, sumOf } from "./liabilities.js";
import {
  type AccountPath,
  keyIdOf,
  readAccountPath,
  readTreeHead,
  type TreeHead,
  writeSumTree,
} from "./sum-tree-file.js";

const KEPT_MS = 7 * 24 * HOUR_MS;
const NAME = /^([1-9][0-9]*)\.tree$/;

export class TreeFolder {
  constructor(
    private readonly folder: string,
    private readonly key: Uint8Array,
  ) {}

  /**
   * Writes a tree and removes those that are over; undefined if the liabilities have no place in one. A tree of the
   * same sum that was made with another key stays: the commitment in the log is to that one.
   */
  write(at: Pick<TreeHead, "position" | "timeMs">, liabilities: Liabilities): TreeHead | undefined {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const before = this.head(at.position);
    const isKept =
      before !== undefined &&
      !this.isOwn(before) &&
      before.sumMicros === sumOf(liabilities) &&
      before.leaves === liabilities.addresses.length;
    if (isKept) return before;
    const head = writeSumTree(this.pathOf(at.position), this.key, at, liabilities);
    for (const position of this.positions()) {
      const { timeMs = 0 } = readTreeHead(this.pathOf(position)) ?? {};
      if (timeMs < at.timeMs - KEPT_MS) rmSync(this.pathOf(position), { force: true });
    }
    return head;
  }

  head(position: number): TreeHead | undefined {
    return readTreeHead(this.pathOf(position));
  }

  newest(): TreeHead | undefined {
    const position = Math.max(0, ...this.positions());
    return position === 0 ? undefined : this.head(position);
  }

  accountPath(position: number, number: number): AccountPath | undefined {
    return readAccountPath(this.pathOf(position), number);
  }

  /** Whether its order and salts are of this key. */
  isOwn({ keyId }: TreeHead): boolean {
    return keyId === keyIdOf(this.key);
  }

  private positions(): number[] {
    try {
      return readdirSync(this.folder).flatMap((name) => {
        const [, position] = NAME.exec(name) ?? [];
        return position === undefined ? [] : [Number(position)];
      });
    } catch (error) {
      if (isNotThere(error)) return [];
      throw error;
    }
  }

  private pathOf(position: number): string {
    return join(this.folder, `${position}.tree`);
  }
}
