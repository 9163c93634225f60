/**
 * The state that a replica needs to continue from a position in the log: the engine, the open block
 * and the listing. And its encoding as the body of a snapshot: JSON (listing and open block), the open
 * block's event bytes, the engine's bytes.
 *
 *      0  u32  magic "PGR1"      4  u32  length of the JSON      8  u32  length of the events
 *
 * Little-endian. The journal's snapshot files add the position in the log and the checksums.
 */
import { randomFillSync } from "node:crypto";
import { Engine, type HashSeed, RULE_SETS } from "@perpgate/engine";
import { BlockBuilder } from "../blocks/block-builder.js";
import { HASH_BYTES } from "../blocks/block-header.js";
import { type AttestorHistory, isAttestorHistory } from "../listing/attestor-history.js";
import { decodeListing, Listing } from "../listing/listing.js";
import type { Applied } from "../replica.js";
import { hasFields, isHex, isInteger, isOptional, isText } from "../stored-json.js";

export interface ReplicaState {
  readonly engine: Engine;
  readonly blocks: BlockBuilder;
  readonly listing: Listing;
}

export class ReplicaSnapshotUnreadable extends Error {
  override readonly name = "ReplicaSnapshotUnreadable";
}

const MAGIC = 0x31524750;
const PREFIX_BYTES = 12;

/** `seed`: of the engine's tables; none but a simulation knows it. */
export function newReplicaState(seed = newSeed()): ReplicaState {
  return { engine: Engine.seeded(seed), blocks: new BlockBuilder(), listing: new Listing() };
}

function newSeed(): HashSeed {
  const [first, second] = randomFillSync(new Uint32Array(2));
  return [first!, second!];
}

/** In two pieces: prefix, JSON and events; engine. A state hash covers the engine's piece. */
export function encodeReplicaState(
  { blocks, listing }: ReplicaState,
  engineBytes: Uint8Array,
): Uint8Array[] {
  const open = blocks.open();
  const text = Buffer.from(
    JSON.stringify({
      listing: listing.text,
      number: open.number,
      firstPosition: open.firstPosition,
      parentHash: open.parentHash.toString("hex"),
      ...(listing.venueId === null ? {} : { venueId: listing.venueId }),
      ...(listing.attestorHistory === null ? {} : { attestorHistory: listing.attestorHistory }),
    }),
  );
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(MAGIC, 0);
  prefix.writeUInt32LE(text.length, 4);
  prefix.writeUInt32LE(open.events.length, 8);
  return [Buffer.concat([prefix, text, open.events]), engineBytes];
}

export function decodeReplicaState(body: Uint8Array, seed = newSeed()): ReplicaState {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.length < PREFIX_BYTES || bytes.readUInt32LE(0) !== MAGIC) {
    throw new ReplicaSnapshotUnreadable("not the snapshot of a replica");
  }
  const textEnd = PREFIX_BYTES + bytes.readUInt32LE(4);
  const eventsEnd = textEnd + bytes.readUInt32LE(8);
  const meta: unknown = JSON.parse(bytes.toString("utf8", PREFIX_BYTES, textEnd));
  if (!isMeta(meta)) throw new ReplicaSnapshotUnreadable("its description is not whole");
  const engine = Engine.restore(bytes.subarray(eventsEnd), RULE_SETS, seed);
  const listing = decodeListing(meta.listing);
  listing.attestorHistory = meta.attestorHistory ?? null;
  listing.venueId = meta.venueId ?? null;
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
  readonly venueId?: string;
  readonly attestorHistory?: AttestorHistory;
}

function isMeta(value: unknown): value is Meta {
  return hasFields(value, {
    listing: isText,
    number: isInteger,
    firstPosition: isInteger,
    parentHash: (field) => typeof field === "string" && field.length === 2 * HASH_BYTES,
    venueId: isOptional(isHex(64)),
    attestorHistory: isOptional(isAttestorHistory),
  });
}
