/**
 * Evidence as a file: JSON with exactly the fields that its verdict needs. All its readers must
 * come to one result, so nothing has two readings: no repeated, unknown or missing field, no
 * number but an integer below 2^53 in plain digits, one encoding of all bytes.
 */

import { bytesFromHex, hexFromBytes } from "../text/hex.js";
import { base64, bytesFromBase64 } from "./bytes.js";
import {
  type OpenedReceipt,
  openReceiptFile,
  type ReceiptFile,
  receiptFile,
} from "./receipt-file.js";
import { noteKeyText } from "./signed-note.js";
import { isTexts } from "./successors.js";
import { TREE_HASH_BYTES } from "./tree.js";

export const EVIDENCE_FORMAT = "perpgate-evidence/1";

/** Verdicts that one block under a checkpoint proves. */
const BLOCK_KINDS = ["absent", "elsewhere", "different", "forked", "misdated"] as const;
type BlockKind = (typeof BLOCK_KINDS)[number];
export type BrokenKind = BlockKind | "twice";
/** These need the complete list of the block's acknowledgements. */
const LISTED_KINDS: ReadonlySet<string> = new Set(["absent", "elsewhere", "different"]);

/** A block under the checkpoint, and the list of its acknowledgements where the verdict needs it. */
export interface ProvenBlock {
  /** Hex. */
  readonly header: string;
  /** Base64, from the header up. */
  readonly path: readonly string[];
  /** Base64. */
  readonly list?: string;
}

/** A receipt's file without what nothing depends on. */
export type EvidenceReceipt = Omit<ReceiptFile, "ack" | "market">;

interface EvidenceBase {
  readonly format: typeof EVIDENCE_FORMAT;
  readonly receipt: EvidenceReceipt;
  /** Notes that relate the log's keys, if another one than the receipt's is needed. */
  readonly successors?: readonly string[];
}

export interface BlockEvidence extends EvidenceBase {
  readonly verdict: BlockKind;
  /** The signed note that the block is under. */
  readonly checkpoint: string;
  readonly block: ProvenBlock;
}

/** Two checkpoints of one log, and the hashes that relate them. */
export interface ForkEvidence extends EvidenceBase {
  readonly verdict: "forked";
  readonly checkpoint: string;
  /** At most as large. */
  readonly other: { readonly checkpoint: string; readonly hashes: readonly string[] };
}

/** Two receipts for one nonce; both have their leaves, and one body for both is in the first. */
export interface TwiceEvidence extends EvidenceBase {
  readonly verdict: "twice";
  readonly second: EvidenceReceipt;
}

export type EvidenceFile = BlockEvidence | ForkEvidence | TwiceEvidence;

export function provenBlockText(
  header: Uint8Array,
  path: readonly Uint8Array[],
  list?: Uint8Array,
): ProvenBlock {
  const block = { header: hexFromBytes(header), path: path.map(base64) };
  return list === undefined ? block : { ...block, list: base64(list) };
}

/** The receipt in its one encoding. */
export function evidenceReceipt({ logKey, receipt, file }: OpenedReceipt): EvidenceReceipt {
  return receiptFile(noteKeyText(logKey), receipt.statement, file.receipt);
}

/** Evidence with its bytes decoded. */
export type OpenedEvidence = { readonly successors: readonly string[] } & OpenedVerdict;

type OpenedVerdict =
  | {
      readonly verdict: BlockKind;
      readonly receipt: OpenedReceipt;
      readonly checkpoint: string;
      readonly block: OpenedBlock;
    }
  | {
      readonly verdict: "two checkpoints";
      readonly receipt: OpenedReceipt;
      readonly checkpoint: string;
      readonly other: string;
      readonly hashes: readonly Uint8Array[];
    }
  | {
      readonly verdict: "twice";
      readonly receipt: OpenedReceipt;
      readonly second: OpenedReceipt;
    };

interface OpenedBlock {
  readonly header: Uint8Array;
  readonly path: readonly Uint8Array[];
  /** Empty where the verdict needs none. */
  readonly list: Uint8Array;
}

