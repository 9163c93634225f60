import { Engine } from "@perpgate/engine";
import { joining, writerId } from "@perpgate/engine/testing";
import { expect, onTestFinished, test } from "vitest";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { newLogKey } from "./log-key.js";
import { newReceiptKey, refuseOtherLogKey } from "./receipt-key.js";

test("a live gateway that another log key has certified: refused by its name", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  const { key: ours } = newLogKey();
  const { key: theirs } = newLogKey();
  const { venue } = await TestVenue.open(folder);
  const { listing } = venue;
  await venue.close();
  const { state } = new Engine();
  const join = (number: number, name: string, logKey?: typeof ours) => {
    const terms = joining(writerId(number), name, 0);
    if (logKey === undefined) return state.writers.join(number, terms);
    const { publicKey, certificate } = newReceiptKey(listing, logKey);
    return state.writers.join(number, {
      ...terms,
      receiptKey: Buffer.from(publicKey).toString("hex"),
      certificate: Buffer.from(certificate).toString("hex"),
    });
  };
  join(1, "without");
  join(2, "same", ours);
  expect(() => refuseOtherLogKey(state, listing, ours, "own")).not.toThrow();
  const other = join(3, "other", theirs);
  expect(() => refuseOtherLogKey(state, listing, ours, "own")).toThrow(
    /gateway other has another log key/,
  );
  expect(() => refuseOtherLogKey(state, listing, ours, "other")).not.toThrow();
  state.writers.end(other);
  expect(() => refuseOtherLogKey(state, listing, ours, "own")).not.toThrow();
});
