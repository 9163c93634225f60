/**
 * What a replica must carry to go on from a place in the log exactly as one that read it all: the
 * engine, the open block, the listing. And its form as the body of a snapshot: a line of JSON (the
 * listing, and what the open block is), the bytes of the open block's events, the engine's bytes.
 *
 *      0  u32  magic "PGR1"      4  u32  length of the JSON      8  u32  length of the events
 *
 * Little-endian. The journal's snapshot files add the place in the log and the checksums.
 */
import { Engine } from "@perpgate/engine";
import { BlockBuilder } from "../blocks/block-builder.js";
import { HASH_BYTES } from "../blocks/block-header.js";
import { type AttestorHistory, isAttestorHistory } from "../listing/attestor-history.js";
import { decodeListing, Listing } from "../listing/listing.js";
import type { Applied } from "../replica.js";

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

export function newReplicaState(): ReplicaState {
  return { engine: new Engine(), blocks: new BlockBuilder(), listing: new Listing() };
}

/** In pieces: prefix and JSON, events, engine. The engine's piece is what a state hash covers. */
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
      ...(listing.attestorHistory === null ? {} : { attestorHistory: listing.attestorHistory }),
    }),
  );
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(MAGIC, 0);
  prefix.writeUInt32LE(text.length, 4);
  prefix.writeUInt32LE(open.events.length, 8);
  return [Buffer.concat([prefix, text, open.events]), engineBytes];
}

export function decodeReplicaState(body: Uint8Array): ReplicaState {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.length < PREFIX_BYTES || bytes.readUInt32LE(0) !== MAGIC) {
    throw new ReplicaSnapshotUnreadable("not the snapshot of a replica");
  }
  const textEnd = PREFIX_BYTES + bytes.readUInt32LE(4);
  const eventsEnd = textEnd + bytes.readUInt32LE(8);
  const meta: unknown = JSON.parse(bytes.toString("utf8", PREFIX_BYTES, textEnd));
  if (!isMeta(meta)) throw new ReplicaSnapshotUnreadable("its description is not whole");
  const engine = Engine.restore(bytes.subarray(eventsEnd));
  const listing = decodeListing(meta.listing);
  listing.attestorHistory = meta.attestorHistory ?? null;
  if (listing.attestorHistory === null && engine.state.config?.attestorKind === "chain") {
    // The log holds both; a snapshot of an older version is passed over once.
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

/** What every replica does with a command, whatever else watches; answers the block it sealed. */
export function observe({ blocks, listing }: ReplicaState, applied: Applied) {
  listing.onCommand(applied);
  return blocks.onCommand(applied.seq, applied.events);
}

interface Meta {
  readonly listing: string;
  readonly number: number;
  readonly firstPosition: number;
  readonly parentHash: string;
  readonly attestorHistory?: AttestorHistory;
}

function isMeta(value: unknown): value is Meta {
  if (typeof value !== "object" || value === null) return false;
  return (
    "listing" in value &&
    typeof value.listing === "string" &&
    "number" in value &&
    Number.isSafeInteger(value.number) &&
    "firstPosition" in value &&
    Number.isSafeInteger(value.firstPosition) &&
    "parentHash" in value &&
    typeof value.parentHash === "string" &&
    value.parentHash.length === 2 * HASH_BYTES &&
    (!("attestorHistory" in value) || isAttestorHistory(value.attestorHistory))
  );
}
