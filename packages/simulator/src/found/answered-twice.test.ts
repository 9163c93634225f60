/**
 * Found: an exception in the middle of a batch stopped the venue and answered everyone in that batch
 * that it had stopped, including those who had been answered already.
 */

import { openJournal } from "@perpgate/journal";
import { FakeDisk } from "@perpgate/journal/testing";
import { type Applied, NO_EVIDENCE, Replica } from "@perpgate/venue";
import { expect, test } from "vitest";
import { soleSequencer } from "./sole-sequencer.js";

test("an exception in the middle of a batch: everyone is answered once", async () => {
  const disk = new FakeDisk(1);
  const journal = await openJournal({ directory: "/venue", disk, segmentBytes: 1 << 21 });
  const replica = new Replica(undefined, [
    {
      onCommand({ seq }: Applied): void {
        if (seq === 5) throw new Error("an observer fails");
      },
    },
  ]);
  const failures: Error[] = [];
  const sequencer = await soleSequencer(journal, replica, failures);
  const answers = [1, 2, 3, 4, 5].map((slot) => {
    const heard: (number | null)[] = [];
    sequencer.submit({ kind: "Tick", slot }, NO_EVIDENCE, (applied) => {
      heard.push(applied === null ? null : applied.seq);
    });
    return heard;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(answers).toEqual([[3], [4], [null], [null], [null]]);
  expect(failures).toHaveLength(1);
});
