/**
 * The state that a replica needs to continue from a position in the log: the engine, the open block,
 * the listing, and what the history's next rows build on. And its encoding as the body of a snapshot: JSON
 * (listing and open block), the open block's event bytes, the projections' bytes, the engine's bytes.
 *
 *      0  u32  magic "PGR2"           8  u32  length of the events
 *      4  u32  length of the JSON    12  u32  length of the projections
 *
 * Little-endian. The journal's snapshot files add the position in the log and the checksums.
 */
import { randomFillSync } from "node:crypto";
import { Engine, type HashSeed, RULE_SETS } from "@perpgate/engine";
import { BlockBuilder } from "../blocks/block-builder.js";
import { HASH_BYTES } from "../blocks/block-header.js";
import { type HistoryContext, HistoryRows, PROJECTION_FORMAT } from "../history/history-rows.js";
import { type AttestorHistory, isAttestorHistory } from "../listing/attestor-history.js";
import {
  type CommittedReserves,
  decodeListing,
  isCommittedReserves,
  isPayment,
  Listing,
} from "../listing/listing.js";
import type { Applied } from "../replica.js";
import { hasFields, isHexOf, isInteger, isOptional, isText } from "../stored-json.js";
import { bookedBalance, moneyOf } from "../views/account-view.js";

/** What the projections of the history read from an engine. */
function historyContextOf({ state }: Engine): HistoryContext {
  return {
    unitMicros: (market) => state.markets[market]?.microsPerTickLot ?? 0,
    markTicks: (market) => state.markets[market]?.mark ?? 0,
    deposit: (depositId) => state.deposits.byId.get(depositId),
    writeMoney: (account, words, at) => {
      const { wallet, reserved, margin, equity } = moneyOf(state, account);
      words[at] = wallet;
      words[at + 1] = reserved;
      words[at + 2] = margin;
      words[at + 3] = equity;
    },
    balanceMicros: (account) => bookedBalance(state, account),
    accountOfSession: (session) => state.sessions.get(session)?.account ?? 0,
  };
}

export interface ReplicaState {
  readonly engine: Engine;
  readonly blocks: BlockBuilder;
  readonly listing: Listing;
  /** Given each command after `observe`. */
  readonly rows: HistoryRows;
}

export class ReplicaSnapshotUnreadable extends Error {
  override readonly name = "ReplicaSnapshotUnreadable";
}

const MAGIC = 0x32524750;
const PREFIX_BYTES = 16;

/** `seed`: of the engine's tables; none but a simulation knows it. */
export function newReplicaState(seed = newSeed()): ReplicaState {
  const engine = Engine.seeded(seed);
  const rows = new HistoryRows(historyContextOf(engine));
  return { engine, blocks: new BlockBuilder(), listing: new Listing(), rows };
}

function newSeed(): HashSeed {
  const [first, second] = randomFillSync(new Uint32Array(2));
  return [first!, second!];
}

/** In two pieces: prefix, JSON, events and projections; engine. A state hash covers the engine's piece. */
export function encodeReplicaState(
  { blocks, listing, rows }: ReplicaState,
  engineBytes: Uint8Array,
): Uint8Array[] {
  const open = blocks.open();
  const text = Buffer.from(
    JSON.stringify({
      listing: listing.text,
      number: open.number,
      firstPosition: open.firstPosition,
      parentHash: open.parentHash.toString("hex"),
      rows: PROJECTION_FORMAT,
      ...(listing.venueId === null ? {} : { venueId: listing.venueId }),
      ...(listing.upgradedAt === 0 ? {} : { upgradedAt: listing.upgradedAt }),
      ...(listing.reserves === null ? {} : { reserves: listing.reserves }),
      ...(listing.payments.length === 0 ? {} : { payments: listing.payments }),
      ...(listing.attestorHistory === null ? {} : { attestorHistory: listing.attestorHistory }),
    }),
  );
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(MAGIC, 0);
  prefix.writeUInt32LE(text.length, 4);
  prefix.writeUInt32LE(open.events.length, 8);
  const projected = rows.save();
  prefix.writeUInt32LE(projected.length, 12);
  return [Buffer.concat([prefix, text, open.events, projected]), engineBytes];
}

export function decodeReplicaState(body: Uint8Array, seed = newSeed()): ReplicaState {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.length < PREFIX_BYTES || bytes.readUInt32LE(0) !== MAGIC) {
    throw new ReplicaSnapshotUnreadable("not the snapshot of a replica");
  }
  const textEnd = PREFIX_BYTES + bytes.readUInt32LE(4);
  const eventsEnd = textEnd + bytes.readUInt32LE(8);
  const projectedEnd = eventsEnd + bytes.readUInt32LE(12);
  const meta: unknown = JSON.parse(bytes.toString("utf8", PREFIX_BYTES, textEnd));
  if (!isMeta(meta)) throw new ReplicaSnapshotUnreadable("its description is not whole");
  const engine = Engine.restore(bytes.subarray(projectedEnd), RULE_SETS, seed);
  const rows = new HistoryRows(historyContextOf(engine));
  rows.load(bytes.subarray(eventsEnd, projectedEnd));
  const listing = decodeListing(meta.listing);
  listing.attestorHistory = meta.attestorHistory ?? null;
  listing.venueId = meta.venueId ?? null;
  listing.upgradedAt = meta.upgradedAt ?? 0;
  listing.reserves = meta.reserves ?? null;
  listing.payments = meta.payments ?? [];
  if (listing.attestorHistory === null && engine.state.config?.attestorKind === "chain") {
    // The log has both: a snapshot of an older release is skipped once.
    throw new ReplicaSnapshotUnreadable("it lacks the venue's id and the history of attestors");
  }
  return {
    engine,
    blocks: new BlockBuilder({
      number: meta.number,
      firstPosition: meta.firstPosition,
      parentHash: Buffer.from(meta.parentHash, "hex"),
      events: bytes.subarray(textEnd, eventsEnd),
    }),
    listing,
    rows,
  };
}

/** Updates listing and blocks, as every replica must; returns the block that the command sealed. */
export function observe({ blocks, listing }: ReplicaState, applied: Applied) {
  listing.onCommand(applied);
  return blocks.onCommand(applied.seq, applied.events);
}

interface Meta {
  readonly listing: string;
  readonly number: number;
  readonly firstPosition: number;
  readonly parentHash: string;
  /** The format of what the projections keep. */
  readonly rows: number;
  readonly venueId?: string;
  readonly attestorHistory?: AttestorHistory;
  readonly upgradedAt?: number;
  readonly reserves?: CommittedReserves;
  readonly payments?: Listing["payments"];
}

function isMeta(value: unknown): value is Meta {
  return hasFields(value, {
    listing: isText,
    number: isInteger,
    firstPosition: isInteger,
    parentHash: (field) => typeof field === "string" && field.length === 2 * HASH_BYTES,
    rows: (field) => field === PROJECTION_FORMAT,
    venueId: isOptional(isHexOf(64)),
    upgradedAt: isOptional(isInteger),
    reserves: isOptional(isCommittedReserves),
    payments: isOptional((field) => Array.isArray(field) && field.every(isPayment)),
    attestorHistory: isOptional(isAttestorHistory),
  });
}
