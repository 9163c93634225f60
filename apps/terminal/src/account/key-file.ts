/**
 * Key files: a session that another machine goes on with, encrypted with a passphrase. Opening one ties
 * the session to a key of the browser that opens it, so that the key in the file signs nothing any more
 * (docs/adr/0330-key-files.md).
 *
 * The file is JSON. The key is derived with PBKDF2 (SHA-256) and encrypts with AES-256-GCM, which
 * authenticates the fields in front, too. `sha256` needs no passphrase: it tells a damaged file from a
 * wrong passphrase.
 */

import { bytesFromHex, hexFromBytes } from "@perpgate/protocol/core";
import {
  createSessionKey,
  type PerpgateClient,
  PerpgateError,
  type SavedSession,
  type Session,
  type SessionKey,
  type SignerChoice,
  type StoredSession,
} from "@perpgate/sdk";
import { t } from "../text/texts.js";

const FORMAT = "perpgate-key-file/1";
const STATEMENT = "Make a key file that trades on Perpgate from another machine.";
/** Of SHA-256: 600,000 is the least that OWASP recommends. */
const ROUNDS = 1_000_000;
/** A forged file must not hold up the page. */
const MOST_ROUNDS = 10_000_000;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
export const LEAST_PASSPHRASE = 12;

export class KeyFileError extends Error {
  override readonly name = "KeyFileError";
  readonly title: string;

  constructor(readonly problem: keyof typeof t.keyFile.problems) {
    const { title, text } = t.keyFile.problems[problem];
    super(text);
    this.title = title;
  }
}

/** Readable without the passphrase. */
interface Head {
  /** Null of a venue without a transparency log. */
  readonly venueId: string | null;
  readonly address: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  readonly rounds: number;
  /** These are hex. */
  readonly salt: string;
  readonly nonce: string;
}

interface KeyFile extends Head {
  readonly format: string;
  readonly bytes: string;
  readonly sha256: string;
}

/** Opens a session for the file: it has an end of its own, and this browser keeps its own session. */
export async function makeKeyFile(
  client: PerpgateClient,
  signer: SignerChoice,
  owner: string,
  passphrase: string,
): Promise<string> {
  const venueId = await venueIdOf(client);
  const session = await client.signIn({ ...signer, saveable: true, statement: STATEMENT });
  try {
    if (session.address !== owner) throw new Error(t.keyFile.otherAccount);
    return await sealKeyFile(session.save(), passphrase, venueId);
  } catch (error) {
    await session.signOut().catch(() => undefined);
    throw error;
  }
}

/** The session of a file, with a key of this browser in place of the file's. */
export class KeyFileOpener {
  /** The key of a rotation whose answer was lost: the next try goes on with it. */
  private next: { readonly token: string; readonly key: SessionKey } | undefined;

  constructor(private readonly client: PerpgateClient) {}

  /** `keep` is called before the venue replaces the key: a page that is left then has the new one. */
  async open(
    text: string,
    passphrase: string,
    keep: (stored: StoredSession) => Promise<void>,
  ): Promise<Session> {
    const { client } = this;
    const saved = await openKeyFile(text, passphrase, await venueIdOf(client));
    const { token } = saved;
    const key = this.next?.token === token ? this.next.key : await createSessionKey();
    this.next = { token, key };
    const session = restored(client, saved);
    const atVenue = await unlessRefused(session.account(), "ended", "invalid_token");
    if (atVenue.session.sessionKey !== key.publicKey) {
      if (atVenue.session.sessionKey !== session.sessionKey) throw new KeyFileError("used");
      const stored = withKey(saved, key);
      if (isStored(stored)) await keep(stored);
      // Somebody else opens a copy at the same time.
      const rotating = session.rotate({ sessionKey: key });
      await unlessRefused(rotating, "used", "invalid_signature", "session_key_rotated");
    }
    return client.restore(withKey(saved, key));
  }
}

