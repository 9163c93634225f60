/**
 * The venue's log key: an Ed25519 key with a name, the origin of the transparency log. It signs
 * checkpoints and certifies receipt keys. Its file is one line, the private form of a signed-note key:
 *
 *   PRIVATE+KEY+<name>+<key id>+<base64 of the byte 1 and the 32 bytes of the seed>
 */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from "node:crypto";
import { hexFromBytes } from "@perpgate/protocol/core";
import {
  bytesFromBase64,
  isNoteKeyName,
  NOTE_KEY,
  type NoteKey,
  noteKeyId,
  noteKeyText,
} from "@perpgate/protocol/receipts";
import { sha256 } from "../blocks/merkle.js";

const SEED_BYTES = 32;
/** DER of an Ed25519 private key in PKCS #8, before its seed. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
const FORM = /^PRIVATE\+KEY\+([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/;

export interface LogKey extends NoteKey {
  /** The verifier key: what everyone who checks pins. */
  readonly text: string;
  readonly privateKey: KeyObject;
}

export class LogKeyUnreadable extends Error {
  override readonly name = "LogKeyUnreadable";
}

/** A new key; without a name it is named after its public key. */
export function newLogKey(
  name?: string,
  random: (bytes: number) => Uint8Array = randomBytes,
): { readonly key: LogKey; readonly secret: string } {
  const seed = random(SEED_BYTES);
  const { publicKey } = ed25519Key(seed);
  const given = name ?? `perpgate/${sha256(publicKey).toString("hex", 0, 8)}`;
  const key = logKeyOf(given, seed);
  const material = Buffer.concat([Buffer.of(NOTE_KEY.ed25519), seed]).toString("base64");
  return { key, secret: `PRIVATE+KEY+${given}+${hexFromBytes(noteKeyId(key))}+${material}` };
}

/** @throws LogKeyUnreadable */
export function readLogKey(text: string): LogKey {
  const [, name = "", id, material = ""] = FORM.exec(text.trim()) ?? [];
  const bytes = bytesFromBase64(material);
  if (bytes?.length !== 1 + SEED_BYTES || bytes[0] !== NOTE_KEY.ed25519) {
    throw new LogKeyUnreadable("it is no Ed25519 key of a signed note");
  }
  const key = logKeyOf(name, bytes.subarray(1));
  if (hexFromBytes(noteKeyId(key)) === id) return key;
  throw new LogKeyUnreadable("its name and its id do not belong together");
}

function logKeyOf(name: string, seed: Uint8Array): LogKey {
  if (!isNoteKeyName(name)) {
    throw new LogKeyUnreadable(`${JSON.stringify(name)} is no name: no spaces and no plus`);
  }
  const { publicKey, privateKey } = ed25519Key(seed);
  const key = { name, algorithm: NOTE_KEY.ed25519, publicKey };
  return { ...key, text: noteKeyText(key), privateKey };
}

export function ed25519Key(seed: Uint8Array): { publicKey: Buffer; privateKey: KeyObject } {
  const der = Buffer.concat([PKCS8, seed]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  return { publicKey: spki.subarray(-SEED_BYTES), privateKey };
}

export function signWith(privateKey: KeyObject, message: Uint8Array): Buffer {
  return sign(null, message, privateKey);
}
