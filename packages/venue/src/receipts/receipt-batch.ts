/** Signs the statements of one batch: one tree, one signature, a receipt for each. */
import type { KeyObject } from "node:crypto";
import { sign } from "node:crypto";
import { STATEMENT, signedRoot, varint } from "@perpgate/protocol/receipts";
import { leafHash, nodeHash } from "../blocks/merkle.js";

/** What every receipt of a key ends with, and what signs. */
export interface ReceiptSigner {
  readonly privateKey: KeyObject;
  readonly publicKey: Uint8Array;
  readonly certificate: Uint8Array;
}

const HASH_BYTES = 32;
const VERSION = 1;
const TIME_BYTES = 6;

/**
 * The receipts as base64url, in order. The bytes are those of the protocol's `encodeReceipt`; this one
 * makes all receipts of a batch from one tree.
 */
export function signBatch(statements: readonly Buffer[], signer: ReceiptSigner): string[] {
  const levels = treeLevels(statements.map(leafHash));
  const root = levels.at(-1)![0]!;
  const size = statements.length;
  const signature = sign(null, signedRoot(size, root), signer.privateKey);
  const ending = Buffer.concat([signature, signer.publicKey, signer.certificate]);
  return statements.map((statement, index) => {
    const session = Number(statement.readBigUInt64LE(STATEMENT.session));
    const { leafHash: leafAt, timeMs, lastBlockHash } = STATEMENT;
    return Buffer.concat([
      Buffer.of(VERSION),
      varint(session),
      statement.subarray(timeMs, timeMs + TIME_BYTES),
      statement.subarray(leafAt, leafAt + HASH_BYTES),
      statement.subarray(lastBlockHash, lastBlockHash + HASH_BYTES),
      varint(index),
      varint(size),
      ...pathOf(levels, index),
      ending,
    ]).toString("base64url");
  });
}

/** Every level of the tree, the leaves first; the last node of an odd level moves up unchanged. */
function treeLevels(leaves: readonly Buffer[]): Buffer[][] {
  const levels = [[...leaves]];
  for (let level = levels[0]!; level.length > 1; ) {
    const above: Buffer[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const right = level[i + 1];
      above.push(right === undefined ? level[i]! : nodeHash(level[i]!, right));
    }
    levels.push(above);
    level = above;
  }
  return levels;
}

function pathOf(levels: readonly Buffer[][], index: number): Buffer[] {
  const path: Buffer[] = [];
  let place = index;
  for (const level of levels.slice(0, -1)) {
    const sibling = level[place % 2 === 0 ? place + 1 : place - 1];
    if (sibling !== undefined) path.push(sibling);
    place = Math.floor(place / 2);
  }
  return path;
}
