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
  /** `meanwhile` happens while it listens. */
  const check = (name: string, meanwhile: () => void = () => undefined) =>
    refuseOtherLogKey(state, listing, ours, name, async () => meanwhile());
  const unexpected = () => {
    throw new Error("nobody has another key");
  };
  join(1, "without");
  join(2, "same", ours);
  await check("own", unexpected);
  const other = join(3, "other", theirs);
  const refusal = /gateway other has another log key/;
  const beat = () => {
    other.counter++;
  };
  await expect(check("own", beat)).rejects.toThrow(refusal);
  await check("other", unexpected);
  // It was killed: nobody ticks, and so nobody ends it in the log.
  await check("own");
  state.writers.end(other);
  await check("own", unexpected);
});
