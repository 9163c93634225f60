/** A venue on a replicated log whose stream fails. */
import { expect, onTestFinished, test } from "vitest";
import type { Stream } from "./replicated-log.js";
import { removeFolder, temporaryFolder, testOptions } from "./testing/test-venue.js";
import { Venue } from "./venue.js";

test("open: the stream fails while the venue catches up: rejects with the stream's error", async () => {
  const directory = await temporaryFolder();
  onTestFinished(() => removeFolder(directory));
  const failure = new Error("another message at sequence 15");
  const stream: Stream = {
    // After `stopped`, as `start` of the cluster's stream does.
    start: () => new Promise((_, reject) => setImmediate(() => reject(failure))),
    stopped: Promise.resolve(failure),
    publish: () => undefined,
    abandon: () => undefined,
    announce: () => undefined,
    onAnnouncement: () => undefined,
    close: async () => undefined,
  };
  const openStream = () => Promise.resolve(stream);
  const opened = Venue.open(testOptions(directory, { name: "a", openStream }));
  await expect(opened).rejects.toBe(failure);
});
