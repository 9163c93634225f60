/**
 * What stays in the browser for "Stay signed in", in IndexedDB:
 *
 *   session   the session's token and the handle of its key, which no script can read
 *   burner    the private key of the burner wallet, encrypted with `seal`
 *   seal      an AES key that no script can read or export
 *
 * A script of this page could use all of them; somebody with the files of the profile alone cannot read
 * the secrets. Where the browser forbids storage nothing is kept, and a reload signs out.
 */

import type { StoredSession } from "@perpgate/sdk";

export interface KeptSession {
  readonly stored: StoredSession;
  readonly kind: "burner" | "wallet";
  /** The wallet that signed, to notice when it changes its account. */
  readonly walletId: string | undefined;
}

const DATABASE = "perpgate";
const TABLE = "kept";
const AES = "AES-GCM";
const NONCE_BYTES = 12;

export class KeptStore {
  async readSession(): Promise<KeptSession | undefined> {
    const value = await this.read("session");
    return isKeptSession(value) ? value : undefined;
  }

  async writeSession(session: KeptSession): Promise<void> {
    await this.write("session", session);
  }

  async forgetSession(): Promise<void> {
    await this.write("session", undefined);
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
    await this.write("burner", undefined);
    await this.write("seal", undefined);
  }

  private read(name: string): Promise<unknown> {
    return inTable(false, (table) => resultOf(table.get(name))).catch(() => undefined);
  }

  private async write(name: string, value: unknown): Promise<void> {
    const isRemoved = value === undefined;
    await inTable(!isRemoved, (table) =>
      isRemoved ? resultOf(table.delete(name)) : resultOf(table.put(value, name)),
    );
  }
}

/** Whether this page can keep a key: only a page that was loaded securely has WebCrypto. */
export function canKeep(): boolean {
  return window.isSecureContext && "indexedDB" in window;
}

/** Without `mayCreate` a database that does not exist is not created. */
async function inTable(
  mayCreate: boolean,
  use: (table: IDBObjectStore) => Promise<unknown>,
): Promise<unknown> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => {
    if (mayCreate) opening.result.createObjectStore(TABLE);
    else opening.transaction?.abort();
  };
  const database = await resultOf(opening);
  try {
    return await use(database.transaction(TABLE, "readwrite").objectStore(TABLE));
  } finally {
    database.close();
  }
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
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
