// Confirms the evidence of a broken promise, written from docs/receipts.md alone: nothing of Perpgate is
// imported, so that it can be compared with what Perpgate's own judge says.
//
//   node examples/check-evidence.mjs order.evidence "venue.example/log+c01c9b6b+AYqI…"
//
// Prints "proven: absent" (or elsewhere, different, forked) and ends with code 0, or says what does not
// hold and ends with code 1. Pass the log key that you pinned.

import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";

const [file, pinnedKey] = process.argv.slice(2);
const keyParts = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(pinnedKey ?? "");
if (keyParts === null) {
  console.log("usage: node check-evidence.mjs EVIDENCE LOGKEY");
  process.exit(1);
}
const evidence = JSON.parse(readFileSync(file, "utf8"));

const hex = (text) => Buffer.from(text.replace(/^0x/, ""), "hex");
const base64 = (text) => Buffer.from(text, "base64");
const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const leafHash = (leaf) => sha256(Buffer.of(0), leaf);
const nodeHash = (left, right) => sha256(Buffer.of(1), left, right);

function need(condition, what) {
  if (condition) return;
  console.log(`not proven: ${what}`);
  process.exit(1);
}

function isSigned(publicKey, message, signature) {
  const der = Buffer.concat([hex("302a300506032b6570032100"), publicKey]);
  return verify(
    null,
    message,
    createPublicKey({ key: der, format: "der", type: "spki" }),
    signature,
  );
}

