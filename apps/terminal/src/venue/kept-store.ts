/**
 * What stays in the browser for "Stay signed in", in IndexedDB:
 *
 *   session   the session's token and the handle of its key, which no script can read
 *   receipt/… receipts of acknowledgements (`kept-receipts.ts`)
 *   burner    the private key of the burner wallet, encrypted with an AES key that no script can read or
 *             export, which is in the same record: a page that is left keeps both or neither
 *
 * A script of this page could use all of them; somebody with the files of the profile alone cannot read
 * the secrets. Where the browser forbids storage nothing is kept, and a reload signs out.
 *
 * The tabs of a browser share it. A tab therefore deletes only the session and the wallet that it names,
 * and never replaces the key of another wallet.
 *
 * A page that is left takes its unfinished transactions with it. What is to be forgotten is therefore
 * noted in `localStorage` first, which takes effect immediately, and the note ends with the deletion.
 */

import { privateKeyAccount, type StoredSession } from "@perpgate/sdk";
import { endPreference, readPreference, writePreference } from "../state/preferences.js";

interface KeptSession {
  readonly stored: StoredSession;
  readonly kind: "burner" | "wallet" | "file";
  /** The wallet that signed, to notice when it changes its account. */
  readonly walletId: string | undefined;
}

interface SealedKey {
  readonly nonce: Uint8Array<ArrayBuffer>;
  readonly bytes: ArrayBuffer;
  /** Missing in a record of an earlier release, which kept the AES key apart as `seal`. */
  readonly address?: string;
  readonly key?: CryptoKey;
}

const DATABASE = "perpgate";
const TABLE = "kept";
const AES = "AES-GCM";
const NONCE_BYTES = 12;
const LONGEST_WAIT_MS = 5_000;

export class KeptStore {
  async readSession(): Promise<KeptSession | undefined> {
    const forgotten = readPreference("forget-session");
    if (forgotten !== undefined) await this.forgetSession(forgotten);
    const value = await inTable<unknown>(false, (table) => resultOf(table.get("session")));
    return isKeptSession(value) ? value : undefined;
  }

  async writeSession(session: KeptSession): Promise<void> {
    endPreference("forget-session");
    await inTable(true, (table) => resultOf(table.put(session, "session")));
  }

  /** The same session with other keys. Not if the browser keeps another one by now. */
  async updateSession(stored: StoredSession): Promise<void> {
    await inTable(false, async (table) => {
      const kept: unknown = await resultOf(table.get("session"));
      if (!isKeptSession(kept) || kept.stored.token !== stored.token) return;
      await resultOf(table.put({ ...kept, stored }, "session"));
    });
  }

  /** By its id: another tab may have replaced its key. */
  async forgetSession(id: string): Promise<void> {
    writePreference("forget-session", id);
    await inTable(false, async (table) => {
      const kept: unknown = await resultOf(table.get("session"));
      const isOwn = isKeptSession(kept) && sessionIdOf(kept.stored) === id;
      if (isOwn) await resultOf(table.delete("session"));
    });
    endPreference("forget-session");
  }

  /** The private key, hex. */
  async readBurner(): Promise<string | undefined> {
    await this.forgetNotedBurner();
    const found = await inTable<unknown[]>(false, (table) =>
      Promise.all([resultOf(table.get("burner")), resultOf(table.get("seal"))]),
    );
    const [kept, key] = found ?? [];
    if (!isSealed(kept)) return undefined;
    const privateKey = await opened(kept, kept.key ?? key);
    if (privateKey !== undefined && kept.key === undefined) {
      // Stays as it is if the browser refuses.
      await this.addBurner(privateKey).catch(() => undefined);
    }
    return privateKey;
  }

  /** @throws if the browser keeps another wallet, which would be lost. */
  async addBurner(privateKey: string): Promise<void> {
    await this.forgetNotedBurner();
    const sealed = await seal(privateKey);
    await inTable(true, async (table) => {
      const kept: unknown = await resultOf(table.get("burner"));
      const owner = isSealed(kept) ? kept.address : undefined;
      if (owner === sealed.address) return;
      if (owner !== undefined) throw new Error(`the burner wallet ${owner} is kept`);
      table.delete("seal");
      await resultOf(table.put(sealed, "burner"));
    });
  }

  async forgetBurner(address: string): Promise<void> {
    writePreference("forget-burner", address);
    await inTable(false, async (table) => {
      const kept: unknown = await resultOf(table.get("burner"));
      const owner = isSealed(kept) ? kept.address : undefined;
      if (owner !== undefined && owner !== address) return;
      table.delete("seal");
      await resultOf(table.delete("burner"));
    });
    endPreference("forget-burner");
  }

  /** The session and the burner wallet, whichever tab has kept them. */
  async forgetAll(): Promise<void> {
    await resultOf(indexedDB.deleteDatabase(DATABASE));
  }

  private async forgetNotedBurner(): Promise<void> {
    const address = readPreference("forget-burner");
    if (address !== undefined) await this.forgetBurner(address);
  }
}

async function seal(privateKey: string): Promise<Required<SealedKey>> {
  const { address } = privateKeyAccount(privateKey);
  const key = await crypto.subtle.generateKey({ name: AES, length: 256 }, false, [
    "encrypt",
    "decrypt",
  ]);
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const text = new TextEncoder().encode(privateKey);
  const bytes = await crypto.subtle.encrypt({ name: AES, iv: nonce }, key, text);
  return { address, key, nonce, bytes };
}

/** Undefined if it was encrypted with another key, as after a page was left between the two records. */
async function opened({ nonce, bytes }: SealedKey, key: unknown): Promise<string | undefined> {
  if (!(key instanceof CryptoKey)) return undefined;
  const opening = crypto.subtle.decrypt({ name: AES, iv: nonce }, key, bytes);
  const text = await opening.catch(() => undefined);
  return text === undefined ? undefined : new TextDecoder().decode(text);
}

/** The last part of a token, which is no secret. */
export function sessionIdOf({ token }: Pick<StoredSession, "token">): string {
  return token.slice(token.lastIndexOf(".") + 1);
}

/** Whether this page can keep a key: only a page that was loaded securely has WebCrypto. */
export function canKeep(): boolean {
  return window.isSecureContext && "indexedDB" in window;
}

/** Without `mayCreate` a database that does not exist is not created, and the result is undefined. */
export async function inTable<T>(
  mayCreate: boolean,
  use: (table: IDBObjectStore) => Promise<T>,
): Promise<T | undefined> {
  let isAbsent = false;
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => {
    isAbsent = !mayCreate;
    if (mayCreate) opening.result.createObjectStore(TABLE);
    else opening.transaction?.abort();
  };
  const database = await resultOf(opening).catch((error: unknown) => {
    if (isAbsent) return undefined;
    throw error;
  });
  if (database === undefined) return undefined;
  try {
    return await use(database.transaction(TABLE, "readwrite").objectStore(TABLE));
  } finally {
    database.close();
  }
}

/** Storage that does not answer must not keep anyone from trading: fails after a while. */
export function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("the browser's storage does not answer")), LONGEST_WAIT_MS);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function isKeptSession(value: unknown): value is KeptSession {
  if (!isRecord(value) || typeof value.kind !== "string") return false;
  return isRecord(value.stored) && isRecord(value.stored.sessionKey);
}

function isSealed(value: unknown): value is SealedKey {
  return isRecord(value) && value.nonce instanceof Uint8Array && value.bytes instanceof ArrayBuffer;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
