/** The proof that a commitment to the venue's liabilities is sealed, and that an account's balance is in it. */

import { type ReservesLeaf, readReservesLeaf } from "../bridge/reserves-leaf.js";
import { bytesFromHex, hexFromBytes, withoutHexPrefix } from "../text/hex.js";
import {
  encodeLeafProof,
  type LeafProof,
  type ProofKeys,
  type ProvenLeaf,
  parseLeafProof,
  provenLeaf,
} from "./leaf-proof.js";
import type { VerifyEd25519 } from "./signed-note.js";
import { type PathNode, rootOfSums, sumLeafBytes } from "./sum-tree.js";

const RESERVES_PROOF_FORMAT = "perpgate-reserves-proof/1";

export interface CheckedReserves extends ProvenLeaf {
  readonly leaf: ReservesLeaf;
}

export function encodeReservesProof(proof: LeafProof): string {
  return encodeLeafProof(proof, RESERVES_PROOF_FORMAT);
}

/** The commitment that the proof proves, or why it proves nothing. */
export async function checkReservesProof(
  text: string,
  verify: VerifyEd25519,
  keys: ProofKeys = {},
): Promise<CheckedReserves | string> {
  const proof = parseLeafProof(text, RESERVES_PROOF_FORMAT);
  if (proof === undefined) return "the text is no proof of reserves";
  const proven = await provenLeaf(proof, verify, keys);
  if (typeof proven === "string") return proven;
  const leaf = readReservesLeaf(proof.leaf);
  if (leaf === undefined) return "the leaf is none of reserves";
  const { block } = proven;
  const isWithin = block.firstPosition <= leaf.commitment && leaf.commitment <= block.lastPosition;
  if (leaf.block !== block.number || !isWithin) {
    return `the leaf names block ${leaf.block} and position ${leaf.commitment}`;
  }
  return { ...proven, leaf };
}

/** What `GET /v1/account/liability` answers. */
export interface LiabilityFields {
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