function u64(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** RFC 6962, from a leaf's hash and its path. */
function rootFrom(hash, index, size, path) {
  let [node, place, last] = [hash, index, size - 1];
  for (const sibling of path) {
    if (last === 0) return undefined;
    while (place % 2 === 0 && place === last) [place, last] = [place / 2, Math.floor(last / 2)];
    node = place % 2 === 1 ? nodeHash(sibling, node) : nodeHash(node, sibling);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  while (last > 0 && place === last && place % 2 === 0) {
    [place, last] = [place / 2, Math.floor(last / 2)];
  }
  return last === 0 ? node : undefined;
}

function treeRoot(hashes) {
  if (hashes.length === 0) return sha256();
  if (hashes.length === 1) return hashes[0];
  let split = 1;
  while (split * 2 < hashes.length) split *= 2;
  return nodeHash(treeRoot(hashes.slice(0, split)), treeRoot(hashes.slice(split)));
}

// The log's key: name+id+base64(1 || key).
const [name, keyId, material] = keyParts.slice(1);
const logKey = base64(material).subarray(1);
need(evidence.receipt.logKey === pinnedKey, "the receipt names another log key");

function checkpointOf(note) {
  const split = note.lastIndexOf("\n\n");
  const text = note.slice(0, split + 1);
  const lines = note.slice(split + 2).split("\n");
  const own = lines
    .filter((line) => line.startsWith(`— ${name} `))
    .map((line) => base64(line.split(" ")[2]))
    .filter((bytes) => bytes.subarray(0, 4).toString("hex") === keyId);
  need(own.length > 0, "the log did not sign the checkpoint");
  for (const bytes of own) {
    need(isSigned(logKey, Buffer.from(text), bytes.subarray(4)), "the checkpoint's signature");
  }
  const [origin, size, root] = text.split("\n");
  need(origin === name, "the checkpoint is of another log");
  return { size: Number(size), root: base64(root) };
}

/** The statement of the receipt, after all of its signatures were checked. */
function statementOf({ venueId, address, position, block, requestHash, receipt }) {
  const bytes = Buffer.from(receipt, "base64url");
  let at = 0;
  const take = (length) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  const varint = () => {
    let [value, factor] = [0, 1];
    for (;;) {
      need(at < bytes.length, "the receipt is cut");
      const byte = bytes[at++];
      value += (byte % 128) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  };
  need(take(1)[0] === 1, "the version of the receipt");
  const session = varint();
  const time = Buffer.concat([take(6), Buffer.alloc(2)]);
  const leaf = take(32);
  const lastBlockHash = take(32);
  const [index, size] = [varint(), varint()];
  const path = [];
  while (bytes.length - at > 64 + 32 + 64) path.push(take(32));
  const [signature, receiptKey, certificate] = [take(64), take(32), take(64)];
  const certified = Buffer.concat([Buffer.from("\0PGRKEY1"), hex(venueId), receiptKey]);
  need(isSigned(logKey, certified, certificate), "the certificate of the receipt key");
  const statement = Buffer.concat([
    Buffer.from("PGRCPT01"),
    hex(venueId),
    u64(position),
    hex(requestHash),
    hex(address),
    u64(session),
    leaf,
    u64(block),
    time,
    lastBlockHash,
  ]);
  const root = rootFrom(leafHash(statement), index, size, path);
  need(root !== undefined, "the path of the receipt");
  const signed = Buffer.concat([Buffer.from("PGROOT01"), u64(size), root]);
  need(isSigned(receiptKey, signed, signature), "the signature of the receipt");
  return { position, block, leaf, lastBlockHash };
}

/** The block's fields, after it was found under the checkpoint. */
function blockOf({ header: text, path, list }, { size, root }) {
  const header = hex(text);
  const count = (at) => Number(header.readBigUInt64LE(at));
  need(header.length === 176 && header.toString("latin1", 0, 8) === "PGBLOCK2", "the header");
  const number = count(8);
  const found = rootFrom(leafHash(header), number - 1, size, path.map(base64));
  need(found?.equals(root), "the block is not under the checkpoint");
  const block = { number, hash: sha256(header), acks: undefined };
  if (list === undefined) return block;
  const bytes = base64(list);
  need(sha256(bytes).equals(header.subarray(104, 136)), "the list is not the block's");
  const acks = [];
  for (let at = 0; at < bytes.length; at += 40) {
    acks.push({
      position: Number(bytes.readBigUInt64LE(at)),
      leaf: bytes.subarray(at + 8, at + 40),
    });
  }
  need(count(64) === acks.length, "the number of acknowledgements");
  need(treeRoot(acks.map(({ leaf }) => leaf)).equals(header.subarray(72, 104)), "their root");
  return { ...block, acks };
}

/** Both roots from the hashes of a consistency proof that begins with the first tree's own part. */
function consistencyRoots(first, second, hashes) {
  need(first > 0 && first <= second, "the other checkpoint is empty or larger");
  need(hashes.length > 0 && hashes.every(({ length }) => length === 32), "the hashes");
  if (first === second) {
    need(hashes.length === 1, "the hashes between the checkpoints");
    return [hashes[0], hashes[0]];
  }
  let [place, last] = [first - 1, second - 1];
  while (place % 2 === 1) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  let [one, two] = [hashes[0], hashes[0]];
  for (const hash of hashes.slice(1)) {
    need(last !== 0, "the hashes between the checkpoints");
    if (place % 2 === 1 || place === last) {
      [one, two] = [nodeHash(hash, one), nodeHash(hash, two)];
      while (place % 2 === 0 && place !== 0) [place, last] = [place / 2, Math.floor(last / 2)];
    } else two = nodeHash(two, hash);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  need(last === 0, "the hashes between the checkpoints");
  return [one, two];
}

need(evidence.format === "perpgate-evidence/1", "the format");
const statement = statementOf(evidence.receipt);
const checkpoint = checkpointOf(evidence.checkpoint);
const { verdict } = evidence;
if (evidence.other !== undefined) {
  need(verdict === "forked", "two checkpoints prove a fork alone");
  const other = checkpointOf(evidence.other.checkpoint);
  const hashes = evidence.other.hashes.map(base64);
  const [first, second] = consistencyRoots(other.size, checkpoint.size, hashes);
  need(second.equals(checkpoint.root), "the hashes are not the checkpoint's");
  need(!first.equals(other.root), "the checkpoints agree");
} else {
  const block = blockOf(evidence.block, checkpoint);
  if (verdict === "forked") {
    need(block.number === statement.block - 1, "the block before the receipt's");
    need(!block.hash.equals(statement.lastBlockHash), "the block is the one of the receipt");
  } else {
    need(block.acks !== undefined, "the list of acknowledgements");
    const isExpected = block.number === statement.block;
    const here = block.acks.find(({ position }) => position === statement.position);
    const same = block.acks.find(({ leaf }) => leaf.equals(statement.leaf));
    if (verdict === "absent") need(isExpected && here === undefined, "it is there");
    else if (verdict === "different") {
      need(isExpected && here !== undefined && !here.leaf.equals(statement.leaf), "it is the same");
    } else if (verdict === "elsewhere") {
      need(same !== undefined, "it is not there");
      need(!isExpected || same.position !== statement.position, "it is where it was promised");
    } else need(false, "the verdict is not known");
  }
}
console.log(`proven: ${verdict}`);
