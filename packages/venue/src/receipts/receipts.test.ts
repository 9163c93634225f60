import { afterEach, beforeEach, expect, test } from "vitest";
import { NO_EVIDENCE } from "../record/record.js";
import { orderCommand, removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { newLogKey } from "./log-key.js";

/** Signature, key and certificate. */
const ENDING_BYTES = 64 + 32 + 64;

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

test("a venue that is closed when a batch was applied: each of its receipts is given, under one signature", async () => {
  const { key: logKey } = newLogKey("venue.example/log");
  const driver = await TestVenue.open(folder, { promises: { logKey, checkpointMs: 60_000 } });
  await driver.index();
  const session = await driver.signIn(1);
  const { venue } = driver;
  const issuer = venue.promises?.receipts;
  if (issuer === undefined || issuer === null) throw new Error("the venue issues no receipts");
  const received: (string | undefined)[] = [];
  const applied = new Promise<void>((resolve) => {
    for (const nonce of [1, 2, 3]) {
      const order = orderCommand(session, nonce, "long", 640_000, 1);
      venue.submit(order, NO_EVIDENCE, (command) => {
        if (command === null) throw new Error("the venue has stopped");
        issuer.issue(command, new Uint8Array(32), (receipt) => received.push(receipt));
        // None before the batch is applied.
        expect(received).toEqual([]);
        if (nonce === 3) resolve();
      });
    }
  });
  await applied;
  await venue.close();
  expect(received).toEqual(Array(3).fill(expect.stringMatching(/^[\w-]+$/)));
  const signatures = received.map((receipt) =>
    Buffer.from(receipt ?? "", "base64url")
      .subarray(-ENDING_BYTES)
      .toString("hex"),
  );
  expect(new Set(signatures).size).toBe(1);
  issuer.reissue(1, (receipt) => received.push(receipt));
  expect(received[3]).toBeUndefined();
});
