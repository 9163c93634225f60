/**
 * Load on a venue without a gateway: a log of many commands on disk, and orders to a live venue from
 * submit to the result.
 */
import { randomBytes } from "node:crypto";
import { type Command, ENGINE_VERSION, GENESIS_WRITER, LONG, SHORT } from "@perpgate/engine";
import { type LogSeq, openJournal } from "@perpgate/journal";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { Random } from "@perpgate/protocol/random";
import {
  type Evidence,
  encodeRecord,
  listingEvidence,
  NO_EVIDENCE,
  type Venue,
} from "@perpgate/venue";
import { dataFolder } from "@perpgate/venue/testing";
import { CONFIG, order, sessionOf, VenueFlow } from "../engine/venue-flow.js";

/** Records of a batch: about what arrives during one sync at some thousand orders a second. */
const BATCH_RECORDS = 32;
const CONCURRENT_BATCHES = 256;
const BODY_BYTES = 150;
const SIGNATURE_BYTES = 64;
const WRITER = "c".repeat(32);
const GENESIS = { writer: GENESIS_WRITER, counter: 0 };
const JOIN: Command = {
  kind: "WriterJoined",
  stampMs: 0,
  writer: WRITER,
  name: "venue",
  versions: [ENGINE_VERSION, ENGINE_VERSION],
  receiptKey: "",
  certificate: "",
};

/**
 * Writes a log as a venue would: batches of records, orders with a body and a signature of the usual
 * length (random bytes: nothing here verifies them).
 */
export async function recordLog(
  directory: string,
  accounts: number,
  levels: number,
  count: number,
  seed: number,
): Promise<{ readonly commands: number; readonly end: LogSeq }> {
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
  let isBegun = false;
  let records: Uint8Array[] = [];
  let pending: Promise<void>[] = [];
  const append = (): void => {
    if (records.length === 0) return;
    // Genesis is a batch of a writer of its own.
    const id = isBegun ? { writer: WRITER, counter: counter++ } : GENESIS;
    pending.push(journal.append(id, records));
    isBegun = true;
    records = [];
  };
  // The join takes the place of an index that the flow does not need: positions stay as they are.
  const opening = [...flow.opening()];
  opening.splice(CONFIG.markets.length, 1);
  opening.splice(1, 0, JOIN);
  for (const command of [...opening, ...flow.timed]) {
    records.push(encodeRecord(command, evidenceOf(command)));
    const isAlone = command.kind === "Genesis" || command.kind === "WriterJoined";
    if (isAlone || records.length === BATCH_RECORDS) append();
    if (pending.length < CONCURRENT_BATCHES) continue;
    await Promise.all(pending);
    pending = [];
  }
  append();
  await Promise.all(pending);
  const { end } = journal;
  await journal.close();
  return { commands: opening.length + flow.timed.length, end };
}

/** One order: when it was due, and the time until its result. */
export interface Sample {
  readonly dueMs: number;
  readonly latencyMs: number;
}

const INDEX_TICKS = 650_000;
const FIRST_NONCE = 1_000_000_000;

/**
 * Submits orders at a fixed rate that does not depend on the results, so that a pause is seen by every
 * order that was due in it.
 */
export async function driveOrders(
  venue: Venue,
  accounts: number,
  perSecond: number,
  forMs: number,
  seed: number,
): Promise<Sample[]> {
  const random = new Random(seed);
  const samples: Sample[] = [];
  const started = performance.now();
  let sent = 0;
  let answered = 0;
  let refused = 0;
  const nonces = FIRST_NONCE + Math.floor(started);
  const send = (dueMs: number): void => {
    const isBid = random.next() < 0.5;
    const price = isBid
      ? INDEX_TICKS - 100 - random.below(900)
      : INDEX_TICKS + 100 + random.below(900);
    const session = sessionOf(1 + random.below(accounts));
    const command = order(session, nonces + sent, isBid ? LONG : SHORT, price, 2_000_000, 5);
    sent++;
    venue.submit(command, NO_EVIDENCE, (applied) => {
      answered++;
      if (applied === null || venue.views.outcome(applied).kind !== "acknowledged") refused++;
      samples.push({ dueMs, latencyMs: performance.now() - dueMs });
    });
  };
  const index = setInterval(() => {
    const stampMs = venue.nowMs();
    const slot = Math.floor(stampMs / 200);
    venue.submit(
      { kind: "UpdateIndex", stampMs, market: 0, indexTicks: INDEX_TICKS, slot },
      NO_EVIDENCE,
      () => undefined,
    );
  }, 200);
  const between = 1_000 / perSecond;
  while (performance.now() - started < forMs) {
    // Everything that is due by now, each with its own due time.
    while (started + sent * between <= performance.now()) send(started + sent * between);
    await new Promise((resolve) => setImmediate(resolve));
  }
  while (answered < sent) await new Promise((resolve) => setImmediate(resolve));
  clearInterval(index);
  if (refused > sent / 100) throw new Error(`${refused} of ${sent} orders were refused`);
  return samples;
}
