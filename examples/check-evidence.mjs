// Confirms the evidence of a broken promise, written from docs/receipts.md alone: nothing of Perpgate is
// imported, so that it can be compared with what Perpgate's own judge says.
//
//   node examples/check-evidence.mjs broken.json "venue.example/log+c01c9b6b+AYqI…"
//   node examples/check-evidence.mjs broken.json LOGKEY --witness "witness.example/w1+…" --require 1
//
// Prints "proven: absent" (or elsewhere, different, forked, misdated, twice) and ends with code 0, or says
// what does not hold and ends with code 1. Pass the log key that you pinned. With keys of witnesses, a
// checkpoint counts only if the required number of them, by default all, have cosigned it.

import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

const USAGE = "usage: node check-evidence.mjs EVIDENCE LOGKEY [--witness KEY]… [--require N]";

class NotProven extends Error {}

function need(condition, what) {
  if (!condition) throw new NotProven(what);
}

// --- JSON that has one reading -----------------------------------------------------------------------

/** Objects become maps. No field twice; no number but an integer from 0 to 2^53 − 1 in plain digits. */
function parseJson(text) {
  let at = 0;
  const match = (pattern) => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    if (found !== undefined) at += found.length;
    return found;
  };
  const skip = () => match(/[ \t\r\n]*/y);
  const take = (character) => {
    skip();
    if (text[at] !== character) return false;
    at++;
    return true;
  };
  const string = () => {
    skip();
    const literal = match(/"(?:[^"\\]|\\.)*"/y);
    need(literal !== undefined, `the file is not JSON at character ${at}`);
    return JSON.parse(literal);
  };
  const list = (close, item) => {
    if (take(close)) return;
    do item();
    while (take(","));
    need(take(close), `the file is not JSON at character ${at}`);
  };
  const value = (depth) => {
    need(depth < 8, "the file is nested too deeply");
    if (take("{")) {
      const fields = new Map();
      list("}", () => {
        const name = string();
        need(!fields.has(name), `the field ${name} is there twice`);
        need(take(":"), `the file is not JSON at character ${at}`);
        fields.set(name, value(depth + 1));
      });
      return fields;
    }
    if (take("[")) {
      const items = [];
      list("]", () => items.push(value(depth + 1)));
      return items;
    }
    skip();
    if (text[at] === '"') return string();
    const digits = match(/(?:0|[1-9][0-9]*)(?![0-9.eE])/y);
    need(digits !== undefined, "a value is neither a text nor a plain integer");
    need(Number.isSafeInteger(Number(digits)), "a number is not below 2^53");
    return Number(digits);
  };
  const result = value(0);
  skip();
  need(at === text.length, "something follows the JSON");
  return result;
}

/** The fields of an object that has these and no others, as an object; a name with ? may be left out. */
function fieldsOf(value, ...names) {
  need(value instanceof Map, "an object is missing");
  const known = new Map(names.map((name) => [name.replace("?", ""), name.endsWith("?")]));
  for (const name of value.keys()) need(known.has(name), `the field ${name} does not belong there`);
  for (const [name, isOptional] of known) {
    need(isOptional || value.has(name), `the field ${name} is missing`);
  }
  return Object.fromEntries(value);
}

// --- Bytes in their one encoding ---------------------------------------------------------------------

function text(value) {
  need(typeof value === "string", "a text has another type");
  return value;
}

function count(value) {
  need(typeof value === "number", "a number has another type");
  return value;
}

function hex(value, length, prefix = "") {
  need(text(value).startsWith(prefix), "a hex text lacks its beginning");
  const digits = value.slice(prefix.length);
  need(/^[0-9a-f]*$/.test(digits) && digits.length === 2 * length, "a hex text");
  return Buffer.from(digits, "hex");
}

function base64(value, encoding = "base64") {
  const bytes = Buffer.from(text(value), encoding);
  need(bytes.toString(encoding) === value, `a ${encoding} text has another encoding`);
  return bytes;
}

function hashes(value) {
  need(Array.isArray(value), "a list of hashes has another type");
  return value.map((each) => {
    const bytes = base64(each);
    need(bytes.length === 32, "a hash does not have 32 bytes");
    return bytes;
  });
}

