/** What can go wrong in one life of a process, drawn from the seed. */

import type { FakeDisk, Fault } from "@perpgate/journal/testing";
import type { Random } from "@perpgate/protocol/random";

export type Misfortune =
  | { readonly kind: "none" }
  /** A fault at an operation of the disk, counted from the start of the process. */
  | { readonly kind: "fault"; readonly fault: Fault; readonly afterOperations: number }
  | { readonly kind: "full_disk"; readonly freeBytes: number }
  /** It dies in the write of its last burst, after `bytesWritten` bytes. */
  | { readonly kind: "dies_writing"; readonly bytesWritten: number };

/** Operations of a life within which its fault strikes, if it does not end before. */
const FAULT_WITHIN = 36;

export function drawMisfortune(random: Random, segmentBytes: number): Misfortune {
  if (random.chance(0.1)) return { kind: "none" };
  if (random.chance(0.08)) return { kind: "full_disk", freeBytes: random.below(segmentBytes * 3) };
  const fault = random.pick<Fault>([
    { kind: "crash" },
    { kind: "crash", bytesWritten: 1 + random.below(60) },
    { kind: "crash", bytesWritten: 1 + random.below(1_500) },
    { kind: "short_write", bytesWritten: 1 + random.below(60) },
    { kind: "error", code: "EIO" },
    { kind: "error", code: "ENOSPC", bytesWritten: 1 + random.below(300) },
    { kind: "failed_sync" },
  ]);
  return { kind: "fault", fault, afterOperations: 1 + random.below(FAULT_WITHIN) };
}

/** Prepares the disk for it, before the process starts. */
export function prepareDisk(disk: FakeDisk, misfortune: Misfortune): void {
  if (misfortune.kind === "full_disk") {
    disk.capacityBytes = usedBytes(disk) + misfortune.freeBytes;
  }
  if (misfortune.kind === "fault") {
    const operation = disk.operations + misfortune.afterOperations;
    disk.plan = { operation, fault: misfortune.fault };
  }
}

/** Prepares the disk for it, before the last burst. */
export function prepareLastWrite(disk: FakeDisk, misfortune: Misfortune): void {
  if (misfortune.kind !== "dies_writing") return;
  const fault: Fault = { kind: "crash", bytesWritten: misfortune.bytesWritten };
  disk.plan = { operation: disk.operations + 1, fault };
}

function usedBytes(disk: FakeDisk): number {
  return disk.paths().reduce((sum, path) => sum + disk.contents(path).length, 0);
}
