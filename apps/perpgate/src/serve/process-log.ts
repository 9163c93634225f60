/**
 * What the process logs about its own work: JSON lines on standard error.
 *
 * Synchronous, so that every line is written before an exit. A write that fails, such as one to a file
 * on a full disk, must not throw: lines are logged inside the apply callback. The lines are kept, up to
 * a bound, and written with a later one.
 */

import { summed } from "@perpgate/gateway/metrics";
import { destination, type Logger, pino } from "pino";
import type { Registry } from "prom-client";

const STANDARD_ERROR = 2;
const KEPT_BYTES = 1024 * 1024;

export interface ProcessLog {
  readonly log: Logger;
  /** Writes that failed, and lines that were dropped because `KEPT_BYTES` were waiting. */
  readonly counts: { readonly failures: number; readonly lost: number };
}

/** `name`: of the process, in each line. */
export function openProcessLog(level: string, name: string, fd = STANDARD_ERROR): ProcessLog {
  const counts = { failures: 0, lost: 0 };
  const lines = destination({ fd, sync: true, maxLength: KEPT_BYTES });
  // Pino's own listener throws everything but EPIPE into the caller of the logger.
  lines.removeAllListeners("error");
  lines.on("error", () => {
    counts.failures++;
  });
  lines.on("drop", () => {
    counts.lost++;
    // A full destination does not retry: it drops each line before it tries a write.
    lines.write("");
  });
  return { log: pino({ level, name }, lines), counts };
}

export function measureProcessLog(registry: Registry, { counts }: ProcessLog): void {
  summed(
    registry,
    "perpgate_stderr_failures_total",
    "Failed writes of log lines to standard error, such as to a file on a full disk.",
    () => counts.failures,
  );
  summed(
    registry,
    "perpgate_stderr_lines_lost_total",
    "Log lines that were dropped because too many waited for standard error.",
    () => counts.lost,
  );
}
