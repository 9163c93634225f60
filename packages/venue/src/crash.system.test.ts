/**
 * Durability: a process under load is killed at random moments, repeatedly, over one data folder. Each
 * run first checks everything that earlier runs acknowledged. PERPGATE_KILLS sets the number of kills
 * (`npm test -- --long crash` for a long test), PERPGATE_SEED the moments.
 */
import { spawn } from "node:child_process";
import { appendFileSync, closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Random } from "@perpgate/protocol/random";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isMarginChange } from "./testing/crash-commands.js";
import { removeFolder, temporaryFolder } from "./testing/test-venue.js";
import { verify } from "./verify/verify.js";

const KILLS = Number(process.env.PERPGATE_KILLS ?? 4);
const SEED = Number(process.env.PERPGATE_SEED ?? Date.now() % 1_000_000);
/** Earlier acknowledgements that a run checks, the newest first; the last run checks all. */
const CHECKED_EACH_LIFE = 1_000;
const CHILD = fileURLToPath(new URL("../dist/testing/crash-child.js", import.meta.url));

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

interface Life {
  /** How the process ended if it ended before it was killed. */
  readonly code: number | null;
  readonly stderr: string;
  readonly said: string[];
}

/** Lines of commands that were acknowledged. */
function acksIn(lines: readonly string[]): string[] {
  return lines.filter((line) => /^\d+ \d+ \d+$/.test(line));
}

/** Every fourth life has no history, which is rebuilt while it trades; the next may find it half done. */
const REBUILT_LIVES = 4;

/** One run: killed some time after it acknowledged commands, or (`early`) after its start. */
async function live(
  number: number,
  past: string,
  check: number,
  early: boolean,
  afterMs: number,
  history: "kept" | "rebuilt" = "kept",
): Promise<Life> {
  const out = join(folder, `life-${number}`);
  const descriptor = openSync(out, "w");
  const child = spawn(
    process.execPath,
    [CHILD, join(folder, "data"), String(number), past, String(check), history],
    {
      stdio: ["ignore", descriptor, "pipe"],
    },
  );
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let isOver = false;
  void exited.then(() => {
    isOver = true;
  });
  // However slow the machine is, it has acknowledged something.
  const acks = (): string[] => acksIn(readFileSync(out, "utf8").split("\n"));
  while (!early && !isOver && acks().length < 4) await pause(5);
  await Promise.race([pause(afterMs), exited]);
  child.kill("SIGKILL");
  const code = await exited;
  closeSync(descriptor);
  const text = readFileSync(out, "utf8");
  return {
    code,
    stderr,
    said: text
      .slice(0, text.lastIndexOf("\n") + 1)
      .split("\n")
      .slice(0, -1),
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test(
  `kill -9, ${KILLS} times, seed ${SEED}: nothing acknowledged is ever lost`,
  async () => {
    const random = new Random(SEED);
    const past = join(folder, "past");
    writeFileSync(past, "");
    let acknowledged = 0;
    let changes = 0;
    for (let number = 1; number <= KILLS; number++) {
      const early = random.chance(0.15);
      const isRemoved = number % REBUILT_LIVES === 2;
      if (isRemoved) rmSync(join(folder, "data", "history"), { recursive: true, force: true });
      const isRebuilt = isRemoved || number % REBUILT_LIVES === 3;
      const { code, stderr, said } = await live(
        number,
        past,
        CHECKED_EACH_LIFE,
        early,
        random.next() * (early || isRebuilt ? 400 : 120),
        isRebuilt ? "rebuilt" : "kept",
      );
      expect(code, `life ${number}: ${stderr}`).toBeNull();
      expect(stderr).toBe("");
      const acks = acksIn(said);
      acknowledged += acks.length;
      changes += acks.filter((line) => isMarginChange(Number(line.split(" ")[1]))).length;
      appendFileSync(past, acks.map((line) => `${line}\n`).join(""));
    }
    expect(acknowledged).toBeGreaterThan(KILLS);
    // One more run checks everything; then everything is replayed.
    const last = await live(KILLS + 1, past, acknowledged, false, 1);
    expect(last.stderr).toBe("");
    expect(last.said).toContain(`checked ${acknowledged}`);
    const report = await verify(join(folder, "data"));
    expect(report.fault).toBeNull();
    // A change of margin has none.
    expect(report.receipts.issued).toBeGreaterThanOrEqual(acknowledged - changes);
  },
  // A run takes half a second on an idle machine, and half a minute on a very busy one.
  60_000 + KILLS * 40_000,
);
