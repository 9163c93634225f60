/** C2SP signed notes: a text with signature lines, and the keys that verify them. */

import { sha256 } from "@noble/hashes/sha2.js";
import { isSafePublicKey } from "../accounts/signing.js";
import { hexFromBytes } from "../text/hex.js";
import { base64, bytesFromBase64, equalBytes, joinBytes } from "./bytes.js";

/** Whether an Ed25519 signature is valid, by RFC 8032. */
export type VerifyEd25519 = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>;

/** The algorithm byte of a key: a log's own signature, or a witness's cosignature with its time. */
export const NOTE_KEY = { ed25519: 1, cosignature: 4 } as const;
type NoteAlgorithm = (typeof NOTE_KEY)[keyof typeof NOTE_KEY];

export interface NoteKey {
  readonly name: string;
  readonly algorithm: NoteAlgorithm;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

export interface NoteSignature {
  readonly name: string;
  /** Four bytes that tell keys of one name apart. */
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
}

export interface SignedNote {
  /** With its last newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

const KEY_NAME = /^[^\s+]+$/u;
const ID_BYTES = 4;
const KEY_BYTES = 32;
const MAX_SIGNATURES = 64;
const encoder = new TextEncoder();

export function noteKeyId({ name, algorithm, publicKey }: NoteKey): Uint8Array {
  const hashed = joinBytes(encoder.encode(`${name}\n`), Uint8Array.of(algorithm), publicKey);
  return sha256(hashed).slice(0, ID_BYTES);
}

/** The verifier key as text: `name+id+key`. */
export function noteKeyText(key: NoteKey): string {
  const material = joinBytes(Uint8Array.of(key.algorithm), key.publicKey);
  return `${key.name}+${hexFromBytes(noteKeyId(key))}+${base64(material)}`;
}

/**
 * The key of a verifier key text; undefined if it is none, of an unknown algorithm, or one under which
 * anyone can sign.
 */
export function parseNoteKey(text: string): NoteKey | undefined {
  const [, name = "", id, material = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text.trim()) ?? [];
  const bytes = bytesFromBase64(material);
  if (bytes?.length !== 1 + KEY_BYTES || !KEY_NAME.test(name)) return undefined;
  const algorithm = Object.values(NOTE_KEY).find((known) => known === bytes[0]);
  if (algorithm === undefined) return undefined;
  const key = { name, algorithm, publicKey: bytes.slice(1) };
  return hexFromBytes(noteKeyId(key)) === id && isSafePublicKey(key.publicKey) ? key : undefined;
}

/** The key of a log's verifier key text; undefined if it is none, or the key of a witness. */
export function parseLogKey(text: string): NoteKey | undefined {
  return keyOf(text, NOTE_KEY.ed25519);
}

/** The key of a witness's verifier key text; undefined if it is none, or the key of a log. */
export function parseWitnessKey(text: string): NoteKey | undefined {
  return keyOf(text, NOTE_KEY.cosignature);
}

function keyOf(text: string, algorithm: NoteAlgorithm): NoteKey | undefined {
  const key = parseNoteKey(text);
  return key?.algorithm === algorithm ? key : undefined;
}

export function isNoteKeyName(name: string): boolean {
  return KEY_NAME.test(name);
}

export function signatureLine(key: NoteKey, signature: Uint8Array): string {
  return `— ${key.name} ${base64(joinBytes(noteKeyId(key), signature))}\n`;
}

/** The parts of a note; undefined if the text is none. */
export function parseNote(note: string): SignedNote | undefined {
  const split = note.lastIndexOf("\n\n");
  if (split < 0 || !note.endsWith("\n") || hasControl(note)) return undefined;
  const signatures = parseSignatureLines(note.slice(split + 2));
  if (signatures === undefined || signatures.length === 0) return undefined;
  return { text: note.slice(0, split + 1), signatures };
}

function hasControl(note: string): boolean {
  return [...note].some((character) => character < " " && character !== "\n");
}

/** Signature lines, each with its newline; undefined if one is malformed. */
export function parseSignatureLines(lines: string): NoteSignature[] | undefined {
  const signatures: NoteSignature[] = [];
  for (const line of lines.split("\n").slice(0, -1)) {
    const [, name = "", text = ""] = /^— (\S+) (\S+)$/u.exec(line) ?? [];
    const bytes = bytesFromBase64(text);
    if (bytes === undefined || bytes.length <= ID_BYTES || !KEY_NAME.test(name)) return undefined;
    const keyId = bytes.slice(0, ID_BYTES);
    signatures.push({ name, keyId, signature: bytes.slice(ID_BYTES) });
  }
  return lines.endsWith("\n") && signatures.length <= MAX_SIGNATURES ? signatures : undefined;
}

/** The note's signatures by that key. */
export function signaturesBy(note: SignedNote, key: NoteKey): NoteSignature[] {
  const id = noteKeyId(key);
  return note.signatures.filter(({ name, keyId }) => name === key.name && equalBytes(keyId, id));
}

/** Whether the key signed the note: it has a signature by it, and all of these are valid. */
export async function isNoteSignedBy(
  note: SignedNote,
  key: NoteKey,
  verify: VerifyEd25519,
): Promise<boolean> {
  const own = signaturesBy(note, key);
  for (const { signature } of own) {
    if (!(await isSignature(note.text, key, signature, verify))) return false;
  }
  return own.length > 0;
}

const TIMED_BYTES = 8 + 64;

async function isSignature(
  text: string,
  { algorithm, publicKey }: NoteKey,
  signature: Uint8Array,
  verify: VerifyEd25519,
): Promise<boolean> {
  if (algorithm === NOTE_KEY.ed25519) {
    return signature.length === 64 && verify(publicKey, encoder.encode(text), signature);
  }
  if (signature.length !== TIMED_BYTES) return false;
  const message = `cosignature/v1\ntime ${cosignedAt(signature)}\n${text}`;
  return verify(publicKey, encoder.encode(message), signature.subarray(8));
}

/** Unix seconds at which a witness signed, from its signature. */
function cosignedAt(signature: Uint8Array): number {
  return signature.subarray(0, 8).reduce((sum, byte) => sum * 256 + byte, 0);
}
