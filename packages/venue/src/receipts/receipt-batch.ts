/** Signs the statements of one batch: one tree, one signature, a receipt for each. */
import { STATEMENT, signedRoot } from "@perpgate/protocol/receipts";
import { bytesOf, type HashText, leafText, nodeText } from "../blocks/merkle.js";
import type { ReceiptSigner } from "./receipt-signer.js";

const HASH_BYTES = 32;
const VERSION = 1;
const TIME_BYTES = 6;
/** Longer than any receipt: its path has one hash per level of a tree of at most 2^15 leaves. */
const written = Buffer.alloc(1_024);

/**
 * The receipts as base64url, in order. The bytes are those of the protocol's `encodeReceipt`; this one
 * makes all receipts of a batch from one tree.
 */
export function signBatch(statements: readonly Buffer[], signer: ReceiptSigner): string[] {
  const levels = treeLevels(statements.map(leafText));
  const root = bytesOf(levels.at(-1)![0]!);
  const size = statements.length;
  const signature = signer.sign(signedRoot(size, root));
  const ending = Buffer.concat([signature, signer.publicKey, signer.certificate]);
  const { session, leafHash, timeMs, lastBlockHash } = STATEMENT;
  return statements.map((statement, index) => {
    let at = written.writeUInt8(VERSION);
    at = writeVarint(at, Number(statement.readBigUInt64LE(session)));
    at += statement.copy(written, at, timeMs, timeMs + TIME_BYTES);
    at += statement.copy(written, at, leafHash, leafHash + HASH_BYTES);
    at += statement.copy(written, at, lastBlockHash, lastBlockHash + HASH_BYTES);
    at = writeVarint(at, index);
    at = writeVarint(at, size);
    at = writePath(at, levels, index);
    at += ending.copy(written, at);
    return written.toString("base64url", 0, at);
  });
}

/** Every level of the tree, the leaves first; the last node of an odd level moves up unchanged. */
function treeLevels(leaves: HashText[]): HashText[][] {
  const levels = [leaves];
  for (let level = leaves; level.length > 1; ) {
    const above: HashText[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const right = level[i + 1];
      above.push(right === undefined ? level[i]! : nodeText(level[i]!, right));
    }
    levels.push(above);
    level = above;
  }
  return levels;
}

function writePath(start: number, levels: readonly HashText[][], index: number): number {
  let at = start;
  let place = index;
  for (const level of levels) {
    const sibling = level[place % 2 === 0 ? place + 1 : place - 1];
    if (sibling !== undefined) at += written.write(sibling, at, "latin1");
    place = Math.floor(place / 2);
  }
  return at;
}

/** As the protocol's `varint`. */
function writeVarint(start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) written[at++] = (rest % 128) + 128;
  written[at++] = rest;
  return at;
}
