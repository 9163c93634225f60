/**
 * How much heap this process may use, and how much a venue needs. Measured factors and the reason for
 * each bound: docs/adr/0116-full-heap.md.
 */

import { readdirSync, statSync } from "node:fs";
import { getHeapStatistics } from "node:v8";
import { journalFolderOf } from "../../cluster/folders.js";

export const HEAP_FLAG = "--max-old-space-size";
const MIB = 2 ** 20;
/** Of a venue that begins, with what the rebuild of a history takes. */
const LEAST_MIB = 96;
/** With room for load. */
const USUAL_MIB = 512;
/** Three semi-spaces of 64 MiB, V8's largest; what is left of the limit is the old generation's. */
const YOUNG_BYTES = 3 * 64 * MIB;

/** Bytes that the old generation of this process may hold. */
export function heapLimitBytes(
  flags = [process.env.NODE_OPTIONS ?? "", ...process.execArgv].join(" "),
): number {
  const given = [...flags.matchAll(/--max[-_]old[-_]space[-_]size[= ](\d+)/g)].at(-1)?.[1];
  const { heap_size_limit: limit } = getHeapStatistics();
  return given === undefined ? Math.max(limit / 2, limit - YOUNG_BYTES) : Number(given) * MIB;
}

export interface HeapNeed {
  readonly limitMiB: number;
  /** Below it a venue of this folder does not start. */
  readonly leastMiB: number;
  /** What to set. */
  readonly usualMiB: number;
}

/** The heap that the state of a data folder needs: in proportion to its largest snapshot. */
export function heapNeedOf(dataFolder: string, limitBytes = heapLimitBytes()): HeapNeed {
  const stateMiB = Math.ceil(stateBytesOf(dataFolder) / MIB);
  return {
    limitMiB: Math.floor(limitBytes / MIB),
    leastMiB: LEAST_MIB + stateMiB,
    usualMiB: USUAL_MIB + 2 * stateMiB,
  };
}

/** Undefined if the heap suffices. */
export function heapProblem({ limitMiB, leastMiB, usualMiB }: HeapNeed): string | undefined {
  if (limitMiB >= leastMiB) return undefined;
  return (
    `the heap of this process is limited to ${limitMiB} MiB, and the state of this data folder needs ` +
    `${leastMiB} MiB or more: start node with ${HEAP_FLAG}=${usualMiB}`
  );
}

/** The size of the state: that of the largest snapshot. */
export function stateBytesOf(dataFolder: string): number {
  const journal = journalFolderOf(dataFolder);
  try {
    const names = readdirSync(journal).filter((name) => name.endsWith(".snapshot"));
    return Math.max(0, ...names.map((name) => statSync(`${journal}/${name}`).size));
  } catch {
    // A new folder, or one that cannot be read; other checks say so.
    return 0;
  }
}
