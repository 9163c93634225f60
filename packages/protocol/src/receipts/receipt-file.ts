/**
 * A receipt as a file: JSON with the receipt and everything that it leaves out, so that it can be judged
 * years later by someone else. The request and the acknowledgement may be in it for a reader; nothing
 * depends on them.
 */

import { bytesFromHex, hexFromBytes } from "../hex.js";
import { decodeReceipt, type Receipt, type ReceiptContext } from "./receipt.js";
import { type NoteKey, parseNoteKey } from "./signed-note.js";

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
  readonly ack?: unknown;
}

export interface OpenedReceipt {
  readonly file: ReceiptFile;
  readonly receipt: Receipt;
  readonly logKey: NoteKey;
}

export function receiptFile(
  logKey: string,
  { venueId, address, position, block, requestHash }: ReceiptContext,
  receipt: string,
  more: Pick<ReceiptFile, "request" | "ack"> = {},
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
  const logKey = parseNoteKey(value.logKey);
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
  return receipt === undefined ? "its receipt cannot be read" : { file: value, receipt, logKey };
}

function isReceiptFile(value: unknown): value is ReceiptFile {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  return (
    fields.get("format") === RECEIPT_FORMAT &&
    ["logKey", "venueId", "address", "requestHash", "receipt"].every(
      (name) => typeof fields.get(name) === "string",
    ) &&
    ["position", "block"].every((name) => Number.isSafeInteger(fields.get(name)))
  );
}

function fixedHex(text: string, length: number): Uint8Array | undefined {
  const bytes = bytesFromHex(text);
  return bytes?.length === length ? bytes : undefined;
}
