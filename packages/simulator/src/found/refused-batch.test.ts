/**
 * Found: a single record larger than any batch, and a burst that made such a batch, were refused by
 * the journal, and the refusal stopped the venue for everybody.
 */

import { openJournal } from "@perpgate/journal";
import { FakeDisk } from "@perpgate/journal/testing";
import { type Evidence, RecordTooLarge, Replica } from "@perpgate/venue";
import { expect, test } from "vitest";
import { soleSequencer } from "./sole-sequencer.js";

const TICK = { kind: "Tick", slot: 1 } as const;
const NOTHING = new Uint8Array(0);

function evidence(bytes: number): Evidence {
  return { signed: new Uint8Array(bytes), signature: NOTHING, publicKey: NOTHING };
}

test("a record too large for the log, a burst of large ones: everyone else is served", async () => {
  const disk = new FakeDisk(1);
  const journal = await openJournal({ directory: "/venue", disk, segmentBytes: 2 << 20 });
  const failures: Error[] = [];
  const sequencer = await soleSequencer(journal, new Replica(), failures);
  let answered = 0;
  const count = (): number => answered++;
  sequencer.submit(TICK, evidence(400), count);
  expect(() => sequencer.submit(TICK, evidence(1 << 20), count)).toThrow(RecordTooLarge);
  for (let record = 0; record < 40; record++) sequencer.submit(TICK, evidence(200_000), count);
  for (let record = 0; record < 2_000; record++) sequencer.submit(TICK, evidence(400), count);
  await sequencer.close();
  expect(failures).toEqual([]);
  expect(answered).toBe(1 + 40 + 2_000);
});
