/** A log of many commands on disk, as a venue would have written it. */
import { randomBytes } from "node:crypto";
import { type Command, GENESIS_WRITER } from "@perpgate/engine";
import { joining } from "@perpgate/engine/testing";
import { type LogSeq, openJournal } from "@perpgate/journal";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { type Evidence, encodeRecord, listingEvidence, NO_EVIDENCE } from "@perpgate/venue";
import { CONFIG, LEVELS, type StreamedFlow } from "../engine/venue-flow.js";

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

/** The join takes the place of an index that the flow does not need: positions stay as they are. */
function* joined(flow: StreamedFlow): Generator<Command> {
  let at = 0;
  for (const command of flow.commands()) {
    if (at === 1) yield joining(WRITER, "venue", 0);
    if (at !== CONFIG.markets.length) yield command;
    at++;
  }
}

/** Genesis and the writer's join have a batch each. */
function* batchesOf(commands: Iterable<Command>): Generator<readonly Command[]> {
  let batch: Command[] = [];
  let count = 0;
  for (const command of commands) {
    batch.push(command);
    count++;
    if (count > 2 && batch.length < BATCH_RECORDS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

interface RecordedLog {
  readonly commands: number;
  /** Placed after those that rest when the flow begins. */
  readonly orders: number;
  readonly end: LogSeq;
}

/** The commands of a flow, in the journal of that folder. Memory holds those of a few batches. */
export async function recordLog(directory: string, flow: StreamedFlow): Promise<RecordedLog> {
  const journal = await openJournal({ directory });
  let pending: Promise<void>[] = [];
  let counter = -1;
  let commands = 0;
  let orders = -LEVELS;
  for (const batch of batchesOf(joined(flow))) {
    const id = counter < 0 ? { writer: GENESIS_WRITER, counter: 0 } : { writer: WRITER, counter };
    counter++;
    commands += batch.length;
    orders += batch.filter(({ kind }) => kind === "PlaceOrder").length;
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
  return { commands, orders, end };
}
