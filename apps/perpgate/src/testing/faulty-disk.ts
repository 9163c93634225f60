/**
 * Makes system calls of a real process fail: a small C library, compiled here and loaded into the
 * process with LD_PRELOAD. What it can do is written at the top of faulty-disk.c.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { WhenDone } from "./perpgate-process.js";

const SOURCE = fileURLToPath(new URL("../../src/testing/faulty-disk.c", import.meta.url));

export interface Fault {
  readonly call: "sync" | "write" | "truncate" | "allocate" | "rename";
  /** `stall`: the call never returns. */
  readonly error: "EIO" | "ENOSPC" | "stall";
  /** Part of the path of the files it concerns. */
  readonly path: string;
  /** Calls that succeed between the trigger and the first failure. */
  readonly after?: number;
}

export type CompiledLibrary =
  | { readonly path: string }
  /** Why there is none. */
  | { readonly missing: string };

/** Compiles the library into a folder that `whenDone` removes. */
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
  return { missing: `cc failed: ${error?.message ?? stderr}` };
}

/** One fault, prepared in the environment of a process and let loose by `trigger`. */
export class PreparedFault {
  readonly environment: NodeJS.ProcessEnv;
  readonly triggerFile: string;

  constructor(library: string, folder: string, { call, error, path, after = 0 }: Fault) {
    this.triggerFile = join(folder, "trigger");
    this.environment = {
      LD_PRELOAD: library,
      FAULT_CALL: call,
      FAULT_ERRNO: String(error === "stall" ? 0 : constants.errno[error]),
      FAULT_STALL: error === "stall" ? "1" : "0",
      FAULT_PATH: path,
      FAULT_AFTER: String(after),
      FAULT_TRIGGER: this.triggerFile,
    };
  }

  trigger(): void {
    writeFileSync(this.triggerFile, "");
  }

  /** Calls succeed again. */
  clear(): void {
    rmSync(this.triggerFile);
  }
}
