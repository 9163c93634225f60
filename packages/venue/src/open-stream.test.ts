/** A venue on a replicated log whose stream fails or is silent. */
import { GENESIS_WRITER } from "@perpgate/engine";
import { expect, onTestFinished, test } from "vitest";
import type { OpenStream, Stream } from "./replicated-log.js";
import { removeFolder, START_MS, temporaryFolder, testOptions } from "./testing/test-venue.js";
import { Venue } from "./venue.js";
import { genesisRecord } from "./venue-beginning.js";

/** Delivers nothing, ever. */
function silentStream(changes: Partial<Stream> = {}): Stream {
  return {
    start: () => new Promise(() => undefined),
    stopped: new Promise(() => undefined),
    publish: () => undefined,
    abandon: () => undefined,
    announce: () => undefined,
    onAnnouncement: () => undefined,
    close: async () => undefined,
    ...changes,
  };
}

test("open: the stream fails while the venue catches up: rejects with the stream's error", async () => {
  const directory = await temporaryFolder();
  onTestFinished(() => removeFolder(directory));
  const failure = new Error("another message at sequence 15");
  const stream = silentStream({
    // After `stopped`, as `start` of the cluster's stream does.
    start: () => new Promise((_, reject) => setImmediate(() => reject(failure))),
    stopped: Promise.resolve(failure),
  });
  const openStream = () => Promise.resolve(stream);
  const opened = Venue.open(testOptions(directory, { name: "a", openStream }));
  await expect(opened).rejects.toBe(failure);
});

test("open: a step after the stream fails: rejects, and closes the stream", async () => {
  const directory = await temporaryFolder();
  onTestFinished(() => removeFolder(directory));
  let isClosed = false;
  const stream = silentStream({
    // A log that `cluster init` has not begun.
    start: async () => undefined,
    close: async () => {
      isClosed = true;
    },
  });
  const openStream = () => Promise.resolve(stream);
  const opened = Venue.open(testOptions(directory, { name: "a", openStream }));
  await expect(opened).rejects.toMatchObject({ rule: "log_not_begun" });
  expect(isClosed).toBe(true);
  await expectClosed(directory);
});

/** Opens a venue and aborts it at the call of `abort`; resolves once it has rejected. */
async function openUntilAborted(
  openStreamWith: (abort: () => void, onClose: () => void) => OpenStream,
): Promise<{ readonly closed: Promise<void>; readonly directory: string }> {
  const directory = await temporaryFolder();
  onTestFinished(() => removeFolder(directory));
  const stop = new AbortController();
  let onClose = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    onClose = resolve;
  });
  const openStream = openStreamWith(
    () => stop.abort(),
    () => onClose(),
  );
  const { signal } = stop;
  const opened = Venue.open(testOptions(directory, { name: "a", openStream, signal }));
  await expect(opened).rejects.toMatchObject({ name: "AbortError" });
  return { closed, directory };
}

/** The folder is not locked, and its history not open: the next open comes as far as its stream. */
async function expectClosed(directory: string): Promise<void> {
  const reached = new Error("reached the stream");
  const openStream = () => Promise.reject(reached);
  const next = Venue.open(testOptions(directory, { name: "a", openStream }));
  await expect(next).rejects.toBe(reached);
}

test("open, aborted while it connects to the stream: rejects; a later connection is closed", async () => {
  let connect = (): void => undefined;
  const { closed, directory } = await openUntilAborted((abort, onClose) => async () => {
    setImmediate(abort);
    await new Promise<void>((resolve) => {
      connect = resolve;
    });
    return silentStream({ close: async () => onClose() });
  });
  await expectClosed(directory);
  connect();
  await closed;
});

test("open, aborted while it catches up: rejects, and closes the stream", async () => {
  const { closed, directory } = await openUntilAborted((abort, onClose) => async () => {
    const start = () => {
      setImmediate(abort);
      return new Promise<void>(() => undefined);
    };
    return silentStream({ start, close: async () => onClose() });
  });
  await closed;
  await expectClosed(directory);
});

test("open, aborted while its join is not delivered: rejects, and closes the stream", async () => {
  const { closed, directory } = await openUntilAborted(
    (abort, onClose) => async () =>
      silentStream({
        start: async (onBatch) => {
          const records = [genesisRecord(testOptions(""), START_MS)];
          const id = { writer: GENESIS_WRITER, counter: 0 };
          // Not in the mirror yet, so the history cannot write it.
          onBatch({ id, seq: { batch: 0, record: 0 }, end: { batch: 1, record: 1 }, records });
        },
        publish: () => setImmediate(abort),
        close: async () => onClose(),
      }),
  );
  await closed;
  await expectClosed(directory);
});
