/**
 * The boot clock: the machine's uptime including sleep, and the id of the boot. Setting the wall clock
 * does not change it. Recorded together with the venue's time, it tells a later start in the same boot
 * exactly how much time has passed.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { hasFields, isInteger, isText } from "../stored-json.js";

export interface BootTime {
  /** Differs for each boot. */
  readonly boot: string;
  /** Since the boot, sleep included. */
  readonly elapsedMs: number;
}

export type BootClock = () => BootTime | undefined;

const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/** Undefined except on Linux. */
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

/** Not synced: without the record the next start falls back to its limit for unproven stops. */
function writeClockRecord(path: string, record: ClockRecord): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Undefined if it is missing or unreadable. */
export function readClockRecord(path: string): ClockRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is ClockRecord {
  return hasFields(value, { boot: isText, elapsedMs: Number.isFinite, timeMs: isInteger });
}

const RECORD_EVERY_MS = 60_000;

/** Records the venue's time with the boot clock at the start, every minute and at the end. */
export class ClockRecorder {
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly path: string,
    private readonly nowMs: () => number,
    private readonly boot: BootClock,
    private readonly onFailure: (error: unknown) => void,
  ) {
    this.write();
    this.timer = setInterval(() => this.write(), RECORD_EVERY_MS);
    this.timer.unref();
  }

  close(): void {
    clearInterval(this.timer);
    this.write();
  }

  private write(): void {
    const now = this.boot();
    if (now === undefined) return;
    try {
      writeClockRecord(this.path, { ...now, timeMs: this.nowMs() });
    } catch (error) {
      this.onFailure(error);
    }
  }
}
