/** What the system says about a process; Linux only, like the rest of what measures processes here. */
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessFigures {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** Of these, without mapped files. */
  readonly anonymousBytes: number;
  readonly openFiles: number;
}

/** Of `/proc/<pid>/stat`, which is in hundredths of a second on every Linux. */
const TICKS_PER_SECOND = 100;
const UTIME = 11;
const STIME = 12;

export function processFigures(pid: number): ProcessFigures {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the program's name in brackets, which may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[UTIME]) + Number(fields[STIME]);
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (pattern: RegExp): number => 1_024 * Number(pattern.exec(status)?.[1] ?? 0);
  return {
    cpuSeconds: ticks / TICKS_PER_SECOND,
    residentBytes: bytes(/VmRSS:\s+(\d+) kB/),
    anonymousBytes: bytes(/RssAnon:\s+(\d+) kB/),
    openFiles: readdirSync(`/proc/${pid}/fd`).length,
  };
}
