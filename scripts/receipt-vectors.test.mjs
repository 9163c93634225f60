import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { receiptVectors, VECTORS_FILE } from "./receipt-vectors.mjs";

const vectors = JSON.parse(readFileSync(VECTORS_FILE, "utf8"));
const bytes = (hex) => Buffer.from(hex, "hex");
const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const leafHash = (leaf) => sha256(Buffer.of(0), leaf);
const nodeHash = (left, right) => sha256(Buffer.of(1), left, right);

function isSigned(publicKey, message, signature) {
  const der = Buffer.concat([bytes("302a300506032b6570032100"), publicKey]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return verify(null, message, key, signature);
}

test("receipt vectors: the file is what the code makes", () => {
  expect(receiptVectors()).toEqual(vectors);
});

test("receipt vectors: hold by the documented formats alone", () => {
  const { logKey, receiptKey, batch, block, log } = vectors;
  const certified = Buffer.concat([
    Buffer.from("\0PGRKEY1"),
    bytes(batch.receipts[0].statement.venueId),
    bytes(receiptKey.publicKey),
  ]);
  expect(certified.toString("hex")).toBe(receiptKey.certifiedBytes);
  expect(isSigned(bytes(logKey.publicKey), certified, bytes(receiptKey.certificate))).toBe(true);
  const u64 = (value) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigUInt64LE(BigInt(value));
    return buffer;
  };
  const leaves = batch.receipts.map(({ statement: s, ...made }) => {
    const statement = Buffer.concat([
      Buffer.from("PGRCPT01"),
      bytes(s.venueId),
      u64(s.position),
      bytes(s.requestHash),
      bytes(s.address),
      u64(s.session),
      bytes(s.leafHash),
      u64(s.block),
      u64(s.timeMs),
      bytes(s.lastBlockHash),
    ]);
    expect(statement.toString("hex")).toBe(made.statementBytes);
    expect(leafHash(statement).toString("hex")).toBe(made.statementLeafHash);
    return leafHash(statement);
  });
  const root = nodeHash(nodeHash(leaves[0], leaves[1]), leaves[2]);
  expect(root.toString("hex")).toBe(batch.root);
  const signed = Buffer.concat([Buffer.from("PGROOT01"), u64(3), root]);
  expect(isSigned(bytes(receiptKey.publicKey), signed, bytes(batch.signature))).toBe(true);
  // The third receipt: version, session 2^32 + 7 as a varint, time, two hashes, index, size, path.
  const third = Buffer.from(batch.receipts[2].receipt, "base64url");
  expect(third.subarray(0, 6).toString("hex")).toBe("018780808010");
  expect(third.subarray(6 + 6 + 64, 6 + 6 + 64 + 2).toString("hex")).toBe("0203");
  const path = third.subarray(78, 78 + 32);
  expect(path.equals(nodeHash(leaves[0], leaves[1]))).toBe(true);
  expect(third.subarray(110).toString("hex")).toBe(
    batch.signature + receiptKey.publicKey + receiptKey.certificate,
  );
  const header = bytes(block.header);
  expect(sha256(bytes(block.ackList)).toString("hex")).toBe(block.ackListHash);
  expect(header.subarray(104, 136).toString("hex")).toBe(block.ackListHash);
  expect(header.subarray(72, 104).toString("hex")).toBe(block.acksRoot);
  const logRoot = nodeHash(...log.entries.map((entry) => leafHash(bytes(entry))));
  expect(logRoot.toString("hex")).toBe(log.root);
  const [text, line] = log.checkpoint.split("\n\n");
  const signature = Buffer.from(line.trim().split(" ")[2], "base64");
  expect(isSigned(bytes(logKey.publicKey), Buffer.from(`${text}\n`), signature.subarray(4))).toBe(
    true,
  );
  expect(text.split("\n")[2]).toBe(logRoot.toString("base64"));
});
