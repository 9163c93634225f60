/**
 * The tree of one commitment on the disk, so that the path of an account costs a few short reads. The order of its
 * leaves and their salts are HMACs of address and position with a key of the venue, new for each tree: neighbours
 * learn nothing over time. The salts are in the file, so that it holds when the venue has another key.
 *
 *    0  u32  magic "PGR2"        24  f64  leaves
 *    8  f64  position            32  f64  sum
 *   16  f64  time                40  root, 32 bytes
 *   72  which key: the first 8 bytes of its SHA-256
 *   80  20 × leaves   each leaf's place in the tree (u32) and its salt, in the order of the liabilities
 *       40 × nodes    hash and f64 sum of each node, the leaves first, then level by level
 *
 * Little-endian.
 */
import { createHmac, hash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readSync, renameSync, writeSync } from "node:fs";
import { isNotThere } from "@perpgate/journal";
import { SALT_BYTES, sumLeafBytes, sumNodeBytes } from "@perpgate/protocol/receipts";
import { sha256 } from "../blocks/merkle.js";
import { type Liabilities, sumOf } from "./liabilities.js";

const MAGIC = 0x32524750;
const ROOT_AT = 40;
const KEY_AT = 72;
const HEAD_BYTES = 80;
const PLACE_BYTES = 4;
const LEAF_BYTES = PLACE_BYTES + SALT_BYTES;
const HASH_BYTES = 32;
const NODE_BYTES = HASH_BYTES + 8;

export interface TreeHead {
  readonly position: number;
  readonly timeMs: number;
  readonly leaves: number;
  readonly sumMicros: number;
  /** 64 lower-case hex digits. */
  readonly root: string;
  /** Of the key of order and salts: `keyIdOf`. */
  readonly keyId: string;
}

/** 16 lower-case hex digits. */
export function keyIdOf(key: Uint8Array): string {
  return hash("sha256", key).slice(0, 16);
}

export interface AccountPath {
  readonly balanceMicros: number;
  readonly salt: Buffer;
  readonly path: readonly {
    readonly side: "left" | "right";
    readonly hash: string;
    readonly sumMicros: number;
  }[];
}

/** The first half is the leaf's salt, the second its place among the others. */
function leafSecret(key: Uint8Array, address: string, position: number): Buffer {
  const mac = createHmac("sha256", key);
  const name = Buffer.alloc(28);
  name.write(address, "hex");
  name.writeDoubleLE(position, 20);
  return mac.update(name).digest();
}

interface SumTree {
  /** 64 lower-case hex digits. */
  readonly root: string;
  /** Each leaf's place and salt, in the order of the liabilities. */
  readonly places: Buffer;
  readonly nodes: Buffer;
}

/** The tree of liabilities that have a sum. */
export function sumTreeOf(
  key: Uint8Array,
  position: number,
  { addresses, balances }: Liabilities,
): SumTree {
  const leaves = addresses.length;
  const secrets = addresses.map((address) => leafSecret(key, address, position));
  const order = secrets.map((_, i) => i);
  order.sort((a, b) => secrets[a]!.compare(secrets[b]!, SALT_BYTES, 32, SALT_BYTES, 32));
  const sizes = levelsOf(leaves);
  const nodes = Buffer.alloc(NODE_BYTES * sizes.reduce((sum, size) => sum + size, 0));
  const places = Buffer.alloc(LEAF_BYTES * leaves);
  for (const [place, i] of order.entries()) {
    const salt = secrets[i]!.subarray(0, SALT_BYTES);
    places.writeUInt32LE(place, LEAF_BYTES * i);
    places.set(salt, LEAF_BYTES * i + PLACE_BYTES);
    const leaf = sumLeafBytes(Buffer.from(addresses[i]!, "hex"), salt, balances[i]!);
    writeNode(nodes, place, sha256(leaf), balances[i]!);
  }
  let below = 0;
  for (const size of sizes.slice(0, -1)) {
    const above = below + size;
    for (let place = 0; place < size; place += 2) {
      const left = readNode(nodes, below + place);
      const right = place + 1 < size ? readNode(nodes, below + place + 1) : undefined;
      const node = right === undefined ? left : joined(left, right);
      writeNode(nodes, above + place / 2, node.hash, node.sumMicros);
    }
    below = above;
  }
  return { root: readNode(nodes, below).hash.toString("hex"), places, nodes };
}

