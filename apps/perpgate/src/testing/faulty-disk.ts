/**
 * Makes system calls of a real process fail: a small C library, compiled here and loaded into the
 * process with LD_PRELOAD; see faulty-disk.c.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { WhenDone } from "./perpgate-process.js";

const SOURCE = fileURLToPath(new URL("../../src/testing/faulty-disk.c", import.meta.url));

export interface Fault {
  readonly call: "sync" | "write" | "truncate" | "allocate" | "rename" | "link";
  /** `stall`: the call does not return before the next fault is triggered. */
  readonly error: "EIO" | "ENOSPC" | "EPERM" | "stall";
  /** Part of the path of the files that it applies to; no spaces. */
  readonly path: string;
  /** Calls that succeed between the trigger and the first failure. */
  readonly after?: number;
}

export type CompiledLibrary =
  | { readonly path: string }
  /** Why it could not be compiled. */
  | { readonly missing: string };

/** Compiles the library into a temporary folder. Throws where tests must not be skipped. */
export function compileFaultLibrary(whenDone: WhenDone): CompiledLibrary {
  if (process.platform !== "linux") return { missing: "LD_PRELOAD needs Linux" };
  const folder = mkdtempSync(join(tmpdir(), "faulty-disk-"));
  whenDone(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "faulty-disk.so");
  const { status, error, stderr } = spawnSync(
    "cc",
    ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path, SOURCE, "-ldl"],
    { encoding: "utf8" },
  );
  if (status === 0) return { path };
  const missing = `cc failed: ${error?.message ?? stderr}`;
  if (process.env.REQUIRE_CC === "1") throw new Error(missing);
  console.log(`disk faults are not tested: ${missing}`);
  return { missing };
}

/** The faults of one process that loads the library: at most one at a time. */
export class FaultControl {
  readonly environment: NodeJS.ProcessEnv;
  /** Calls fail while it exists; its content is a line of `lineOf`. */
  readonly triggerFile: string;
  private faults = 0;

  constructor(library: string, folder: string) {
    this.triggerFile = join(folder, "trigger");
    this.environment = { LD_PRELOAD: library, FAULT_TRIGGER: this.triggerFile };
  }

  lineOf({ call, error, path, after = 0 }: Fault): string {
    this.faults++;
    const number = error === "stall" ? 0 : constants.errno[error];
    return `${this.faults} ${call} ${number} ${after} ${path}\n`;
  }

  trigger(fault: Fault): void {
    rmSync(`${this.triggerFile}.stalled`, { force: true });
    // Renamed into place, so that no call reads half a line.
    writeFileSync(`${this.triggerFile}.new`, this.lineOf(fault));
    renameSync(`${this.triggerFile}.new`, this.triggerFile);
  }

  /** Whether a call has stalled since the last trigger. */
  get hasStalled(): boolean {
    return existsSync(`${this.triggerFile}.stalled`);
  }

  /** Calls succeed again. */
  clear(): void {
    rmSync(this.triggerFile);
  }
}
