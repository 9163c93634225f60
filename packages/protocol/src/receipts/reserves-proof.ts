/** The proof that a commitment to the venue's liabilities is sealed, and that an account's balance is in it. */

import { type ReservesLeaf, readReservesLeaf } from "../bridge/reserves-leaf.js";
import { bytesFromHex, hexFromBytes, withoutHexPrefix } from "../text/hex.js";
import {
  checkLeaf,
  encodeLeafProof,
  type LeafProof,
  type ProofKeys,
  type ProvenLeaf,
  parseLeafProof,
} from "./leaf-proof.js";
import type { VerifyEd25519 } from "./signed-note.js";
import { type PathNode, rootOfSums, sumLeafBytes } from "./sum-tree.js";

const RESERVES_PROOF_FORMAT = "perpgate-reserves-proof/1";

const RESERVES = {
  name: "reserves",
  read: readReservesLeaf,
  seqOf: ({ commitment }: ReservesLeaf) => commitment,
};

interface CheckedReserves extends ProvenLeaf {
  readonly leaf: ReservesLeaf;
}

export function encodeReservesProof(proof: LeafProof): string {
  return encodeLeafProof(proof, RESERVES_PROOF_FORMAT);
}

/** The commitment that the proof proves, or why it proves nothing. */
export function checkReservesProof(
  text: string,
  verify: VerifyEd25519,
  keys: ProofKeys = {},
): Promise<CheckedReserves | string> {
  return checkLeaf(RESERVES, parseLeafProof(text, RESERVES_PROOF_FORMAT), verify, keys);
}

/** What `GET /v1/account/liability` answers. */
interface LiabilityFields {
  readonly position: string;
  readonly address: string;
  readonly salt: string;
  readonly balanceMicros: number;
  readonly path: readonly {
    readonly side: "left" | "right";
    readonly hash: string;
    readonly sumMicros: number;
  }[];
}

/** A file to keep: the proof of a commitment, and the leaf of an account with its path. */
interface LiabilityFile {
  readonly format: typeof LIABILITY_FORMAT;
  readonly proof: string;
  readonly liability: LiabilityFields;
}

const LIABILITY_FORMAT = "perpgate-liability/1";

export function liabilityFile(proof: string, liability: LiabilityFields): LiabilityFile {
  return { format: LIABILITY_FORMAT, proof, liability };
}

export interface CheckedReservesFile extends CheckedReserves {
  /** Null for the proof of a commitment alone. */
  readonly liability: LiabilityFields | null;
}

/** Whether the text is the proof of a commitment, or a file with one, whether it holds or not. */
export function isReservesText(text: string): boolean {
  return (
    parseLeafProof(text, RESERVES_PROOF_FORMAT) !== undefined ||
    fieldsOf(text)?.get("format") === LIABILITY_FORMAT
  );
}

/** What the file proves, or why it proves nothing; with `address` the leaf must be that account's. */
export async function verifyReservesFile(
  text: string,
  verify: VerifyEd25519,
  keys: ProofKeys = {},
  address?: string,
): Promise<CheckedReservesFile | string> {
  const fields = fieldsOf(text);
  if (fields === undefined) {
    if (address !== undefined) return "the file has no account's leaf";
    const checked = await checkReservesProof(text, verify, keys);
    return typeof checked === "string" ? checked : { ...checked, liability: null };
  }
  const [proof, liability] = [fields.get("proof"), fields.get("liability")];
  const isFile = fields.size === 3 && fields.get("format") === LIABILITY_FORMAT;
  if (!isFile || typeof proof !== "string" || !isLiability(liability)) {
    return "the file cannot be read";
  }
  const checked = await checkReservesProof(proof, verify, keys);
  if (typeof checked === "string") return checked;
  const fault = liabilityFault(liability, checked.leaf, address ?? liability.address);
  return fault ?? { ...checked, liability };
}

/** Of a text that is a JSON object. */
function fieldsOf(text: string): ReadonlyMap<string, unknown> | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    return new Map(Object.entries(JSON.parse(text)));
  } catch {
    return undefined;
  }
}

/** Levels of a tree with as many leaves as a file can name. */
const MAX_PATH = 53;

function isLiability(value: unknown): value is LiabilityFields {
  const fields = recordOf(value);
  const { position, address, salt, balanceMicros, path } = fields;
  const areTexts = [position, address, salt].every((field) => typeof field === "string");
  return (
    Object.keys(fields).length === 5 &&
    areTexts &&
    typeof balanceMicros === "number" &&
    Array.isArray(path) &&
    path.length <= MAX_PATH &&
    path.every(isPathNode)
  );
}

function isPathNode(value: unknown): boolean {
  const fields = recordOf(value);
  const { side, hash, sumMicros } = fields;
  const isSide = side === "left" || side === "right";
  const hasTypes = typeof hash === "string" && typeof sumMicros === "number";
  return isSide && hasTypes && Object.keys(fields).length === 3;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Why the account's balance is not in the commitment; null if it is. `address`: the one that is yours. */
export function liabilityFault(
  { position, address, salt, balanceMicros, path }: LiabilityFields,
  leaf: Pick<ReservesLeaf, "position" | "root" | "sumMicros">,
  ownAddress: string,
): string | null {
  if (address.toLowerCase() !== ownAddress.toLowerCase()) return `the leaf is that of ${address}`;
  if (position !== String(leaf.position)) {
    return `the leaf is of position ${position}, the commitment of ${leaf.position}`;
  }
  const [addressBytes, saltBytes] = [address, salt].map((hex) =>
    bytesFromHex(withoutHexPrefix(hex)),
  );
  if (addressBytes?.length !== 20 || saltBytes?.length !== 16) return "the leaf cannot be read";
  if (!Number.isSafeInteger(balanceMicros) || balanceMicros < 0) {
    return `${balanceMicros} is no balance`;
  }
  const nodes: PathNode[] = [];
  for (const { side, hash, sumMicros } of path) {
    const bytes = bytesFromHex(withoutHexPrefix(hash));
    if (bytes === undefined) return "the path cannot be read";
    nodes.push({ side, hash: bytes, sumMicros });
  }
  const root = rootOfSums(sumLeafBytes(addressBytes, saltBytes, balanceMicros), nodes);
  if (root === undefined) return "the path has a sum below zero or above 2^53";
  if (hexFromBytes(root.hash) !== leaf.root || root.sumMicros !== leaf.sumMicros) {
    return "the path does not lead to the commitment";
  }
  return null;
}
