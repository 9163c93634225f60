/**
 * Sessions by number and by token hash, and the sign-in nonces that were used. There is no undo:
 * changes are the last step of a command, after everything that could fail.
 */
import { ExpiryQueue } from "./expiry-queue.js";
import type { NonceWindow } from "./nonce-window.js";
import { Timers } from "./timers.js";

export interface Session {
  readonly number: number;
  readonly account: number;
  /** Fingerprint of the key that must sign its orders. */
  key: string;
  readonly tokenHash: string;
  readonly expiresAtMs: number;
  readonly maxOrderNotionalMicros: number;
  readonly maxNotionalMicros: number;
  /** null: every market. */
  readonly markets: ReadonlySet<number> | null;
  readonly nonces: NonceWindow;
  /** Whether its open orders end with its last connection; set through `setCancelOnDisconnect`. */
  cancelOnDisconnect: boolean;
}

export class SessionBook {
  readonly byNumber = new Map<number, Session>();
  private readonly byToken = new Map<string, Session>();
  /** Sessions with that option on; derived. */
  readonly cancelingOnDisconnect = new Set<Session>();
  /** Numbers of each account's sessions, ascending; derived. */
  private readonly ofAccount = new Map<number, Set<number>>();
  private readonly expiries = new Timers();
  /** address + sign-in nonce → when it may be forgotten. */
  readonly usedNonces = new Map<string, number>();
  private readonly forgettable = new ExpiryQueue();
  private readonly nonceByTicket = new Map<number, string>();
  private ticket = 0;

  open(session: Session): void {
    this.byNumber.set(session.number, session);
    this.byToken.set(session.tokenHash, session);
    this.expiries.set(session.number, session.expiresAtMs);
    const own = this.ofAccount.get(session.account);
    if (own === undefined) this.ofAccount.set(session.account, new Set([session.number]));
    else own.add(session.number);
    if (session.cancelOnDisconnect) this.cancelingOnDisconnect.add(session);
  }

  close(session: Session): void {
    this.byNumber.delete(session.number);
    this.byToken.delete(session.tokenHash);
    this.cancelingOnDisconnect.delete(session);
    this.expiries.delete(session.number);
    const own = this.ofAccount.get(session.account)!;
    own.delete(session.number);
    if (own.size === 0) this.ofAccount.delete(session.account);
  }

  /** The account's oldest session if it has as many as it may have; else undefined. */
  oldestBeyond(account: number, limit: number): Session | undefined {
    const own = this.ofAccount.get(account);
    if (own === undefined || own.size < limit) return undefined;
    for (const number of own) return this.byNumber.get(number);
    return undefined;
  }

  setCancelOnDisconnect(session: Session, isOn: boolean): void {
    session.cancelOnDisconnect = isOn;
    if (isOn) this.cancelingOnDisconnect.add(session);
    else this.cancelingOnDisconnect.delete(session);
  }

  withToken(tokenHash: string): Session | undefined {
    return this.byToken.get(tokenHash);
  }

  isNonceUsed(address: string, nonce: string): boolean {
    return this.usedNonces.has(nonceKey(address, nonce));
  }

  useNonce(key: string, untilMs: number): void {
    this.usedNonces.set(key, untilMs);
    this.ticket++;
    this.nonceByTicket.set(this.ticket, key);
    this.forgettable.push(untilMs, this.ticket);
  }

  /** Removes and returns the first session that has expired by then, if any. */
  takeExpired(timeMs: number): Session | undefined {
    if (this.expiries.nextTime() > timeMs) return undefined;
    const session = this.byNumber.get(this.expiries.pop())!;
    this.close(session);
    return session;
  }

  forgetNonces(timeMs: number): void {
    while (this.forgettable.nextTime() <= timeMs) {
      const ticket = this.forgettable.pop();
      this.usedNonces.delete(this.nonceByTicket.get(ticket)!);
      this.nonceByTicket.delete(ticket);
    }
  }
}

/** An address contains no space, so no two pairs share a key. */
export function nonceKey(address: string, nonce: string): string {
  return `${address} ${nonce}`;
}
