/** Old rows are dropped by the thread that writes new ones, which may end at any moment. */
import { setTimeout } from "node:timers/promises";
import { TICK_MS } from "@perpgate/engine";
import { Random } from "@perpgate/protocol/random";
import { afterEach, beforeEach, expect, test } from "vitest";
import { busyVenue } from "../testing/busy-venue.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { verifyStore } from "../verify/store-verify.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

const SEED = 320;
/** `npm test -- --long crash` has more. */
const ENDS = Number(process.env.PERPGATE_THREAD_ENDS ?? 4);
const OPTIONS = {
  commit: "thread",
  retention: { hotMs: 120_000 },
  outboxCommands: 64,
} as const;

test(`threads that end while rows are dropped, seed ${SEED}: what is left agrees with the log`, async () => {
  const random = new Random(SEED, "ends of threads");
  const begun = await busyVenue(folder, OPTIONS);
  const { sessions } = begun;
  let { driver } = begun;
  let nonce = 100;
  const edges: number[] = [];
  for (let ends = 0; ends < ENDS; ends++) {
    for (let round = 0; round < 12; round++) {
      for (let i = 0; i < 10; i++) {
        nonce++;
        await driver.order(sessions[0], nonce, "short", 650_000 + nonce, 20);
        await driver.order(sessions[1], nonce, "long", 650_000 + nonce, 10);
      }
      const stampMs = driver.venue.views.timeMs + 10_000;
      await driver.submit({ kind: "AskTime", stampMs });
      await driver.submit({ kind: "Tick", slot: Math.floor(stampMs / TICK_MS) + 1 });
      await driver.index();
      if (round % 4 === 0) await driver.venue.history.flush();
    }
    await setTimeout(random.int(0, 600));
    // Ended without writing what it has; the venue's end then finds nothing to write.
    await driver.venue.history.abandon();
    await driver.venue.close();
    const { fault, tables } = await verifyStore(folder);
    // A transaction may have the changes of several turns of so small an outbox.
    const differing = tables.filter((each) => each.fault !== null && each.table !== "changes");
    expect([fault, differing]).toEqual([null, []]);
    driver = await TestVenue.open(folder, OPTIONS);
    edges.push(driver.venue.history.historyBefore);
  }
  expect(edges.toSorted((a, b) => a - b)).toEqual(edges);
  expect(edges.at(-1)).toBeGreaterThan(edges[1] ?? 0);
  await driver.venue.history.flush();
  const fills = driver.venue.views.fills(1, { limit: 1_000 });
  expect(fills.length).toBeGreaterThan(20);
  await driver.venue.close();
});
