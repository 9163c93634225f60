/**
 * The receipts of the account's acknowledgements: those of this visit, and where the session stays those of
 * earlier ones, which the browser keeps. They are no secrets, and prove what the venue has promised.
 */

import type { ReceiptFile } from "@perpgate/protocol/receipts";
import type { Session } from "@perpgate/sdk";
import { Store } from "../state/store.js";
import { inTable, resultOf } from "./kept-store.js";

/** Of an account. */
const KEPT = 500;

export class KeptReceipts {
  /** By the position of the acknowledgement. */
  readonly files = new Store<ReadonlyMap<string, ReceiptFile>>(new Map());
  private session: Session | undefined;

  /** `isKept`: the browser keeps the session, and so its receipts. */
  open(session: Session, isKept: boolean): void {
    this.session = session;
    this.files.set(new Map());
    if (!isKept) return;
    // Not if the browser forbids storage.
    keptOf(session.address).then(
      (files) => this.add(session, files),
      () => undefined,
    );
  }

  close(): void {
    this.session = undefined;
    this.files.set(new Map());
  }

  /** Takes over the receipts that the session has got since. */
  async collect(session: Session, isKept: boolean): Promise<void> {
    await session.receipts.settled();
    const known = this.files.get();
    const added = session.receipts.files.filter(({ position }) => !known.has(String(position)));
    if (added.length === 0) return;
    this.add(session, added);
    if (isKept) await keep(session.address, added).catch(() => undefined);
  }

  private add(session: Session, files: readonly ReceiptFile[]): void {
    if (this.session !== session) return;
    const all = new Map(this.files.get());
    for (const file of files) all.set(String(file.position), file);
    this.files.set(all);
  }
}

function rangeOf(address: string): IDBKeyRange {
  const begin = `receipt/${address}/`;
  return IDBKeyRange.bound(begin, `${begin}~`);
}

async function keptOf(address: string): Promise<readonly ReceiptFile[]> {
  const found: unknown = await inTable(false, (table) => resultOf(table.getAll(rangeOf(address))));
  return Array.isArray(found) ? found.filter(isReceiptFile) : [];
}

/** The newest ones stay. */
async function keep(address: string, files: readonly ReceiptFile[]): Promise<void> {
  await inTable(false, async (table) => {
    for (const file of files) {
      table.put(file, `receipt/${address}/${String(file.position).padStart(16, "0")}`);
    }
    const keys = await resultOf(table.getAllKeys(rangeOf(address)));
    for (const key of keys.slice(0, -KEPT)) table.delete(key);
  });
}

function isReceiptFile(value: unknown): value is ReceiptFile {
  if (typeof value !== "object" || value === null) return false;
  const { position, receipt, address } = value as Partial<ReceiptFile>;
  return typeof position === "number" && typeof receipt === "string" && typeof address === "string";
}
