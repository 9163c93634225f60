/** Data folders whose log another release, or nobody, has begun. */
import { join } from "node:path";
import { type Command, GENESIS_WRITER } from "@perpgate/engine";
import { inspectLog, LOG_START, nodeDisk, openJournal, SegmentReader } from "@perpgate/journal";
import type { MarketDefinition } from "@perpgate/protocol";
import { listingEvidence } from "../listing/listing.js";
import { venueConfigOf } from "../listing/venue-config.js";
import { encodeRecord } from "../record/record.js";
import { START_MS, TEST_MARKETS } from "./test-venue.js";

/** Without `engineVersion`: as release 0.1 wrote it. */
export const GENESIS = {
  kind: "Genesis",
  stampMs: START_MS,
  config: venueConfigOf(TEST_MARKETS),
  cohort: "open",
};

/** Begins a log with these markets under a version of the rules. */
export function beginLog(
  folder: string,
  markets: readonly MarketDefinition[],
  stampMs: number,
  engineVersion: number,
): Promise<void> {
  const config = venueConfigOf(markets);
  return write(folder, markets, [{ ...GENESIS, config, stampMs, engineVersion }]);
}

/** Writes a log of these commands, as any release might have. */
export function writeLog(folder: string, ...commands: object[]): Promise<void> {
  return write(folder, TEST_MARKETS, commands);
}

/** Writes the batches of a folder's log into a log of its own, as cores do that read one stream. */
export async function copyLog(from: string, to: string): Promise<void> {
  const source = join(from, "journal");
  const { batch: end = 0 } = inspectLog(nodeDisk, source)?.end ?? {};
  const reader = new SegmentReader(nodeDisk, source, LOG_START);
  const journal = await openJournal({
    directory: join(to, "journal"),
    segmentBytes: 1 << 20,
    commit: "inline",
  });
  for (let batch = reader.nextStored(end); batch; batch = reader.nextStored(end)) {
    await journal.append(batch.id, batch.records);
  }
  reader.close();
  await journal.close();
}

async function write(
  folder: string,
  markets: readonly MarketDefinition[],
  commands: readonly object[],
): Promise<void> {
  const journal = await openJournal({
    directory: join(folder, "journal"),
    segmentBytes: 1 << 20,
    commit: "inline",
  });
  const evidence = listingEvidence(markets);
  const records = commands.map((command) => {
    const decoded: Command = JSON.parse(JSON.stringify(command));
    return encodeRecord(decoded, decoded.kind === "Genesis" ? evidence : undefined);
  });
  await journal.append({ writer: GENESIS_WRITER, counter: 0 }, records);
  await journal.close();
}
