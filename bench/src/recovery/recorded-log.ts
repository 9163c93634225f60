/**
 * A log of a million commands on disk, made as a venue would have made it: batches of real records,
 * orders with a body and a signature of the usual length (random bytes: nothing here checks them).
 */
import { randomBytes } from "node:crypto";
import type { Command } from "@perpgate/engine";
import { type LogPosition, openJournal } from "@perpgate/journal";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { type Evidence, encodeRecord, listingEvidence, NO_EVIDENCE } from "@perpgate/venue";
import { dataFolder } from "@perpgate/venue/testing";
import { VenueFlow } from "../engine/venue-flow.js";

/** Records of a batch: what arrives while one sync runs, at some thousand orders a second. */
const BATCH_RECORDS = 32;
const BATCHES_AT_ONCE = 256;
const BODY_BYTES = 150;
const SIGNATURE_BYTES = 64;
const WRITER = 0;

export interface RecordedLog {
  readonly commands: number;
  readonly orders: number;
  readonly end: LogPosition;
}

export async function recordLog(
  directory: string,
  accounts: number,
  levels: number,
  count: number,
  seed: number,
): Promise<RecordedLog> {
  const flow = new VenueFlow(accounts, levels, count, seed);
  const journal = await openJournal({ directory: dataFolder(directory).journal });
  const nothing = new Uint8Array(0);
  const signed = randomBytes(BODY_BYTES);
  const signature = randomBytes(SIGNATURE_BYTES);
  const evidenceOf = (command: Command): Evidence => {
    if (command.kind === "Genesis") return listingEvidence(DEFAULT_MARKETS);
    return command.kind === "PlaceOrder" ? { signed, signature, publicKey: nothing } : NO_EVIDENCE;
  };
  let counter = 0;
  let records: Uint8Array[] = [];
  let pending: Promise<void>[] = [];
  let orders = 0;
  const append = (): void => {
    if (records.length === 0) return;
    pending.push(journal.append({ writer: WRITER, counter: counter++ }, records));
    records = [];
  };
  for (const commands of [flow.opening, flow.timed]) {
    for (const command of commands) {
      if (command.kind === "PlaceOrder") orders++;
      records.push(encodeRecord(command, evidenceOf(command)));
      if (records.length === BATCH_RECORDS) append();
      if (pending.length < BATCHES_AT_ONCE) continue;
      await Promise.all(pending);
      pending = [];
    }
  }
  append();
  await Promise.all(pending);
  const { end } = journal;
  await journal.close();
  return { commands: flow.opening.length + flow.timed.length, orders, end };
}
