/**
 * Real time that no setting of the wall clock changes: how long the machine has been up, sleep
 * included, and which boot that is. Written down with the venue's time, it tells a later start in
 * the same boot exactly how much time has passed.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";

export interface BootTime {
  /** Another after each boot. */
  readonly boot: string;
  /** Since then; it goes on while the machine sleeps. */
  readonly elapsedMs: number;
}

export type BootClock = () => BootTime | undefined;

const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/** Of Linux; elsewhere nothing is known. */
export function systemBootClock(): BootTime | undefined {
  try {
    return { boot: readFileSync(BOOT_ID, "utf8").trim(), elapsedMs: uptime() * 1_000 };
  } catch {
    return undefined;
  }
}

/** The venue's time at a moment of the boot clock. */
export interface ClockRecord extends BootTime {
  readonly timeMs: number;
}

/** Not synced: a record that is lost costs the next start its knowledge, nothing else. */
export function writeClockRecord(path: string, record: ClockRecord): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Undefined if there is none that can be read. */
export function readClockRecord(path: string): ClockRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is ClockRecord {
  if (typeof value !== "object" || value === null) return false;
  return (
    "boot" in value &&
    typeof value.boot === "string" &&
    "elapsedMs" in value &&
    Number.isFinite(value.elapsedMs) &&
    "timeMs" in value &&
    Number.isSafeInteger(value.timeMs)
  );
}
