/** Checks of the machine: Node, its limits, memory, processors, the clock. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { reasonOf } from "../cli/start-error.js";
import { packageFolder } from "../package-folder.js";
import { HEAP_FLAG, heapNeedOf, heapProblem, stateBytesOf } from "../serve/exit/heap-limit.js";
import { edgesOf } from "../serve/run.js";
import type { Settings } from "../serve/settings.js";
import { type Finding, ok, problem, warning } from "./finding.js";

const GIB = 2 ** 30;
/** Files of a process besides its connections: log, history, threads. */
const OWN_FILES = 1_024;
/** Of supervisor, core, bots and one edge: 0.55 GiB soon after the start, and history caches. */
const MIN_MEMORY = 1 * GIB;
/** 0.12 GiB soon after the start, and its connections. */
const MEMORY_PER_EDGE = 0.1875 * GIB;
/** The state is there twice: in the order thread and in that of snapshots, each with its indexes. */
const MEMORY_PER_STATE = 4;
const MIN_BACKLOG = 1_024;
/** Of a file's time, which some file systems round. */
const CLOCK_TOLERANCE_MS = 2_000;

export function checkNode(version: string): Finding {
  const manifest = readFileSync(new URL("package.json", packageFolder()), "utf8");
  const needed = String(JSON.parse(manifest).runtime.node);
  return Number.parseInt(version, 10) < Number(needed)
    ? problem("node", `Node ${version}`, `install Node ${needed} or later`)
    : ok("node", `Node ${version} on ${process.platform} ${process.arch}`);
}

/** The history's database is part of Node; signatures are checked faster with native code. */
export async function checkModules(): Promise<Finding> {
  try {
    await import("@perpgate/venue");
    return ok("modules", "the history's database (SQLite) loads");
  } catch (error) {
    const advice = "run npm ci on this machine, without --omit=optional";
    return problem("modules", `native modules do not load: ${reasonOf(error)}`, advice);
  }
}

export function checkOpenFiles(
  { http }: Settings,
  limits = readText("/proc/self/limits"),
): Finding {
  const [, shown = ""] = /^Max open files\s+(\S+)/m.exec(limits ?? "") ?? [];
  if (shown === "") return ok("open files", "the limit cannot be read on this system");
  const limit = shown === "unlimited" ? Number.POSITIVE_INFINITY : Number(shown);
  const wanted = http.maxConnections + OWN_FILES;
  const found = `at most ${shown}`;
  if (limit >= wanted) return ok("open files", found);
  const advice = `set LimitNOFILE=65536 (systemd) or ulimit -n 65536, or lower http.maxConnections (${http.maxConnections})`;
  return limit < OWN_FILES
    ? problem("open files", found, advice)
    : warning("open files", found, advice);
}

/** Of the process that runs this check: it must have the flags of the venue's. */
export function checkHeap({ data }: Settings, need = heapNeedOf(data)): Finding {
  const found = `at most ${need.limitMiB} MiB`;
  const advice = `start node with ${HEAP_FLAG}=${need.usualMiB} or more`;
  if (heapProblem(need) !== undefined) {
    return problem("heap", `${found}, and the state needs ${need.leastMiB}`, advice);
  }
  return need.limitMiB < need.usualMiB ? warning("heap", found, advice) : ok("heap", found);
}

export function checkMemory(settings: Settings, bytes = memoryBytes()): Finding {
  const edges = edgesOf(settings);
  const ofState = MEMORY_PER_STATE * stateBytesOf(settings.data);
  const wanted = MIN_MEMORY + (edges - 1) * MEMORY_PER_EDGE + ofState;
  const found = `${(bytes / GIB).toFixed(1)} GiB`;
  const advice = `give the venue ${(wanted / GIB).toFixed(1)} GiB or more, or lower edges (${edges}); core, history caches and edges use it`;
  return bytes < wanted ? warning("memory", found, advice) : ok("memory", found);
}

function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

export function checkProcessors(): Finding {
  const count = availableParallelism();
  return count < 2
    ? warning(
        "processors",
        "1",
        "use two or more: the log and the history have threads of their own",
      )
    : ok("processors", String(count));
}

export function checkBacklog(text = readText("/proc/sys/net/core/somaxconn")): Finding {
  if (text === undefined) return ok("backlog", "the kernel's limit cannot be read on this system");
  const limit = Number(text);
  return limit < MIN_BACKLOG
    ? warning("backlog", `net.core.somaxconn is ${limit}`, "sysctl -w net.core.somaxconn=4096")
    : ok("backlog", `net.core.somaxconn is ${limit}`);
}

/** Whether the clock is behind what it was when the folder was written, and whether something sets it. */
export function checkClock({ data }: Settings, nowMs = Date.now()): Finding {
  const writtenMs = lastWriteMs(data);
  if (writtenMs !== undefined && writtenMs > nowMs + CLOCK_TOLERANCE_MS) {
    const seconds = Math.round((writtenMs - nowMs) / 1_000);
    const found = `the data folder was written ${seconds} s in the future`;
    return problem("clock", found, "set the clock, and run NTP");
  }
  const synchronised = timeSynchronised();
  if (synchronised === false) {
    const advice = "run NTP (systemd-timesyncd or chrony): sign-ins and funding go by the clock";
    return warning("clock", "the system says that nothing synchronises it", advice);
  }
  return synchronised === true
    ? ok("clock", "synchronised")
    : ok("clock", "nothing is wrong with it; whether NTP runs cannot be seen from here");
}

function lastWriteMs(data: string): number | undefined {
  const times = ["checkpoints.jsonl", "clock.json", "history", "journal"]
    .map((name) => timeOf(join(data, name)))
    .filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.max(...times);
}

function timeOf(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs;
  } catch {
    // Missing, or not readable; the checks of the folder say so.
    return undefined;
  }
}

/** Undefined if nothing on this machine says. */
function timeSynchronised(): boolean | undefined {
  if (existsSync("/run/systemd/timesync/synchronized")) return true;
  const args = ["show", "--property=NTPSynchronized", "--value"];
  const { stdout } = spawnSync("timedatectl", args, { encoding: "utf8", timeout: 2_000 });
  const answer = stdout?.trim();
  return answer === "yes" || answer === "no" ? answer === "yes" : undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