function u64(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** A count of a binary format. */
function readU64(bytes, at) {
  const value = Number(bytes.readBigUInt64LE(at));
  need(Number.isSafeInteger(value), "a number is not below 2^53");
  return value;
}

// --- Hashes, trees and signatures --------------------------------------------------------------------

const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const leafHash = (leaf) => sha256(Buffer.of(0), leaf);
const nodeHash = (left, right) => sha256(Buffer.of(1), left, right);

function treeRoot(leaves) {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0];
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return nodeHash(treeRoot(leaves.slice(0, split)), treeRoot(leaves.slice(split)));
}

/** RFC 9162, section 2.1.3.2, without the comparison. */
function rootFrom(hash, index, size, path) {
  need(index >= 0 && index < size, "there is no such leaf in the tree");
  let [node, place, last] = [hash, BigInt(index), BigInt(size - 1)];
  for (const sibling of path) {
    need(last > 0n, "a path is too long");
    if (place % 2n === 1n || place === last) {
      node = nodeHash(sibling, node);
      while (place % 2n === 0n && place !== 0n) [place, last] = [place >> 1n, last >> 1n];
    } else node = nodeHash(node, sibling);
    [place, last] = [place >> 1n, last >> 1n];
  }
  need(last === 0n, "a path is too short");
  return node;
}

/** Both roots from the hashes of a consistency proof that begins with the first tree's own part. */
function consistencyRoots(first, second, path) {
  need(first > 0 && first <= second, "the other checkpoint is empty or larger");
  need(path.length > 0, "there are no hashes between the checkpoints");
  let [place, last] = [BigInt(first - 1), BigInt(second - 1)];
  while (place % 2n === 1n) [place, last] = [place >> 1n, last >> 1n];
  let [one, two] = [path[0], path[0]];
  if (first === second) last = 0n;
  for (const hash of path.slice(1)) {
    need(last !== 0n, "there are too many hashes between the checkpoints");
    if (place % 2n === 1n || place === last) {
      [one, two] = [nodeHash(hash, one), nodeHash(hash, two)];
      while (place % 2n === 0n && place !== 0n) [place, last] = [place >> 1n, last >> 1n];
    } else two = nodeHash(two, hash);
    [place, last] = [place >> 1n, last >> 1n];
  }
  need(last === 0n, "there are too few hashes between the checkpoints");
  return [one, two];
}

const PRIME = 2n ** 255n - 19n;
/** y of the points of small order: under such a key anyone can sign. */
const SMALL_ORDER = new Set([
  0n,
  1n,
  PRIME - 1n,
  2707385501144840649318225287225658788936804267575313519463743609750303402022n,
  55188659117513257062467267217118295137698188065244968500265048394206261417927n,
]);

function checkKey(publicKey, what) {
  need(publicKey.length === 32, `${what} does not have 32 bytes`);
  const y = yOf(publicKey);
  need(y < PRIME && !SMALL_ORDER.has(y), `${what} is one under which anyone can sign`);
}

/** y of an encoded point, without the sign of x. */
function yOf(point) {
  return BigInt(`0x${Buffer.from(point).reverse().toString("hex")}`) % 2n ** 255n;
}

function isSigned(publicKey, message, signature) {
  if (signature.length !== 64 || SMALL_ORDER.has(yOf(signature.subarray(0, 32)))) return false;
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), publicKey]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return verify(null, message, key, signature);
}

/** A verifier key: name+id+base64(algorithm || key). */
function verifierKey(given, algorithm) {
  const [, name, id, material] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(given) ?? [];
  need(name !== undefined, `${given} is no verifier key`);
  const bytes = base64(material);
  need(bytes[0] === algorithm, `${given} is the key of something else`);
  const publicKey = bytes.subarray(1);
  checkKey(publicKey, given);
  const hash = sha256(Buffer.from(`${name}\n`), bytes);
  need(hash.subarray(0, 4).toString("hex") === id, `${given} has another id`);
  return { name, id, publicKey, text: given };
}

// --- What is signed ----------------------------------------------------------------------------------

/** The signatures of a note by a key. */
function signaturesBy(lines, { name, id }) {
  return lines
    .filter((line) => line.name === name && line.bytes.subarray(0, 4).toString("hex") === id)
    .map(({ bytes }) => bytes.subarray(4));
}

