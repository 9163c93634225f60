import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, ENGINE_VERSION, GENESIS_WRITER, UnknownToRelease } from "@perpgate/engine";
import { openJournal } from "@perpgate/journal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { backUp } from "../backup.js";
import { listingEvidence } from "../listing/listing.js";
import { venueConfigOf } from "../listing/venue-config.js";
import { planPrune } from "../prune-plan.js";
import { encodeRecord } from "../record/record.js";
import { START_MS, TEST_MARKETS, TestVenue } from "../testing/test-venue.js";
import { verify } from "../verify/verify.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perpgate-version-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const GENESIS = {
  kind: "Genesis",
  stampMs: START_MS,
  config: venueConfigOf(TEST_MARKETS),
  cohort: "open",
};

/** Writes a log of these commands, as any release might have. */
async function writeLog(...commands: object[]): Promise<void> {
  const journal = await openJournal({
    directory: join(folder, "journal"),
    segmentBytes: 1 << 20,
    commit: "inline",
  });
  const evidence = listingEvidence(TEST_MARKETS);
  const records = commands.map((command) => {
    const decoded: Command = JSON.parse(JSON.stringify(command));
    return encodeRecord(decoded, decoded.kind === "Genesis" ? evidence : undefined);
  });
  await journal.append({ writer: GENESIS_WRITER, counter: 0 }, records);
  await journal.close();
}

const OPENERS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["open", () => TestVenue.open(folder)],
  ["verify", () => verify(folder)],
  ["back up", async () => backUp(folder, join(folder, "copy"))],
  ["prune", () => planPrune(folder, 1)],
];

describe.each(OPENERS)("%s", (_, run) => {
  test("a log of release 0.1: refused with both versions, nothing in the folder changed", async () => {
    await writeLog(GENESIS, { kind: "Resume", stampMs: START_MS });
    const before = readdirSync(folder);
    await expect(run()).rejects.toThrow(UnknownToRelease);
    await expect(run()).rejects.toThrow(
      /^the log was begun by release 0\.1, engine version 1, and this release knows engine versions 2, 3;/,
    );
    expect(readdirSync(folder)).toEqual(before);
  });

  test("a log that a later release began: refused with both versions", async () => {
    await writeLog({ ...GENESIS, engineVersion: ENGINE_VERSION + 1 });
    await expect(run()).rejects.toThrow(/needs engine version 4, .* knows engine versions 2, 3/);
  });
});

describe.each(OPENERS.slice(0, 2))("%s", (_, run) => {
  const genesis = { ...GENESIS, engineVersion: ENGINE_VERSION };

  test("an upgrade to a version that the release lacks: stops with both versions", async () => {
    await writeLog(genesis, {
      kind: "Upgrade",
      stampMs: START_MS,
      expiresAtMs: START_MS + 60_000,
      version: ENGINE_VERSION + 1,
    });
    await expect(run()).rejects.toThrow(/needs engine version 4, .* knows engine versions 2, 3/);
  });

  test("a command that the release does not know: stops, and is never ignored", async () => {
    await writeLog(genesis, { kind: "Teleport", stampMs: START_MS });
    await expect(run()).rejects.toThrow(/command of kind Teleport, .*engine versions 2, 3/);
  });
});
