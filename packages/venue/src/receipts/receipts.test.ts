import { afterEach, beforeEach, expect, test } from "vitest";
import { NO_EVIDENCE } from "../record/record.js";
import { orderCommand, removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { newLogKey } from "./log-key.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

test("a venue that is closed while receipts are signed: each is given", async () => {
  const { key: logKey } = newLogKey("venue.example/log");
  const driver = await TestVenue.open(folder, { promises: { logKey, checkpointMs: 60_000 } });
  await driver.index();
  const session = await driver.signIn(1);
  const { venue } = driver;
  const issuer = venue.promises?.receipts;
  if (issuer === undefined || issuer === null) throw new Error("the venue issues no receipts");
  const closed = new Promise<void>((resolve) => {
    // In the turn in which the batch is handed to the thread: no receipt can have come back.
    venue.observe({
      onCommand: () => undefined,
      onBatchEnd: () => {
        if (issuer.waitingCount > 0) resolve(issuer.close());
      },
    });
  });
  const received: (string | undefined)[] = [];
  for (const nonce of [1, 2, 3]) {
    const order = orderCommand(session, nonce, "long", 640_000, 1);
    venue.submit(order, NO_EVIDENCE, (applied) => {
      if (applied === null) throw new Error("the venue has stopped");
      issuer.issue(applied, new Uint8Array(32), (receipt) => received.push(receipt));
    });
  }
  await closed;
  expect(received).toEqual(Array(3).fill(expect.stringMatching(/^[\w-]+$/)));
  await venue.close();
});
