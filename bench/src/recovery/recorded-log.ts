/** A log of many commands on disk, as a venue would have written it. */
import { randomBytes } from "node:crypto";
import { type Command, GENESIS_WRITER } from "@perpgate/engine";
import { joining } from "@perpgate/engine/testing";
import { type LogSeq, openJournal } from "@perpgate/journal";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { type Evidence, encodeRecord, listingEvidence, NO_EVIDENCE } from "@perpgate/venue";
import { CONFIG, type VenueFlow } from "../engine/venue-flow.js";

/** Records of a batch: about what arrives during one sync at some thousand orders a second. */
const BATCH_RECORDS = 32;
const CONCURRENT_BATCHES = 256;
const WRITER = "c".repeat(32);
/** A body and a signature of the usual length; nothing here verifies them. */
const SIGNED: Evidence = {
  signed: randomBytes(150),
  signature: randomBytes(64),
  publicKey: new Uint8Array(0),
};

function evidenceOf({ kind }: Command): Evidence {
  if (kind === "Genesis") return listingEvidence(DEFAULT_MARKETS);
  return kind === "PlaceOrder" ? SIGNED : NO_EVIDENCE;
}

/** Genesis and the writer's join have a batch each. */
function* batchesOf(commands: readonly Command[]): Generator<readonly Command[]> {
  yield commands.slice(0, 1);
  yield commands.slice(1, 2);
  for (let at = 2; at < commands.length; at += BATCH_RECORDS) {
    yield commands.slice(at, at + BATCH_RECORDS);
  }
}

/** The commands of a flow, in the journal of that folder. */
export async function recordLog(
  directory: string,
  flow: VenueFlow,
): Promise<{ readonly commands: number; readonly end: LogSeq }> {
  // The join takes the place of an index that the flow does not need: positions stay as they are.
  const opening = [...flow.opening()];
  opening.splice(CONFIG.markets.length, 1);
  opening.splice(1, 0, joining(WRITER, "venue", 0));
  const commands = [...opening, ...flow.timed];
  const journal = await openJournal({ directory });
  let pending: Promise<void>[] = [];
  let counter = -1;
  for (const batch of batchesOf(commands)) {
    const id = counter < 0 ? { writer: GENESIS_WRITER, counter: 0 } : { writer: WRITER, counter };
    counter++;
    pending.push(
      journal.append(
        id,
        batch.map((one) => encodeRecord(one, evidenceOf(one))),
      ),
    );
    if (pending.length < CONCURRENT_BATCHES) continue;
    await Promise.all(pending);
    pending = [];
  }
  await Promise.all(pending);
  const { end } = journal;
  await journal.close();
  return { commands: commands.length, end };
}
