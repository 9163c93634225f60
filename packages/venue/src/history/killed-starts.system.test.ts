/** Starts that end before the log is replayed. */
import { spawn } from "node:child_process";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";

const CHILD = fileURLToPath(new URL("../../dist/testing/replay-child.js", import.meta.url));
const STARTS = 4;
const ORDERS = 1_000;

/** A log, and no history. */
let made = "";
beforeAll(async () => {
  made = await temporaryFolder();
  const driver = await TestVenue.open(made);
  await driver.index();
  const session = await driver.signIn(1);
  for (let nonce = 1; nonce <= ORDERS; nonce++) {
    await driver.order(session, nonce, "long", 640_000, 1);
  }
  await driver.venue.close();
  rmSync(join(made, "history"), { recursive: true });
});
afterAll(() => removeFolder(made));

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
  cpSync(made, folder, { recursive: true });
});
afterEach(() => removeFolder(folder));

const asideFolders = (): string[] =>
  readdirSync(folder).filter((name) => name.startsWith("history.set-aside-"));

/** Returns the position that the history had reached when the process was killed. */
async function killedStart(when: "advanced" | "stuck"): Promise<number> {
  const child = spawn(process.execPath, [CHILD, folder, when], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const signal = await new Promise((resolve) => child.once("close", (_, by) => resolve(by)));
  expect(signal).toBe("SIGKILL");
  return Number(said);
}

describe("starts that are killed during the replay", () => {
  test("each advances the history: it is used, and its position rises", async () => {
    const positions: number[] = [];
    for (let start = 0; start < STARTS; start++) positions.push(await killedStart("advanced"));
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
    expect(asideFolders()).toEqual([]);
  });

  test("none advances the history: it is used all the same", async () => {
    const position = await killedStart("advanced");
    for (let start = 0; start < STARTS; start++) await killedStart("stuck");
    expect(asideFolders()).toEqual([]);
    expect(await killedStart("advanced")).toBeGreaterThan(position);
  });
});

test("a start that is aborted during the replay: not counted, and the next one works", async () => {
  for (let start = 0; start < STARTS; start++) {
    const abort = new AbortController();
    const logger = { info: () => abort.abort(), warn: () => undefined, error: () => undefined };
    const opening = TestVenue.open(folder, { signal: abort.signal, logger });
    await expect(opening).rejects.toThrow(/abort/);
  }
  const { venue } = await TestVenue.open(folder);
  expect(venue.history.seq).toBeGreaterThan(ORDERS);
  await venue.close();
  expect(asideFolders()).toEqual([]);
});
