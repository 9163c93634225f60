/** A venue on a replicated log whose stream fails or is silent. */
import { GENESIS_WRITER } from "@perpgate/engine";
import { type BatchId, encodeMirrored } from "@perpgate/journal";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_PARAMETERS, venueConfigOf } from "./listing/venue-config.js";
import type { Mirror, OpenStream, Stream } from "./replicated-log.js";
import {
  removeFolder,
  START_MS,
  TEST_MARKETS,
  temporaryFolder,
  testOptions,
} from "./testing/test-venue.js";
import { Venue } from "./venue.js";
import { genesisRecord, type VenueTerms } from "./venue-beginning.js";
import { SILENT, type VenueOptions } from "./venue-options.js";

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
  more: Partial<VenueOptions> = {},
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
  const opened = Venue.open(testOptions(directory, { ...more, name: "a", openStream, signal }));
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
  // Genesis is not in the mirror yet, so the history cannot write it.
  const { closed, directory } = await openUntilAborted(untilJoin(termsOf(TEST_MARKETS), false));
  await closed;
  await expectClosed(directory);
});

/** A stream of a log that began with these terms; aborts once the venue publishes its join. */
function untilJoin(terms: VenueTerms, isMirrored = true) {
  return (abort: () => void, onClose: () => void) => async (mirror: Mirror) =>
    silentStream({
      start: async (onBatch) => {
        if (isMirrored) await mirror.append(1, encodeMirrored(MIRRORED));
        const records = [genesisRecord(testOptions("", terms), START_MS)];
        const id = { writer: GENESIS_WRITER, counter: 0 };
        onBatch({ id, seq: { batch: 0, record: 0 }, end: { batch: 1, record: 1 }, records });
      },
      publish: () => setImmediate(abort),
      close: async () => onClose(),
    });
}

function termsOf(listing: typeof TEST_MARKETS, parameters = DEFAULT_PARAMETERS): VenueTerms {
  return { listing, config: venueConfigOf(listing, parameters) };
}

/** Delivers what is published, with nobody else there. */
function loopback(terms: VenueTerms): OpenStream {
  return async (mirror: Mirror) => {
    let deliver: (id: BatchId, records: readonly Uint8Array[]) => void = () => undefined;
    return silentStream({
      start: async (onBatch) => {
        let sequence = 0;
        deliver = (id, records) => {
          const seq = { batch: sequence, record: sequence };
          sequence++;
          void mirror.append(sequence, encodeMirrored(MIRRORED));
          onBatch({ id, seq, end: { batch: sequence, record: sequence }, records });
        };
        const records = [genesisRecord(testOptions("", terms), START_MS)];
        deliver({ writer: GENESIS_WRITER, counter: 0 }, records);
      },
      publish: (id, records) => setImmediate(() => deliver(id, records)),
    });
  };
}

test("a clock that was ahead at the start and is put right: sign-ins last no longer for it", async () => {
  const directory = await temporaryFolder();
  onTestFinished(() => removeFolder(directory));
  let wall = START_MS + HOUR_MS;
  const options = {
    name: "a",
    openStream: loopback(termsOf(TEST_MARKETS)),
    clock: () => wall,
    monotonic: () => 0,
  };
  const venue = await Venue.open(testOptions(directory, options));
  onTestFinished(() => venue.close());
  expect(venue.nowMs()).toBe(wall);
  const steadyMs = venue.steadyMs();
  wall -= HOUR_MS;
  // What a sign-in adds to the end that its message names.
  expect(venue.nowMs() - venue.wallMs()).toBe(0);
  expect(venue.clockLeadMs).toBe(0);
  expect(venue.steadyMs()).toBe(steadyMs);
});

const HOUR_MS = 3_600_000;
const NOTHING = new Uint8Array(0);
const MIRRORED = {
  verdict: "sound",
  chain: new Uint8Array(32),
  subject: "",
  message: NOTHING,
} as const;
const FIRST_MARKET = TEST_MARKETS.slice(0, 1);
const HIGHER_LIMIT = { ...DEFAULT_PARAMETERS, maxOpenOrders: 600 };

test.each<[string, VenueTerms, VenueTerms]>([
  ["lacks a market that was listed since", termsOf(TEST_MARKETS), termsOf(FIRST_MARKET)],
  ["lists a market and raises a limit", termsOf(FIRST_MARKET), termsOf(TEST_MARKETS, HIGHER_LIMIT)],
])("open: the file of a gateway %s: it warns, and joins", async (_, log, file) => {
  const warnings: string[] = [];
  const logger = { ...SILENT, warn: (_fields: object, text: string) => warnings.push(text) };
  const { closed } = await openUntilAborted(untilJoin(log), { ...file, logger });
  await closed;
  expect(warnings).toEqual([expect.stringContaining("`perpgate configure` appends it")]);
});

test("open: the file of a gateway has another tick than the log: rejects", async () => {
  const directory = await temporaryFolder();
  onTestFinished(() => removeFolder(directory));
  const listing = TEST_MARKETS.map((market) => ({ ...market, tickSize: 1 }));
  const openStream = untilJoin(termsOf(TEST_MARKETS))(
    () => undefined,
    () => undefined,
  );
  const file = { ...termsOf(listing), name: "a", openStream };
  const opened = Venue.open(testOptions(directory, file));
  await expect(opened).rejects.toMatchObject({ rule: "tick_fixed" });
});
