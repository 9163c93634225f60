/** Cancel-on-disconnect across restarts: the option is in the log, and a start counts as a disconnect. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeFolder, TestVenue, temporaryFolder } from "./testing/test-venue.js";
import { verify } from "./verify/verify.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

const EVERY = { everyCommands: 5, everyMs: 3_600_000, keep: 2 };

/** One trader with the option and one without, an order each. */
async function quoting(driver: TestVenue) {
  await driver.index();
  const [careful, other] = [await driver.signIn(1), await driver.signIn(2)];
  const option = { kind: "SetSessionOption", cancelOnDisconnect: true } as const;
  const stampMs = driver.venue.views.timeMs;
  await driver.submit({ ...option, stampMs, session: careful });
  await driver.submit({ kind: "SessionConnected", stampMs, session: careful });
  await driver.order(careful, 1, "long", 640_000);
  await driver.order(other, 1, "long", 640_000);
  return { careful, other };
}

function open(driver: TestVenue, account: number): number {
  return driver.venue.views.openOrders(account).length;
}

describe("cancel-on-disconnect", () => {
  test("restart: cancels the orders of connected sessions, and keeps the option", async () => {
    const before = await TestVenue.open(folder, { checkpoints: EVERY });
    const { careful } = await quoting(before);
    expect(before.venue.views.cancelsOnDisconnect(careful)).toBe(true);
    await before.venue.close();
    const after = await TestVenue.open(folder, { checkpoints: EVERY });
    expect([open(after, 1), open(after, 2)]).toEqual([0, 1]);
    expect(after.venue.views.orders(1)).toMatchObject([
      { status: "canceled", reason: "disconnected" },
    ]);
    const session = after.venue.views.session(careful);
    if (session === undefined) throw new Error("the session is gone");
    expect(after.venue.views.account(session).session.cancelOnDisconnect).toBe(true);
    expect(after.venue.views.cancelsOnDisconnect(careful)).toBe(true);
    // A pause of a running process is no disconnect.
    await after.order(careful, 2, "long", 640_000);
    const now = after.venue.views.timeMs;
    await after.submit({ kind: "SessionConnected", stampMs: now, session: careful });
    const stampMs = after.venue.views.timeMs + 60_000;
    await after.submit({ kind: "AskTime", stampMs });
    expect(open(after, 1)).toBe(1);
    await after.submit({ kind: "SessionDisconnected", stampMs, session: careful });
    expect(open(after, 1)).toBe(0);
    await after.tick();
    await after.venue.close();
    expect((await verify(folder)).fault).toBeNull();
  });

  test("an unknown session: no effect, and the log goes on", async () => {
    const driver = await TestVenue.open(folder);
    const { other } = await quoting(driver);
    const stampMs = driver.venue.views.timeMs;
    expect(driver.venue.views.cancelsOnDisconnect(999)).toBe(false);
    for (const session of [999, other]) {
      const { outcome } = await driver.submit({ kind: "SessionDisconnected", stampMs, session });
      expect(outcome).toEqual({ kind: "executed" });
    }
    expect([open(driver, 1), open(driver, 2)]).toEqual([1, 1]);
    await driver.venue.close();
  });
});
