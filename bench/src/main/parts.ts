/** The parts of the bench, and how one is run: a child process whose last line is its result. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type BenchResult, machine } from "../report.js";

export interface Part {
  readonly name: string;
  readonly about: string;
  readonly nodeFlags: readonly string[];
}

/** A heap with room for short-lived objects, and a collection on demand. */
const ROOMY = ["--expose-gc", "--max-semi-space-size=128"];

export const PARTS: readonly Part[] = [
  { name: "engine", about: "the bare book and the whole apply path", nodeFlags: ROOMY },
  { name: "journal", about: "append to durable, reading back", nodeFlags: [] },
  { name: "orders", about: "signed orders over REST and sockets", nodeFlags: [] },
  { name: "reads", about: "the book over REST", nodeFlags: [] },
  { name: "streams", about: "bytes, fan-out, orders beside readers", nodeFlags: [] },
  { name: "recovery", about: "replay, snapshots", nodeFlags: ROOMY },
];

/** Far beyond what a part takes; only so that one that hangs does not hold up the others. */
const SHORT_LIMIT_MS = 180_000;
const FULL_LIMIT_MS = 900_000;

export async function runPart(part: Part, isFull: boolean): Promise<BenchResult> {
  const script = fileURLToPath(new URL(`../${part.name}.js`, import.meta.url));
  const args = [...part.nodeFlags, script, "--json", ...(isFull ? [] : ["--short"])];
  // A group of its own, so that a part's servers and loads end with it.
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const endGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // Nobody of it is left.
    }
  };
  const onInterrupt = (): void => {
    endGroup();
    process.exit(130);
  };
  process.on("SIGINT", onInterrupt).on("SIGTERM", onInterrupt);
  let isOverdue = false;
  const limit = isFull ? FULL_LIMIT_MS : SHORT_LIMIT_MS;
  const timer = setTimeout(() => {
    isOverdue = true;
    endGroup();
  }, limit);
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const [code] = await once(child, "close");
  clearTimeout(timer);
  process.off("SIGINT", onInterrupt).off("SIGTERM", onInterrupt);
  endGroup();
  if (isOverdue) return failed(part.name, `did not end within ${limit / 1_000} s`);
  return resultIn(said) ?? failed(part.name, `ended with code ${code} and no result`);
}

function resultIn(said: string): BenchResult | undefined {
  try {
    const result: unknown = JSON.parse(said.trim().split("\n").at(-1) ?? "");
    return isResult(result) ? result : undefined;
  } catch {
    return undefined;
  }
}

function isResult(value: unknown): value is BenchResult {
  return (
    typeof value === "object" &&
    value !== null &&
    "bench" in value &&
    "rows" in value &&
    Array.isArray(value.rows)
  );
}

function failed(bench: string, reason: string): BenchResult {
  return { bench, machine: machine(), rows: [], failures: [reason], leavesOut: [] };
}
