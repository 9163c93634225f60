import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINE_VERSION, UnknownToRelease } from "@perpgate/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { backUp } from "../backup.js";
import { planPrune } from "../prune-plan.js";
import { START_MS, TestVenue } from "../testing/test-venue.js";
import { GENESIS, writeLog } from "../testing/written-log.js";
import { verify } from "../verify/verify.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perpgate-version-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const OPENERS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["open", () => TestVenue.open(folder)],
  ["verify", () => verify(folder)],
  ["back up", async () => backUp(folder, join(folder, "copy"))],
  ["prune", () => planPrune(folder, 1)],
];

describe.each(OPENERS)("%s", (_, run) => {
  test("a log of release 0.1: refused with both versions, nothing in the folder changed", async () => {
    await writeLog(folder, GENESIS, { kind: "Resume", stampMs: START_MS });
    const before = readdirSync(folder);
    await expect(run()).rejects.toThrow(UnknownToRelease);
    await expect(run()).rejects.toThrow(
      /^the log was begun by release 0\.1, engine version 1, and this release knows engine versions 2, 3;/,
    );
    expect(readdirSync(folder)).toEqual(before);
  });

  test("a log that a later release began: refused with both versions", async () => {
    await writeLog(folder, { ...GENESIS, engineVersion: ENGINE_VERSION + 1 });
    await expect(run()).rejects.toThrow(/needs engine version 4, .* knows engine versions 2, 3/);
  });
});

describe.each(OPENERS.slice(0, 2))("%s", (_, run) => {
  const genesis = { ...GENESIS, engineVersion: ENGINE_VERSION };

  test("an upgrade to a version that the release lacks: stops with both versions", async () => {
    await writeLog(folder, genesis, {
      kind: "Upgrade",
      stampMs: START_MS,
      expiresAtMs: START_MS + 60_000,
      version: ENGINE_VERSION + 1,
    });
    await expect(run()).rejects.toThrow(/needs engine version 4, .* knows engine versions 2, 3/);
  });

  test("a command that the release does not know: stops, and is never ignored", async () => {
    await writeLog(folder, genesis, { kind: "Teleport", stampMs: START_MS });
    await expect(run()).rejects.toThrow(/command of kind Teleport, .*engine versions 2, 3/);
  });
});
