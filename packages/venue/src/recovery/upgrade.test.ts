/** A folder that was begun under version 2 of the rules: opened, traded in, upgraded, replayed, verified. */
import { ENGINE_VERSION } from "@perpgate/engine";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { DEFAULT_PARAMETERS, venueConfigOf } from "../listing/venue-config.js";
import {
  acknowledged,
  removeFolder,
  START_MS,
  TEST_MARKETS,
  TestVenue,
  temporaryFolder,
} from "../testing/test-venue.js";
import { GENESIS, writeLog } from "../testing/written-log.js";
import { verify } from "../verify/verify.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
  await writeLog(folder, { ...GENESIS, engineVersion: 2 });
});
afterEach(() => removeFolder(folder));

function upgrade(driver: TestVenue, version: number) {
  const expiresAtMs = START_MS + 60_000;
  return driver.submit({ kind: "Upgrade", stampMs: START_MS, expiresAtMs, version });
}

/** Two traders, an open position, and a resting order of the first. */
async function trade(driver: TestVenue) {
  await driver.index();
  const maker = await driver.signIn(1);
  const taker = await driver.signIn(2);
  const rested = await driver.order(maker, 1, "short", 650_010, 200);
  await driver.order(taker, 1, "long", 650_010, 100);
  await driver.tick();
  return { maker, taker, rested };
}

test("started by this release: trades on under version 2 until it is upgraded", async () => {
  const driver = await TestVenue.open(folder);
  expect(driver.venue.views.engineVersion).toBe(2);
  const { taker } = await trade(driver);
  await driver.venue.close();

  const again = await TestVenue.open(folder);
  expect(again.venue.views.engineVersion).toBe(2);
  await again.index();
  expect(acknowledged((await again.order(taker, 2, "long", 650_010, 10)).outcome).status).toBe(
    "filled",
  );
  await again.venue.close();
  expect((await verify(folder)).fault).toBeNull();
});

test("upgraded: positions, open orders and sessions stay, and it replays across the upgrade", async () => {
  const driver = await TestVenue.open(folder);
  const { maker, taker, rested } = await trade(driver);
  const before = driver.venue.views.positions(2);
  expect(before).toHaveLength(1);
  await upgrade(driver, 3);
  expect(driver.venue.views.engineVersion).toBe(3);
  expect(driver.venue.views.positions(2)).toEqual(before);
  expect(driver.venue.views.openOrders(1)).toMatchObject([
    { orderId: String(rested.seq), status: "resting" },
  ]);
  const taken = await driver.order(taker, 2, "long", 650_010, 50);
  expect(acknowledged(taken.outcome)).toMatchObject({ status: "filled" });
  // The same nonce again: the answer of the first time.
  const replay = await driver.order(taker, 1, "long", 650_010, 100);
  expect(replay.outcome.kind).toBe("replayed");
  await driver.tick();
  const block = driver.venue.views.block(2);
  expect(block).toBeDefined();
  await driver.venue.close();

  const again = await TestVenue.open(folder);
  const { views } = again.venue;
  expect(views.engineVersion).toBe(ENGINE_VERSION);
  expect(views.block(2)).toEqual(block);
  expect(views.openOrders(1)).toMatchObject([{ orderId: String(rested.seq) }]);
  await again.index();
  const bid = await again.order(maker, 9, "long", 649_000, 10);
  expect(acknowledged(bid.outcome)).toMatchObject({ status: "resting" });
  await again.tick();
  await again.venue.close();
  expect(await verify(folder)).toMatchObject({ fault: null });
});

const WITHDRAWALS = {
  minMicros: 10_000_000,
  feeMicros: 1_000_000,
  accountDayMicros: 1_000_000_000,
  venueHourMicros: 1_000_000_000,
  venueDayMicros: 1_000_000_000,
  lifeMs: 3_600_000,
  chains: [{ chain: "ethereum", chainId: 1, tokens: ["USDC"], maxUnpaidMicros: 1_000_000_000 }],
};

/** Begun under version 2 with two attestors. */
const ATTESTED = {
  config: venueConfigOf(TEST_MARKETS, {
    ...DEFAULT_PARAMETERS,
    attestorKind: "chain",
    attestors: 2,
    attestorQuorum: 2,
    devCredit: 0,
  }),
  attestors: { venue: "test", members: ["ab".repeat(32), "cd".repeat(32)] },
};

test("withdrawals: not turned on while a session of before the upgrade is live, also after a restart", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  await writeLog(folder, { ...GENESIS, config: ATTESTED.config, engineVersion: 2 });
  const first = await TestVenue.open(folder, ATTESTED);
  await first.index();
  await first.signIn(1);
  await upgrade(first, 3);
  await first.signIn(2);
  await first.venue.close();
  const driver = await TestVenue.open(folder, ATTESTED);
  const { config, listing } = driver.options;
  const { attestors } = ATTESTED;
  const paying = { config: { ...config, withdrawals: WITHDRAWALS }, listing, attestors };
  await expect(driver.venue.configure(paying)).rejects.toMatchObject({
    rule: "withdrawals_too_early",
    message: expect.stringContaining("1 sessions are live that were opened before the upgrade"),
  });
  // Ended, or expired: the one of after the upgrade does not count.
  const [old] = driver.venue.views.sessions(1);
  await driver.submit({ kind: "CloseSession", stampMs: START_MS, session: Number(old?.number) });
  await driver.venue.configure(paying);
  await driver.venue.close();
  expect((await verify(folder)).fault).toBeNull();
});
