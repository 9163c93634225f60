/** The processes that a process has started, and those that these have; from /proc, so on Linux only. */

import { readdirSync, readFileSync } from "node:fs";

/** The processes that it has started and that run. */
export function childrenOf(pid: number): number[] {
  return tasksOf(pid).flatMap((thread) =>
    textOf(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );
}

/** All below it, in the order in which each has started its own. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Those below it that run a module of this name. */
export function processesOf(module: string, below: number): number[] {
  return descendantsOf(below).filter((pid) => textOf(`/proc/${pid}/cmdline`).includes(module));
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Empty for one that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
