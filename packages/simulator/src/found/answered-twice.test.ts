/**
 * Found: an exception in the middle of a batch stopped the venue and answered everyone in that batch
 * that it had stopped, including those who had been answered already.
 */

import { LOG_START, openJournal } from "@perpgate/journal";
import { FakeDisk } from "@perpgate/journal/testing";
import { type Applied, NO_EVIDENCE, Replica, Sequencer } from "@perpgate/venue";
import { expect, test } from "vitest";

test("an exception in the middle of a batch: everyone is answered once", async () => {
  const disk = new FakeDisk(1);
  const journal = await openJournal({ directory: "/venue", disk, segmentBytes: 1 << 21 });
  const replica = new Replica(undefined, [
    {
      onCommand({ seq }: Applied): void {
        if (seq === 3) throw new Error("an observer fails");
      },
    },
  ]);
  const failures: Error[] = [];
  const sequencer = new Sequencer(journal, replica, 1, (error) => failures.push(error));
  await sequencer.start(LOG_START);
  const answers = [1, 2, 3, 4, 5].map((slot) => {
    const heard: (number | null)[] = [];
    sequencer.submit({ kind: "Tick", slot }, NO_EVIDENCE, (applied) => {
      heard.push(applied === null ? null : applied.seq);
    });
    return heard;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(answers).toEqual([[1], [2], [null], [null], [null]]);
  expect(failures).toHaveLength(1);
});
