/** A core on a replicated log whose stream fails or is silent. */
import { GENESIS_WRITER } from "@perpgate/engine";
import type { CoreLog, OpenCoreLog } from "@perpgate/journal";
import { encodeMirrored } from "@perpgate/journal";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_PARAMETERS, venueConfigOf } from "./listing/venue-config.js";
import {
  removeFolder,
  START_MS,
  TEST_MARKETS,
  temporaryFolder,
  testOptions,
} from "./testing/test-venue.js";
import { Venue } from "./venue.js";
import { genesisRecord, type VenueConfiguration } from "./venue-beginning.js";
import { SILENT } from "./venue-options.js";

/** Delivers nothing, ever. */
function silentLog(changes: Partial<CoreLog> = {}): CoreLog {
  return {
    start: () => new Promise(() => undefined),
    mayPropose: false,
    propose: () => undefined,
    handOver: () => "",
    announce: () => undefined,
    onAnnouncement: () => undefined,
    isClockShared: false,
    stopped: new Promise(() => undefined),
    close: async () => undefined,
    ...changes,
  };
}

async function newFolder(): Promise<string> {
  const directory = await temporaryFolder();
  onTestFinished(() => removeFolder(directory));
  return directory;
}

test("open: the stream fails while the core catches up: rejects with the stream's error", async () => {
  const failure = new Error("another message at sequence 15");
  const log = silentLog({
    // After `stopped`, as `start` of the cluster's log does.
    start: () => new Promise((_, reject) => setImmediate(() => reject(failure))),
    stopped: Promise.resolve(failure),
  });
  const openCoreLog = () => Promise.resolve(log);
  const opened = Venue.open(testOptions(await newFolder(), { name: "a", openCoreLog }));
  await expect(opened).rejects.toBe(failure);
});

test("open: a step after the stream fails: rejects, and closes the stream", async () => {
  const directory = await newFolder();
  let isClosed = false;
  const log = silentLog({
    // A log that `cluster init` has not begun.
    start: async () => undefined,
    close: async () => {
      isClosed = true;
    },
  });
  const openCoreLog = () => Promise.resolve(log);
  const opened = Venue.open(testOptions(directory, { name: "a", openCoreLog }));
  await expect(opened).rejects.toMatchObject({ rule: "log_not_begun" });
  expect(isClosed).toBe(true);
  await expectClosed(directory);
});

/** Opens a venue and aborts it at the call of `abort`; resolves once it has rejected. */
async function openUntilAborted(
  openLogWith: (abort: () => void, onClose: () => void) => OpenCoreLog,
): Promise<{ readonly closed: Promise<void>; readonly directory: string }> {
  const directory = await newFolder();
  const stop = new AbortController();
  let onClose = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    onClose = resolve;
  });
  const openCoreLog = openLogWith(
    () => stop.abort(),
    () => onClose(),
  );
  const { signal } = stop;
  const opened = Venue.open(testOptions(directory, { name: "a", openCoreLog, signal }));
  await expect(opened).rejects.toMatchObject({ name: "AbortError" });
  return { closed, directory };
}

/** The folder is not locked, and its history not open: the next open comes as far as its stream. */
async function expectClosed(directory: string): Promise<void> {
  const reached = new Error("reached the stream");
  const openCoreLog = () => Promise.reject(reached);
  const next = Venue.open(testOptions(directory, { name: "a", openCoreLog }));
  await expect(next).rejects.toBe(reached);
}

test("open, aborted while it connects to the stream: rejects; a later connection is closed", async () => {
  let connect = (): void => undefined;
  const { closed, directory } = await openUntilAborted((abort, onClose) => async () => {
    setImmediate(abort);
    await new Promise<void>((resolve) => {
      connect = resolve;
    });
    return silentLog({ close: async () => onClose() });
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
    return silentLog({ start, close: async () => onClose() });
  });
  await closed;
  await expectClosed(directory);
});

test("open, aborted before Genesis is in the mirror: rejects, and closes the stream", async () => {
  const { closed, directory } = await openUntilAborted(
    (abort, onClose) => async () =>
      silentLog({
        start: (onBatch) => {
          // The history waits for the mirror, and cannot write it.
          onBatch(genesisOf(termsOf(TEST_MARKETS)), "none");
          setImmediate(abort);
          return new Promise<void>(() => undefined);
        },
        close: async () => onClose(),
      }),
  );
  await closed;
  await expectClosed(directory);
});

function genesisOf(terms: VenueConfiguration) {
  const records = [genesisRecord(testOptions("", terms), START_MS)];
  const id = { writer: GENESIS_WRITER, counter: 0 };
  return { id, seq: { batch: 0, record: 0 }, end: { batch: 1, record: 1 }, records };
}

/** A log that began with these terms, and has nothing else. */
function begunWith(terms: VenueConfiguration): OpenCoreLog {
  return async (mirror) =>
    silentLog({
      start: async (onBatch) => {
        await mirror.append(1, encodeMirrored(MIRRORED));
        onBatch(genesisOf(terms), "none");
      },
    });
}

function termsOf(
  listing: typeof TEST_MARKETS,
  parameters = DEFAULT_PARAMETERS,
): VenueConfiguration {
  return { listing, config: venueConfigOf(listing, parameters) };
}

test("a clock that was ahead at the start and is put right: sign-ins last no longer for it", async () => {
  let wall = START_MS + HOUR_MS;
  const options = {
    name: "a",
    openCoreLog: begunWith(termsOf(TEST_MARKETS)),
    clock: () => wall,
    monotonic: () => 0,
  };
  const venue = await Venue.open(testOptions(await newFolder(), options));
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

test.each<[string, VenueConfiguration, VenueConfiguration]>([
  ["lacks a market that was listed since", termsOf(TEST_MARKETS), termsOf(FIRST_MARKET)],
  ["lists a market and raises a limit", termsOf(FIRST_MARKET), termsOf(TEST_MARKETS, HIGHER_LIMIT)],
])("open: the file of a core %s: it warns, and stands by", async (_, log, file) => {
  const warnings: string[] = [];
  const logger = { ...SILENT, warn: (_fields: object, text: string) => warnings.push(text) };
  const options = { ...file, logger, name: "a", openCoreLog: begunWith(log) };
  const venue = await Venue.open(testOptions(await newFolder(), options));
  expect(venue.isStandby).toBe(true);
  await venue.close();
  expect(warnings).toEqual([expect.stringContaining("`perpgate configure` appends it")]);
});

test("open: the file of a core has another tick than the log: rejects", async () => {
  const listing = TEST_MARKETS.map((market) => ({ ...market, tickSize: 1 }));
  const file = {
    ...termsOf(listing),
    name: "a",
    openCoreLog: begunWith(termsOf(TEST_MARKETS)),
  };
  const opened = Venue.open(testOptions(await newFolder(), file));
  await expect(opened).rejects.toMatchObject({ rule: "tick_fixed" });
});
