import { randomBytes } from "node:crypto";
import {
  encodeReceipt,
  rootOfLeafHashes,
  signedRoot,
  statementBytes,
} from "@perpgate/protocol/receipts";
import { expect, test } from "vitest";
import { leafHash, MerkleTree } from "../blocks/merkle.js";
import { signBatch } from "./receipt-batch.js";
import { openSslSigner, receiptSigner, sodiumSigner } from "./receipt-signer.js";

const seed = randomBytes(32);
const signer = receiptSigner(seed, () => randomBytes(64));

test("libsodium makes the signatures that OpenSSL makes", () => {
  const [sodium, openSsl] = [sodiumSigner()(seed), openSslSigner(seed)];
  for (const length of [0, 1, 44, 1_000]) {
    const message = randomBytes(length);
    expect(sodium(message)).toEqual(openSsl(message));
  }
});

/** Numbers that take one byte to eight. */
function statementOf(i: number) {
  return {
    venueId: randomBytes(32),
    position: 1 + i,
    requestHash: randomBytes(32),
    address: randomBytes(20),
    session: Math.min(37 ** (i % 11), Number.MAX_SAFE_INTEGER),
    leafHash: randomBytes(32),
    block: i,
    timeMs: 1_700_000_000_000 + i,
    lastBlockHash: randomBytes(32),
  };
}

test.each([1, 2, 3, 7, 16, 129, 300])(
  "a batch of %d: the receipts that the protocol encodes",
  (size) => {
    const statements = Array.from({ length: size }, (_, i) => statementOf(i));
    const leaves = statements.map((statement) => Buffer.from(statementBytes(statement)));
    const tree = new MerkleTree();
    for (const leaf of leaves) tree.add(leaf);
    const root = rootOfLeafHashes(leaves.map((leaf) => leafHash(leaf)));
    const signature = openSslSigner(seed)(signedRoot(size, root));
    const expected = statements.map((statement, index) =>
      encodeReceipt({
        ...{ statement, index, size, path: tree.path(index), signature },
        ...{ receiptKey: signer.publicKey, certificate: signer.certificate },
      }),
    );
    expect(signBatch(leaves, signer)).toEqual(expected);
  },
);
