/**
 * A receipt as a file: JSON with the receipt and everything that it leaves out, so that it can be judged
 * years later by someone else. The request, the leaf and the acknowledgement with the units of its market
 * may be in it: the first two must have the hashes that are signed, the others show what was answered.
 */

import { treeLeafHash } from "../blocks/merkle-path.js";
import { bytesFromHex, hexFromBytes } from "../text/hex.js";
import { bytesFromBase64Url, equalBytes } from "./bytes.js";
import { decodeReceipt, type Receipt, type ReceiptContext, requestHashOf } from "./receipt.js";
import { type NoteKey, parseLogKey } from "./signed-note.js";

const RECEIPT_FORMAT = "perpgate-receipt/1";

export interface ReceiptFile {
  readonly format: typeof RECEIPT_FORMAT;
  /** The log's verifier key, as it was pinned or as the venue showed it. */
  readonly logKey: string;
  /** Hex. */
  readonly venueId: string;
  readonly address: string;
  readonly position: number;
  readonly block: number;
  /** Hex. */
  readonly requestHash: string;
  /** As in the acknowledgement, base64url. */
  readonly receipt: string;
  /** The body that was sent, whose SHA-256 is `requestHash`. */
  readonly request?: string;
  /** As in the acknowledgement, base64url; its hash is signed. */
  readonly leaf?: string;
  /** The JSON that was answered. */
  readonly ack?: unknown;
  /** The units of the acknowledgement's market, as the venue showed them. */
  readonly market?: unknown;
}

export interface OpenedReceipt {
  readonly file: ReceiptFile;
  readonly receipt: Receipt;
  readonly logKey: NoteKey;
  /** Undefined if the file has none. */
  readonly leaf: Uint8Array | undefined;
}

export function receiptFile(
  logKey: string,
  { venueId, address, position, block, requestHash }: ReceiptContext,
  receipt: string,
  more: Pick<ReceiptFile, "request" | "leaf" | "ack" | "market"> = {},
): ReceiptFile {
  return {
    format: RECEIPT_FORMAT,
    logKey,
    venueId: hexFromBytes(venueId),
    address: `0x${hexFromBytes(address)}`,
    position,
    block,
    requestHash: hexFromBytes(requestHash),
    receipt,
    ...more,
  };
}

/** The receipt of a file, or why it is none. Signatures are not checked here. */
export function openReceiptFile(value: unknown): OpenedReceipt | string {
  if (!isReceiptFile(value)) return "it is no receipt of a known format";
  const logKey = parseLogKey(value.logKey);
  if (logKey === undefined) return "its log key cannot be read";
  const venueId = fixedHex(value.venueId, 32);
  const requestHash = fixedHex(value.requestHash, 32);
  const address = fixedHex(value.address, 20);
  if (venueId === undefined || requestHash === undefined || address === undefined) {
    return "one of its hashes cannot be read";
  }
  const { position, block } = value;
  const context = { venueId, requestHash, address, position, block };
  const receipt = decodeReceipt(value.receipt, context);
  if (receipt === undefined) return "its receipt cannot be read";
  if (value.request !== undefined && !equalBytes(requestHashOf(value.request), requestHash)) {
    return "its request is not the one that the receipt is for";
  }
  if (value.leaf === undefined) return { file: value, receipt, logKey, leaf: undefined };
  const leaf = bytesFromBase64Url(value.leaf);
  if (leaf === undefined || !equalBytes(treeLeafHash(leaf), receipt.statement.leafHash)) {
    return "its leaf is not the one that the receipt is about";
  }
  return { file: value, receipt, logKey, leaf };
}

function isReceiptFile(value: unknown): value is ReceiptFile {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  return (
    fields.get("format") === RECEIPT_FORMAT &&
    ["logKey", "venueId", "address", "requestHash", "receipt"].every(
      (name) => typeof fields.get(name) === "string",
    ) &&
    ["request", "leaf"].every((name) => /^(undefined|string)$/.test(typeof fields.get(name))) &&
    ["position", "block"].every((name) => Number.isSafeInteger(fields.get(name)))
  );
}

function fixedHex(text: string, length: number): Uint8Array | undefined {
  const bytes = bytesFromHex(text);
  return bytes?.length === length ? bytes : undefined;
}