export async function sealKeyFile(
  saved: SavedSession,
  passphrase: string,
  venueId: string | null,
): Promise<string> {
  const { address, expiresAt } = saved;
  const salt = hexFromBytes(crypto.getRandomValues(new Uint8Array(SALT_BYTES)));
  const nonce = hexFromBytes(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  const head: Head = { venueId, address, expiresAt, rounds: ROUNDS, salt, nonce };
  const secret = new TextEncoder().encode(JSON.stringify(saved));
  const key = await derivedKey(head, passphrase);
  const sealed = await crypto.subtle.encrypt(cipherOf(head), key, secret);
  const bytes = hexFromBytes(new Uint8Array(sealed));
  const file: KeyFile = { format: FORMAT, ...head, bytes, sha256: await digestOf(head, bytes) };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

/** @throws KeyFileError */
export async function openKeyFile(
  text: string,
  passphrase: string,
  venueId: string | null,
): Promise<SavedSession> {
  const file = readKeyFile(text);
  if (file.sha256 !== (await digestOf(file, file.bytes))) throw new KeyFileError("damaged");
  if (file.venueId !== venueId) throw new KeyFileError("venue");
  const key = await derivedKey(file, passphrase);
  const opened = await crypto.subtle
    .decrypt(cipherOf(file), key, bytesOf(file.bytes))
    .catch(() => undefined);
  if (opened === undefined) throw new KeyFileError("passphrase");
  const saved: SavedSession = JSON.parse(new TextDecoder().decode(opened));
  return saved;
}

/** @throws KeyFileError */
function readKeyFile(text: string): KeyFile {
  const file: unknown = parsed(text);
  if (typeof file !== "object" || file === null || !("format" in file) || file.format !== FORMAT) {
    throw new KeyFileError("format");
  }
  const found: Partial<Record<keyof KeyFile, unknown>> = file;
  const { venueId = null, address, expiresAt, rounds, salt, nonce, bytes, sha256 } = found;
  const isWhole =
    (venueId === null || typeof venueId === "string") &&
    typeof address === "string" &&
    typeof expiresAt === "number" &&
    typeof rounds === "number" &&
    Number.isInteger(rounds) &&
    rounds > 0 &&
    rounds <= MOST_ROUNDS &&
    isHex(salt, SALT_BYTES) &&
    isHex(nonce, NONCE_BYTES) &&
    isHex(bytes) &&
    typeof sha256 === "string";
  if (!isWhole) throw new KeyFileError("damaged");
  return { format: FORMAT, venueId, address, expiresAt, rounds, salt, nonce, bytes, sha256 };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isHex(value: unknown, length?: number): value is string {
  const bytes = typeof value === "string" ? bytesFromHex(value) : undefined;
  return bytes !== undefined && bytes.length === (length ?? bytes.length);
}

/** The order of the fields is part of the format. */
function headText({ venueId, address, expiresAt, rounds, salt, nonce }: Head): string {
  return JSON.stringify([FORMAT, venueId, address, expiresAt, rounds, salt, nonce]);
}

async function digestOf(head: Head, bytes: string): Promise<string> {
  const text = new TextEncoder().encode(headText(head) + bytes);
  return hexFromBytes(new Uint8Array(await crypto.subtle.digest("SHA-256", text)));
}

function cipherOf(head: Head): AesGcmParams {
  const additionalData = new TextEncoder().encode(headText(head));
  return { name: "AES-GCM", iv: bytesOf(head.nonce), additionalData };
}

async function derivedKey({ rounds, salt }: Head, passphrase: string): Promise<CryptoKey> {
  // The same letters from another keyboard.
  const typed = new TextEncoder().encode(passphrase.normalize("NFKC"));
  const base = await crypto.subtle.importKey("raw", typed, "PBKDF2", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    { name: "PBKDF2", hash: "SHA-256", salt: bytesOf(salt), iterations: rounds },
    base,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytesFromHex(hex) ?? []);
}

/** @throws KeyFileError if what was decrypted is no session. */
function restored(client: PerpgateClient, saved: SavedSession): Session {
  try {
    return client.restore(saved);
  } catch {
    throw new KeyFileError("damaged");
  }
}

/** The same session with another key. */
function withKey(saved: SavedSession, key: SessionKey): SavedSession | StoredSession {
  const { kind, publicKey, handle, secret = "" } = key;
  const { version, address, token, expiresAt, lastNonce } = saved;
  const fields = { version, address, token, expiresAt, lastNonce };
  return handle === undefined
    ? { ...fields, sessionKey: { kind, publicKey, secret } }
    : { ...fields, sessionKey: { kind, publicKey, handle } };
}

function isStored(session: SavedSession | StoredSession): session is StoredSession {
  return "handle" in session.sessionKey;
}

/** @throws KeyFileError in place of a refusal. */
async function unlessRefused<T>(
  answer: Promise<T>,
  problem: "ended" | "used",
  ...codes: readonly string[]
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const isRefused = error instanceof PerpgateError && error.outcome === "refused";
    if (isRefused && codes.includes(error.code)) throw new KeyFileError(problem);
    throw error;
  }
}

/** Null of a venue without a transparency log. */
async function venueIdOf(client: PerpgateClient): Promise<string | null> {
  try {
    return (await client.honesty()).venueId;
  } catch (error) {
    if (error instanceof PerpgateError && error.code === "no_transparency_log") return null;
    throw error;
  }
}
