/**
 * Which account has which sessions and has had which keys, to judge commands that end another session:
 * those are signed, by a key of the same account, over the method and path of their request.
 */
import type { CloseSession } from "@perpgate/engine";
import { endSessionText } from "@perpgate/protocol/core";
import type { Evidence } from "../record/record.js";
import { fingerprintOf } from "./key-signature.js";

export interface OwnedSession {
  readonly number: number;
  readonly account: number;
  /** Fingerprint of its key. */
  readonly key: string;
}

export class SessionOwners {
  /** Session number → its account. */
  private readonly accounts = new Map<number, number>();
  /** Fingerprint of a key → the accounts that a session with it was of. */
  private readonly owners = new Map<string, Set<number>>();

  /** `isPruned`: there may have been other keys, of sessions that ended before the log's start. */
  constructor(private readonly isPruned: boolean) {}

  add({ number, account, key }: OwnedSession): void {
    this.accounts.set(number, account);
    this.addKey(number, key);
  }

  /** A key that the session has from now on. */
  addKey(session: number, key: string): void {
    const account = this.accounts.get(session);
    if (account === undefined) return;
    const owners = this.owners.get(key) ?? new Set();
    owners.add(account);
    this.owners.set(key, owners);
  }

  /** What is wrong with the text and the key of a signed command that ended a session, or null. */
  endFault({ session }: CloseSession, { signed, publicKey }: Evidence): string | null {
    const text = Buffer.from(signed).toString("utf8");
    if (text !== endSessionText() && text !== endSessionText(String(session))) {
      return `"${text}" was signed to end session ${session}`;
    }
    const account = this.accounts.get(session);
    this.accounts.delete(session);
    if (account === undefined) return null;
    const owners = this.owners.get(fingerprintOf(publicKey));
    const isOwn = owners === undefined ? this.isPruned : owners.has(account);
    return isOwn ? null : `session ${session} was ended with a key of another account`;
  }
}
