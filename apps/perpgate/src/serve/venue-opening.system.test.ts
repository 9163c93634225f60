import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ExitDeadline } from "@perpgate/journal";
import { until } from "@perpgate/journal/testing";
import { DEFAULT_PARAMETERS, NO_EVIDENCE, Venue, venueConfigOf } from "@perpgate/venue";
import { signInCommand, TestVenue } from "@perpgate/venue/testing";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../testing/perpgate-process.js";
import { attestationParameters, attestorKeysOf, bridgeOf } from "./bridge/settings-bridge.js";
import { CohortControl } from "./cohort-control.js";
import { DEFAULT_SETTINGS, MIB, type Settings } from "./settings.js";
import { openSettingsVenue } from "./venue-opening.js";

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** More addresses than fit into one command. */
const ALLOWED = Array.from({ length: 2_500 }, (_, at) => at.toString(16).padStart(40, "a"));
const SETTINGS: Settings = {
  ...DEFAULT_SETTINGS,
  segmentMiB: 2,
  cohort: { stage: "allowlist", allow: ALLOWED.map((address) => `0x${address.toUpperCase()}`) },
};
const BRIDGE = bridgeOf(SETTINGS, undefined);

async function open(directory: string, settings = SETTINGS): Promise<Venue> {
  const venue = await openSettingsVenue(settings, BRIDGE, directory, SILENT, new ExitDeadline());
  onTestFinished(() => venue.close());
  return venue;
}

/** The folder of a process killed in its first start, with `addresses` in the log. */
async function cutShort(directory: string, addresses: number): Promise<void> {
  const { markets, cohort } = SETTINGS;
  const parameters = { ...DEFAULT_PARAMETERS, ...attestationParameters(BRIDGE) };
  const venue = await Venue.open({
    directory,
    config: venueConfigOf(markets, parameters),
    attestors: attestorKeysOf(BRIDGE),
    listing: markets,
    cohort: cohort.stage,
    checkpoints: null,
    ticks: false,
    segmentBytes: SETTINGS.segmentMiB * MIB,
    commit: "inline",
  });
  if (addresses > 0) {
    const allow = ALLOWED.slice(0, addresses);
    await new CohortControl(venue).change({ stage: cohort.stage, allow, disallow: [] });
  }
  await venue.close();
}

let signIns = 0;

/** Whether an account of this address may open positions. */
async function isAdmitted(venue: Venue, address: string): Promise<boolean> {
  const command = { ...signInCommand(1, `${++signIns}`, venue.nowMs()).command, address };
  const number = await venue.submitted(command, NO_EVIDENCE, ({ seq }) => seq);
  const session = venue.views.session(number);
  if (session === undefined) throw new Error("no session");
  return venue.views.account(session).cohort;
}

test.each([0, 1_000, 2_000, 2_500])(
  "first start, killed with %i addresses in the log: the next one completes the list",
  async (addresses) => {
    const directory = temporaryFolder();
    await cutShort(directory, addresses);
    const venue = await open(directory);
    for (const address of [ALLOWED[0], ALLOWED[1_000], ALLOWED[2_000], ALLOWED[2_499]]) {
      expect(await isAdmitted(venue, address ?? "")).toBe(true);
    }
    expect(await isAdmitted(venue, "b".repeat(40))).toBe(false);
  },
);

test("first start, killed, then another file: the list is that of the file", async () => {
  const directory = temporaryFolder();
  await cutShort(directory, 1_000);
  const [first = "", second = ""] = ALLOWED;
  const cohort = { stage: "allowlist" as const, allow: [second] };
  const venue = await open(directory, { ...SETTINGS, cohort });
  expect(await isAdmitted(venue, first)).toBe(false);
  expect(await isAdmitted(venue, second)).toBe(true);
});

test("an existing venue: changes by command stay, whatever the file says", async () => {
  const directory = temporaryFolder();
  const [first = "", second = ""] = ALLOWED;
  const venue = await open(directory);
  expect(await isAdmitted(venue, first)).toBe(true);
  await new CohortControl(venue).change({ stage: "allowlist", allow: [], disallow: [first] });
  // Before its first tick.
  await venue.close();
  const again = await open(directory);
  expect(await isAdmitted(again, first)).toBe(false);
  expect(await isAdmitted(again, second)).toBe(true);
});

test("a pruned log that lost its end: no flag is advised, since none helps", async () => {
  const directory = temporaryFolder();
  const journal = join(directory, "journal");
  const checkpoints = { everyCommands: 100, everyMs: 3_600_000, keep: 1 };
  const options = { checkpoints, segmentBytes: 8_192 };
  const driver = await TestVenue.open(directory, options);
  await driver.index();
  const session = await driver.signIn(1);
  for (let nonce = 1; nonce <= 300; nonce++) await driver.order(session, nonce, "long", 640_000);
  await driver.venue.history.flush();
  await until(() => driver.venue.prune() > 0);
  await driver.venue.close();
  const older = temporaryFolder();
  cpSync(journal, older, { recursive: true });
  const later = await TestVenue.open(directory, options);
  await later.index();
  await later.venue.close();
  rmSync(journal, { recursive: true });
  cpSync(older, journal, { recursive: true });
  const opening = open(directory);
  await expect(opening).rejects.toThrow(/restore the whole folder from a backup/);
  await expect(opening).rejects.not.toThrow(/--accept-loss/);
});