function isCosigned({ body, lines }, witness) {
  const own = signaturesBy(lines, witness);
  for (const bytes of own) {
    need(bytes.length === 72, `the cosignature of ${witness.name}`);
    const message = `cosignature/v1\ntime ${bytes.readBigUInt64BE(0)}\n${body}`;
    const isValid = isSigned(witness.publicKey, Buffer.from(message), bytes.subarray(8));
    need(isValid, `the cosignature of ${witness.name}`);
  }
  return own.length > 0;
}

/** The text and the signature lines of a signed note. */
function noteOf(note) {
  const split = text(note).lastIndexOf("\n\n");
  need(split > 0 && note.endsWith("\n"), "something is no signed note");
  const isPlain = [...note].every((character) => character >= " " || character === "\n");
  need(isPlain, "a note has control characters");
  const body = note.slice(0, split + 1);
  const lines = note
    .slice(split + 2, -1)
    .split("\n")
    .map((line) => {
      const [, name, signature] = /^— (\S+) (\S+)$/u.exec(line) ?? [];
      need(name !== undefined, "a signature line of a note");
      return { name, bytes: base64(signature) };
    });
  need(lines.length <= 64, "a note has too many signatures");
  return { body, lines };
}

function isSignedNote({ body, lines }, key) {
  const own = signaturesBy(lines, key);
  return own.length > 0 && own.every((bytes) => isSigned(key.publicKey, Buffer.from(body), bytes));
}

/** The log's keys: the pinned one, and those before and after it by notes that both keys signed. */
function chainOf(pinned, notes) {
  need(Array.isArray(notes) && notes.length <= 16, "the successors of the log key");
  const [after, before] = [new Map(), new Map()];
  for (const each of notes) {
    const note = noteOf(each);
    const [first, old, next, ...rest] = note.body.split("\n");
    const isRead = first === "perpgate log successor v1" && rest.length === 1 && rest[0] === "";
    need(isRead, "a successor note");
    const [from, to] = [verifierKey(old, 1), verifierKey(next, 1)];
    need(isSignedNote(note, from) && isSignedNote(note, to), "a successor note's signatures");
    need((after.get(old) ?? to).text === next, "a log key has two successors");
    need((before.get(next) ?? from).text === old, "a log key succeeds two");
    after.set(old, to);
    before.set(next, from);
  }
  const chain = [pinned];
  for (let key = before.get(pinned.text); key !== undefined; key = before.get(key.text)) {
    need(key.text !== pinned.text, "the successors form a circle");
    chain.push(key);
  }
  for (let key = after.get(pinned.text); key !== undefined; key = after.get(key.text)) {
    chain.push(key);
  }
  return chain;
}

/** A checkpoint that a key of the log and enough witnesses have signed. */
function checkpointOf(text, { logKeys, witnesses, required }) {
  const note = noteOf(text);
  const { body, lines } = note;
  const cosigned = witnesses.filter((witness) => isCosigned({ body, lines }, witness)).length;
  need(cosigned >= required, `the checkpoint has ${cosigned} of ${required} cosignatures`);
  const [origin, size, root] = body.split("\n");
  const isOwn = logKeys.some((key) => key.name === origin && isSignedNote(note, key));
  need(isOwn, "no key of the log signed the checkpoint");
  need(/^(0|[1-9][0-9]{0,15})$/.test(size) && Number.isSafeInteger(Number(size)), "its size");
  const rootHash = base64(root);
  need(rootHash.length === 32, "the checkpoint's root does not have 32 bytes");
  return { size: Number(size), root: rootHash };
}

const RECEIPT_FIELDS = "format logKey venueId address position block requestHash receipt".split(
  " ",
);

