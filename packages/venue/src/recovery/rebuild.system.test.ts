/** A rebuild in its thread: with another tool at the store, and killed at any moment. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { inspectLog, nodeDisk } from "@perpgate/journal";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { openEnvironment } from "../history/history-environment.js";
import { openHistoryStore } from "../history/history-store.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { pastOf, presentOf, rebuilt, trade, traded } from "../testing/traded-venue.js";
import { verify } from "../verify/verify.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

const IN_THREAD = { waitedRecords: 0, commit: "thread" } as const;
const REBUILDING = expect.objectContaining({ code: "history_rebuilding" });

/** Leaves an empty store that another tool has locked; returns what ends that. */
function emptyAndLocked(): () => void {
  const directory = join(folder, "history");
  const log = inspectLog(nodeDisk, join(folder, "journal"));
  rmSync(directory, { recursive: true });
  openHistoryStore(directory, log!.logId).store.environment.close();
  const database = openEnvironment(directory, false);
  onTestFinished(() => {
    if (database.isOpen) database.close();
  });
  database.exec("BEGIN IMMEDIATE");
  return () => database.close();
}

test("a removed history: the venue trades immediately; the past is 503 with a fraction, then whole", async () => {
  const first = await TestVenue.open(folder);
  const { sessions, resting } = await traded(first);
  const [past, present] = [await pastOf(first), presentOf(first)];
  await first.venue.close();
  const unlock = emptyAndLocked();

  const driver = await TestVenue.open(folder, IN_THREAD);
  const { venue } = driver;
  const { views } = venue;
  expect(venue.history.isRebuilding).toBe(true);
  expect(presentOf(driver)).toEqual(present);
  expect(() => views.fills(1, { limit: 10 })).toThrow(REBUILDING);
  expect(() => views.orders(1)).toThrow(REBUILDING);
  expect(views.order(1, resting)?.status).toBe("resting");
  try {
    views.trades("BTCUSD", { limit: 1 });
  } catch (error) {
    expect(error).toMatchObject({ status: 503, details: { fraction: expect.any(Number) } });
  }
  // Orders, sign-ins and retries in the meantime.
  const session = views.session(sessions[1] ?? 0)!;
  const { seq, outcome } = await driver.order(sessions[1] ?? 0, 90, "short", 640_000, 10);
  expect(outcome.kind).toBe("acknowledged");
  expect(views.acknowledgement(views.seqOfNonce(session, 90))?.seq).toBe(seq);
  await driver.signIn(3);
  // Another tool that locks the store delays its rebuild alone.
  await trade(driver, sessions, 300);
  expect(venue.history.isRebuilding).toBe(true);
  unlock();
  await rebuilt(driver);
  const now = await pastOf(driver);
  expect(now.trades?.slice(-(past.trades?.length ?? 0))).toEqual(past.trades);
  expect(now.fills[1]?.slice(-(past.fills[1]?.length ?? 0))).toEqual(past.fills[1]);
  expect(now.block).toEqual(past.block);
  expect(now.ledger.length).toBeGreaterThan(past.ledger.length);
  await trade(driver, sessions, 400);
  const [later, current] = [await pastOf(driver), presentOf(driver)];
  await venue.close();

  expect((await verify(folder)).fault).toBeNull();
  const again = await TestVenue.open(folder);
  expect(await pastOf(again)).toEqual(later);
  expect(presentOf(again)).toEqual(current);
  await again.venue.close();
});
