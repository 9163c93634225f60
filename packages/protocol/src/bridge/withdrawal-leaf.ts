/**
 * The leaf of a withdrawal in the tree of its block, next to the leaves of orders' acknowledgements: the
 * number of its kind and then these fields, each a little-endian double with a safe integer. It is the
 * engine's `WithdrawalAcknowledged` event, and what an attestor needs to know to sign.
 *
 * Block hashes depend on every byte: kind and order of fields never change.
 */

import { isCount } from "../numbers/integers.js";
import { clientIdOf } from "../orders/client-order-id.js";

export const WITHDRAWAL_LEAF_KIND = 58;

export const WITHDRAWAL_LEAF_FIELDS = [
  /** The seq of the request. */
  "withdrawalId",
  "account",
  /** The account's address as four integers of five bytes. */
  "address1",
  "address2",
  "address3",
  "address4",
  "chainId",
  /** The token's name, as a client's id of an order (client-order-id.ts). */
  "token1",
  "token2",
  "amountMicros",
  "deadlineMs",
  "session",
  "nonce",
  "block",
] as const;
type WithdrawalLeafField = (typeof WITHDRAWAL_LEAF_FIELDS)[number];

const WORD_BYTES = 8;
export const WITHDRAWAL_LEAF_BYTES = WORD_BYTES * (1 + WITHDRAWAL_LEAF_FIELDS.length);
const ADDRESS_PARTS = ["address1", "address2", "address3", "address4"] as const;
/** Of five bytes. */
const PART_DIGITS = 10;

export interface WithdrawalLeaf {
  readonly withdrawalId: number;
  readonly account: number;
  /** 40 lower-case hex digits. */
  readonly address: string;
  readonly chainId: number;
  readonly token: string;
  readonly amountMicros: number;
  readonly deadlineMs: number;
  readonly session: number;
  readonly nonce: number;
  readonly block: number;
}

/** Whether the bytes begin like a withdrawal's leaf, and not like an order's. */
export function isWithdrawalLeaf(bytes: Uint8Array): boolean {
  if (bytes.length !== WITHDRAWAL_LEAF_BYTES) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.getFloat64(0, true) === WITHDRAWAL_LEAF_KIND;
}

/** The fields of a leaf; undefined if the bytes are not one. */
export function readWithdrawalLeaf(bytes: Uint8Array): WithdrawalLeaf | undefined {
  if (!isWithdrawalLeaf(bytes)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (name: WithdrawalLeafField): number =>
    view.getFloat64(WORD_BYTES * (1 + WITHDRAWAL_LEAF_FIELDS.indexOf(name)), true);
  if (!WITHDRAWAL_LEAF_FIELDS.every((name) => isCount(word(name)))) return undefined;
  const parts = ADDRESS_PARTS.map((name) => word(name).toString(16).padStart(PART_DIGITS, "0"));
  const address = parts.join("");
  const token = clientIdOf([word("token1"), word("token2"), 0, 0, 0]);
  if (address.length !== ADDRESS_PARTS.length * PART_DIGITS || token === null) return undefined;
  return {
    withdrawalId: word("withdrawalId"),
    account: word("account"),
    address,
    chainId: word("chainId"),
    token,
    amountMicros: word("amountMicros"),
    deadlineMs: word("deadlineMs"),
    session: word("session"),
    nonce: word("nonce"),
    block: word("block"),
  };
}
