/** What a process takes of the machine; from /proc, so on Linux only. */
import { readdirSync, readFileSync } from "node:fs";
import type { Gateway } from "../../harness/gateway.js";

export interface ProcessFigures {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** Resident memory without mapped files. */
  readonly anonymousBytes: number;
  readonly openFiles: number;
}

export function figuresOf({ processorMs, child: { pid } }: Gateway): ProcessFigures {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (name: string): number =>
    1_024 * Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0);
  return {
    cpuSeconds: processorMs / 1_000,
    residentBytes: bytes("VmRSS"),
    anonymousBytes: bytes("RssAnon"),
    openFiles: readdirSync(`/proc/${pid}/fd`).length,
  };
}