/** Builds and writes the tree; undefined if a balance or the sum has no place in one. */
export function writeSumTree(
  path: string,
  key: Uint8Array,
  at: { readonly position: number; readonly timeMs: number },
  liabilities: Liabilities,
): TreeHead | undefined {
  const sumMicros = sumOf(liabilities);
  if (sumMicros === undefined) return undefined;
  const leaves = liabilities.addresses.length;
  const { root, places, nodes } = sumTreeOf(key, at.position, liabilities);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(MAGIC, 0);
  for (const [i, word] of [at.position, at.timeMs, leaves, sumMicros].entries()) {
    head.writeDoubleLE(word, 8 + 8 * i);
  }
  const keyId = keyIdOf(key);
  head.write(root, ROOT_AT, "hex");
  head.write(keyId, KEY_AT, "hex");
  writeDurably(path, [head, places, nodes]);
  return { ...at, leaves, sumMicros, root, keyId };
}

/** Of a file that is whole; undefined for another. */
export function readTreeHead(path: string): TreeHead | undefined {
  return withFile(path, (file) => headIn(file));
}

/** The path of the leaf with this number in the order of the liabilities; undefined if there is none. */
export function readAccountPath(path: string, number: number): AccountPath | undefined {
  return withFile(path, (file) => {
    const head = headIn(file);
    if (head === undefined || number >= head.leaves) return undefined;
    const { leaves } = head;
    const first = HEAD_BYTES + LEAF_BYTES * leaves;
    const nodeAt = (index: number) =>
      readNode(readAt(file, first + NODE_BYTES * index, NODE_BYTES), 0);
    const leaf = readAt(file, HEAD_BYTES + LEAF_BYTES * number, LEAF_BYTES);
    let place = leaf.readUInt32LE(0);
    const salt = leaf.subarray(PLACE_BYTES);
    const balanceMicros = nodeAt(place).sumMicros;
    const nodes = [];
    let below = 0;
    for (const size of levelsOf(leaves).slice(0, -1)) {
      const sibling = place % 2 === 1 ? place - 1 : place + 1;
      if (sibling < size) {
        const { hash: bytes, sumMicros } = nodeAt(below + sibling);
        const side = sibling < place ? ("left" as const) : ("right" as const);
        nodes.push({ side, hash: bytes.toString("hex"), sumMicros });
      }
      below += size;
      place = Math.floor(place / 2);
    }
    return { balanceMicros, salt, path: nodes };
  });
}

/** Nodes by level, the leaves first, the root last. */
function levelsOf(leaves: number): number[] {
  const sizes = [leaves];
  for (let size = leaves; size > 1; ) {
    size = Math.ceil(size / 2);
    sizes.push(size);
  }
  return sizes;
}

function joined(left: Node, right: Node): Node {
  const bytes = sha256(sumNodeBytes(left, right));
  return { hash: bytes, sumMicros: left.sumMicros + right.sumMicros };
}

interface Node {
  readonly hash: Buffer;
  readonly sumMicros: number;
}

function writeNode(nodes: Buffer, index: number, bytes: Uint8Array, sumMicros: number): void {
  nodes.set(bytes, NODE_BYTES * index);
  nodes.writeDoubleLE(sumMicros, NODE_BYTES * index + HASH_BYTES);
}

function readNode(nodes: Buffer, index: number): Node {
  const at = NODE_BYTES * index;
  return {
    hash: nodes.subarray(at, at + HASH_BYTES),
    sumMicros: nodes.readDoubleLE(at + HASH_BYTES),
  };
}

function headIn(file: number): TreeHead | undefined {
  const head = readAt(file, 0, HEAD_BYTES);
  if (head.length < HEAD_BYTES || head.readUInt32LE(0) !== MAGIC) return undefined;
  return {
    position: head.readDoubleLE(8),
    timeMs: head.readDoubleLE(16),
    leaves: head.readDoubleLE(24),
    sumMicros: head.readDoubleLE(32),
    root: head.toString("hex", ROOT_AT, KEY_AT),
    keyId: head.toString("hex", KEY_AT, HEAD_BYTES),
  };
}

function withFile<T>(path: string, read: (file: number) => T | undefined): T | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (isNotThere(error)) return undefined;
    throw error;
  }
  try {
    return read(file);
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, at));
}

/** Under its name only once it is whole on the disk. */
function writeDurably(path: string, parts: readonly Uint8Array[]): void {
  const file = openSync(`${path}.new`, "w", 0o600);
  try {
    for (const part of parts) {
      for (let at = 0; at < part.length; ) at += writeSync(file, part, at);
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
}
