/**
 * What stays in the browser for "Stay signed in", in IndexedDB:
 *
 *   session   the session's token and the handle of its key, which no script can read
 *   burner    the private key of the burner wallet, encrypted with `seal`
 *   seal      an AES key that no script can read or export
 *
 * A script of this page could use all of them; somebody with the files of the profile alone cannot read
 * the secrets. Where the browser forbids storage nothing is kept, and a reload signs out.
 *
 * A page that is left takes its unfinished transactions with it. What is to be forgotten is therefore
 * noted in `localStorage` first, which takes effect immediately, and the note ends with the deletion.
 */

import type { StoredSession } from "@perpgate/sdk";
import { endPreference, readPreference, writePreference } from "../state/preferences.js";

export interface KeptSession {
  readonly stored: StoredSession;
  readonly kind: "burner" | "wallet";
  /** The wallet that signed, to notice when it changes its account. */
  readonly walletId: string | undefined;
}

type KeptName = "session" | "burner" | "seal";

const DATABASE = "perpgate";
const TABLE = "kept";
const AES = "AES-GCM";
const NONCE_BYTES = 12;
const LONGEST_WAIT_MS = 5_000;

export class KeptStore {
  async readSession(): Promise<KeptSession | undefined> {
    const value = await this.read("session");
    return isKeptSession(value) ? value : undefined;
  }

  async writeSession(session: KeptSession): Promise<void> {
    await this.write("session", session);
  }

  async forgetSession(): Promise<void> {
    await this.forget("session");
  }

  /** The private key, hex. */
  async readBurner(): Promise<string | undefined> {
    const [kept, key] = [await this.read("burner"), await this.read("seal")];
    if (!isSealed(kept) || !(key instanceof CryptoKey)) return undefined;
    const bytes = await crypto.subtle.decrypt({ name: AES, iv: kept.nonce }, key, kept.bytes);
    return new TextDecoder().decode(bytes);
  }

  async writeBurner(privateKey: string): Promise<void> {
    const key = await crypto.subtle.generateKey({ name: AES, length: 256 }, false, [
      "encrypt",
      "decrypt",
    ]);
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const text = new TextEncoder().encode(privateKey);
    const bytes = await crypto.subtle.encrypt({ name: AES, iv: nonce }, key, text);
    await this.write("seal", key);
    await this.write("burner", { nonce, bytes });
  }

  async forgetBurner(): Promise<void> {
    await Promise.all([this.forget("burner"), this.forget("seal")]);
  }

  private async read(name: KeptName): Promise<unknown> {
    if (readPreference(`forget-${name}`) !== undefined) await this.forget(name);
    return inTable(false, (table) => resultOf(table.get(name)));
  }

  private async write(name: KeptName, value: unknown): Promise<void> {
    endPreference(`forget-${name}`);
    await inTable(true, (table) => resultOf(table.put(value, name)));
  }

  private async forget(name: KeptName): Promise<void> {
    writePreference(`forget-${name}`, "yes");
    await inTable(false, (table) => resultOf(table.delete(name)));
    endPreference(`forget-${name}`);
  }
}

/** Whether this page can keep a key: only a page that was loaded securely has WebCrypto. */
export function canKeep(): boolean {
  return window.isSecureContext && "indexedDB" in window;
}

/** Without `mayCreate` a database that does not exist is not created, and the result is undefined. */
async function inTable(
  mayCreate: boolean,
  use: (table: IDBObjectStore) => Promise<unknown>,
): Promise<unknown> {
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
function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("the browser's storage does not answer")), LONGEST_WAIT_MS);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function isKeptSession(value: unknown): value is KeptSession {
  return isRecord(value) && isRecord(value.stored) && typeof value.kind === "string";
}

function isSealed(value: unknown): value is { nonce: Uint8Array<ArrayBuffer>; bytes: ArrayBuffer } {
  return isRecord(value) && value.nonce instanceof Uint8Array && value.bytes instanceof ArrayBuffer;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