/** The statement of a receipt, after all of its signatures were checked; with what its file adds. */
function statementOf(value, logKeys, ...more) {
  const file = fieldsOf(value, ...RECEIPT_FIELDS, ...more);
  need(file.format === "perpgate-receipt/1", "the format of the receipt");
  const logKey = logKeys.find((key) => key.text === file.logKey);
  need(logKey !== undefined, "the receipt names another log key");
  const venueId = hex(file.venueId, 32);
  const requestHash = hex(file.requestHash, 32);
  const address = hex(file.address, 20, "0x");
  const [position, block] = [count(file.position), count(file.block)];
  const bytes = base64(file.receipt, "base64url");
  let at = 0;
  const take = (length) => {
    need(at + length <= bytes.length, "the receipt is cut");
    at += length;
    return bytes.subarray(at - length, at);
  };
  const varint = () => {
    let [value, factor] = [0, 1];
    for (;;) {
      const [byte] = take(1);
      value += (byte % 128) * factor;
      need(Number.isSafeInteger(value), "a number of the receipt is not below 2^53");
      need(byte !== 0 || factor === 1, "a number of the receipt is longer than it need be");
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
  need(at === bytes.length, "something follows the receipt");
  checkKey(receiptKey, "the receipt key");
  const certified = Buffer.concat([Buffer.from("\0PGRKEY1"), venueId, receiptKey]);
  need(isSigned(logKey.publicKey, certified, certificate), "the certificate of the receipt key");
  const statement = Buffer.concat([
    Buffer.from("PGRCPT01"),
    venueId,
    u64(position),
    requestHash,
    address,
    u64(session),
    leaf,
    u64(block),
    time,
    lastBlockHash,
  ]);
  const root = rootFrom(leafHash(statement), index, size, path);
  const signed = Buffer.concat([Buffer.from("PGROOT01"), u64(size), root]);
  need(isSigned(receiptKey, signed, signature), "the signature of the receipt");
  const timeMs = readU64(time, 0);
  return { venueId, position, block, requestHash, session, leaf, lastBlockHash, timeMs, file };
}

/** The block's fields, after it was found under the checkpoint. */
function blockOf(value, { size, root }, hasList) {
  const fields = fieldsOf(value, "header", "path", ...(hasList ? ["list"] : []));
  const header = hex(fields.header, 176);
  need(header.toString("latin1", 0, 8) === "PGBLOCK2", "the header");
  const number = readU64(header, 8);
  const found = rootFrom(leafHash(header), number - 1, size, hashes(fields.path));
  need(found.equals(root), "the block is not under the checkpoint");
  const block = { number, hash: sha256(header), timeMs: readU64(header, 168), acks: [] };
  if (!hasList) return block;
  const bytes = base64(fields.list);
  need(sha256(bytes).equals(header.subarray(104, 136)), "the list is not the block's");
  need(bytes.length % 40 === 0, "the list is cut");
  for (let at = 0; at < bytes.length; at += 40) {
    block.acks.push({ position: readU64(bytes, at), leaf: bytes.subarray(at + 8, at + 40) });
  }
  const { acks } = block;
  const rises = acks.every(({ position }, i) => position > (acks[i - 1]?.position ?? 0));
  need(rises, "the positions of the list do not rise");
  need(readU64(header, 64) === acks.length, "the number of acknowledgements");
  need(treeRoot(acks.map(({ leaf }) => leaf)).equals(header.subarray(72, 104)), "their root");
  return block;
}

// --- The verdicts ------------------------------------------------------------------------------------

/** The nonce in the leaf of a receipt: the eighth double, after kind 18 and six fields. */
function nonceOf({ leaf, file }) {
  const bytes = base64(file.leaf, "base64url");
  need(leafHash(bytes).equals(leaf), "the leaf is not the receipt's");
  need(bytes.length === 144 || bytes.length === 192, "the leaf has another length");
  need(bytes.readDoubleLE(0) === 18, "the leaf is no acknowledgement");
  const nonce = bytes.readDoubleLE(56);
  need(Number.isSafeInteger(nonce) && nonce >= 0, "the leaf's nonce");
  return nonce;
}

function checkTwice(evidence, { logKeys }) {
  const { receipt, second } = fieldsOf(evidence, "format", "verdict", "receipt", "second");
  const one = statementOf(receipt, logKeys, "leaf", "request?");
  const other = statementOf(second, logKeys, "leaf");
  need(one.venueId.equals(other.venueId), "the receipts are of two venues");
  need(one.session === other.session, "the receipts are of two sessions");
  need(nonceOf(one) === nonceOf(other), "the receipts are for two nonces");
  const { request } = one.file;
  if (request !== undefined) {
    need(sha256(Buffer.from(text(request))).equals(one.requestHash), "the request is another one");
  }
  const distance = Math.abs(one.position - other.position);
  need(distance > 0, "the receipts are of one position");
  if (!one.requestHash.equals(other.requestHash)) return;
  need(request !== undefined, "the request is missing");
  const { operations } = JSON.parse(request);
  const atLeast = Array.isArray(operations) ? operations.length : 1;
  need(distance >= atLeast, "the receipts are of two operations of one batch");
}

function checkFork(evidence, trust) {
  const fields = fieldsOf(evidence, "format", "verdict", "receipt", "checkpoint", "other");
  const { checkpoint, hashes: between } = fieldsOf(fields.other, "checkpoint", "hashes");
  statementOf(fields.receipt, trust.logKeys);
  const larger = checkpointOf(fields.checkpoint, trust);
  const other = checkpointOf(checkpoint, trust);
  const [first, second] = consistencyRoots(other.size, larger.size, hashes(between));
  need(second.equals(larger.root), "the hashes are not the checkpoint's");
  need(!first.equals(other.root), "the checkpoints agree");
}

function checkBlock(evidence, verdict, trust) {
  const fields = fieldsOf(evidence, "format", "verdict", "receipt", "checkpoint", "block");
  const promised = statementOf(fields.receipt, trust.logKeys);
  const checkpoint = checkpointOf(fields.checkpoint, trust);
  const hasList = ["absent", "different", "elsewhere"].includes(verdict);
  const block = blockOf(fields.block, checkpoint, hasList);
  const isExpected = block.number === promised.block;
  const isBefore = block.number === promised.block - 1;
  const here = block.acks.find(({ position }) => position === promised.position);
  const same = block.acks.find(({ leaf }) => leaf.equals(promised.leaf));
  if (verdict === "forked") {
    need(isBefore, "the block before the receipt's");
    need(!block.hash.equals(promised.lastBlockHash), "the block is the one of the receipt");
  } else if (verdict === "misdated") {
    const isLate = isExpected && promised.timeMs > block.timeMs;
    need(isLate || (isBefore && promised.timeMs < block.timeMs), "the time is between the blocks'");
  } else if (verdict === "absent") {
    need(isExpected && here === undefined, "it is there");
  } else if (verdict === "different") {
    const isOther = isExpected && here !== undefined && !here.leaf.equals(promised.leaf);
    need(isOther, "it is the same");
  } else if (verdict === "elsewhere") {
    need(same !== undefined, "it is not there");
    need(!isExpected || same.position !== promised.position, "it is where it was promised");
  } else need(false, "the verdict is not known");
}

/** The verdict that the text proves. */
function proven(json, { logKey, ...policy }) {
  const evidence = parseJson(json);
  need(evidence instanceof Map, "the file has no object");
  need(evidence.get("format") === "perpgate-evidence/1", "the format");
  const logKeys = chainOf(logKey, evidence.has("successors") ? evidence.get("successors") : []);
  // The other fields depend on the verdict.
  evidence.delete("successors");
  const trust = { ...policy, logKeys };
  const verdict = evidence.get("verdict");
  if (verdict === "twice") checkTwice(evidence, trust);
  else if (verdict === "forked" && evidence.has("other")) checkFork(evidence, trust);
  else checkBlock(evidence, verdict, trust);
  return verdict;
}

/** The log's key and the policy from the arguments. */
function trustOf([key, ...options]) {
  const witnesses = [];
  let required;
  for (let i = 0; i < options.length; i += 2) {
    if (options[i] === "--witness") witnesses.push(verifierKey(options[i + 1] ?? "", 4));
    else if (options[i] === "--require" && /^[0-9]{1,3}$/.test(options[i + 1] ?? "")) {
      required = Number(options[i + 1]);
    } else need(false, USAGE);
  }
  const distinct = new Set(
    witnesses.flatMap(({ name, publicKey: k }) => [name, k.toString("hex")]),
  );
  need(distinct.size === 2 * witnesses.length, "two of the witnesses are one");
  need((required ?? 0) <= witnesses.length, "more cosignatures are required than there are keys");
  return {
    logKey: verifierKey(key.trim(), 1),
    witnesses,
    required: required ?? witnesses.length,
  };
}

/** What is printed about the text of evidence: `options` are the arguments after the file. */
export function confirm(json, options) {
  try {
    return `proven: ${proven(json, trustOf(options))}`;
  } catch (error) {
    return `not proven: ${error instanceof Error ? error.message : error}`;
  }
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [file, ...options] = process.argv.slice(2);
  const line = options.length === 0 ? USAGE : confirm(readFileSync(file, "utf8"), options);
  console.log(line);
  process.exitCode = line.startsWith("proven: ") ? 0 : 1;
}