/** Whether a file is meant as evidence: a proof of an order does not begin as JSON does. */
export function isEvidenceText(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

/** The evidence of a text, or why it is none. Nothing is verified here. */
export function openEvidence(text: string): OpenedEvidence | string {
  try {
    return opened(plainJson(text));
  } catch (error) {
    if (error instanceof Malformed) return error.message;
    throw error;
  }
}

class Malformed extends Error {}

function opened(value: unknown): OpenedEvidence {
  const { format, verdict, other }: Partial<Record<string, unknown>> = { ...objectOf(value) };
  if (format !== EVIDENCE_FORMAT) throw new Malformed("it is no evidence of a known format");
  const { successors = [], ...rest }: Partial<Record<string, unknown>> = { ...objectOf(value) };
  if (!isTexts(successors)) throw new Malformed("the successors of the log key cannot be read");
  return { successors, ...openedVerdict(rest, verdict, other !== undefined) };
}

function openedVerdict(value: unknown, verdict: unknown, hasOther: boolean): OpenedVerdict {
  if (verdict === "twice") return openedTwice(value);
  if (verdict === "forked" && hasOther) return openedFork(value);
  const kind = BLOCK_KINDS.find((each) => each === verdict);
  if (kind === undefined) throw new Malformed("the verdict is not known");
  return openedBlock(value, kind);
}

function openedTwice(value: unknown): OpenedVerdict {
  const fields = exactly(value, ["format", "verdict", "receipt", "second"]);
  const receipt = receiptOf(fields.receipt, ["leaf"], ["request"]);
  return { verdict: "twice", receipt, second: receiptOf(fields.second, ["leaf"]) };
}

function openedFork(value: unknown): OpenedVerdict {
  const fields = exactly(value, ["format", "verdict", "receipt", "checkpoint", "other"]);
  const other = exactly(fields.other, ["checkpoint", "hashes"]);
  return {
    verdict: "two checkpoints",
    receipt: receiptOf(fields.receipt),
    checkpoint: textOf(fields.checkpoint),
    other: textOf(other.checkpoint),
    hashes: hashesOf(other.hashes),
  };
}

function openedBlock(value: unknown, verdict: BlockKind): OpenedVerdict {
  const fields = exactly(value, ["format", "verdict", "receipt", "checkpoint", "block"]);
  const isListed = LISTED_KINDS.has(verdict);
  const block = exactly(fields.block, ["header", "path", ...(isListed ? ["list"] : [])]);
  return {
    verdict,
    receipt: receiptOf(fields.receipt),
    checkpoint: textOf(fields.checkpoint),
    block: {
      header: hexOf(block.header),
      path: hashesOf(block.path),
      list: isListed ? base64Of(block.list) : new Uint8Array(0),
    },
  };
}

const RECEIPT_FIELDS = [
  "format",
  "logKey",
  "venueId",
  "address",
  "position",
  "block",
  "requestHash",
  "receipt",
];

function receiptOf(
  value: unknown,
  more: readonly string[] = [],
  optional: readonly string[] = [],
): OpenedReceipt {
  const given = exactly(value, [...RECEIPT_FIELDS, ...more], optional);
  const receipt = openReceiptFile(value);
  if (typeof receipt === "string") throw new Malformed(receipt);
  const { statement } = receipt.receipt;
  const logKey = noteKeyText(receipt.logKey);
  const written = new Map<string, unknown>(
    Object.entries(receiptFile(logKey, statement, receipt.file.receipt)),
  );
  if (RECEIPT_FIELDS.every((name) => written.get(name) === given[name])) return receipt;
  throw new Malformed("a field of the receipt is not in its one encoding");
}

/** The value of JSON that has one reading. */
function plainJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Malformed("it is not JSON");
  }
  // Written again, it must have the same tokens: of a repeated field only the last one is left, and 1.0
  // and 1e0 become 1. Escapes in a string are another encoding of the same text.
  const tokens = text.replace(/"(?:[^"\\]|\\.)*"|[ \t\r\n]+/g, (token) =>
    token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : "",
  );
  if (JSON.stringify(value) === tokens) return value;
  throw new Malformed("a field is repeated, or a number is not a plain integer below 2^53");
}

type Fields = Readonly<Partial<Record<string, unknown>>>;

/** The fields of an object that has all of these, and no others but optional ones. */
function exactly(
  value: unknown,
  names: readonly string[],
  optional: readonly string[] = [],
): Fields {
  const fields = { ...objectOf(value) };
  const missing = names.find((name) => !Object.hasOwn(fields, name));
  if (missing !== undefined) throw new Malformed(`the field ${missing} is missing`);
  const known = [...names, ...optional];
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Malformed(`the field ${unknown} does not belong there`);
  return fields;
}

function objectOf(value: unknown): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Malformed("it is no evidence of a known format");
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  throw new Malformed("a checkpoint is no text");
}

function hexOf(value: unknown): Uint8Array {
  const bytes = typeof value === "string" ? bytesFromHex(value) : undefined;
  if (bytes !== undefined && hexFromBytes(bytes) === value) return bytes;
  throw new Malformed("the header cannot be read");
}

function base64Of(value: unknown): Uint8Array {
  const bytes = typeof value === "string" ? bytesFromBase64(value) : undefined;
  if (bytes !== undefined) return bytes;
  throw new Malformed("a hash or a list cannot be read");
}

function hashesOf(value: unknown): Uint8Array[] {
  const hashes = Array.isArray(value) ? value.map(base64Of) : [];
  if (Array.isArray(value) && hashes.every(({ length }) => length === TREE_HASH_BYTES)) {
    return hashes;
  }
  throw new Malformed("a path has something else than hashes");
}
