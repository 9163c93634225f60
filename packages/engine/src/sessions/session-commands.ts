/** Sign in, rotate, sign out, and who may open positions. */
import type { CloseSession, OpenSession, RotateSession, SetCohort } from "../commands.js";
import { MAX_DEPOSITS_MICROS } from "../config.js";
import { EVENT } from "../event-log.js";
import { endOrders } from "../matching/cancel-all.js";
import { END, REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import { ACCOUNT, ACCOUNT_WORDS, COHORT_STAGES, GLOBAL, type VenueState } from "../state/venue.js";
import { NonceWindow } from "./nonce-window.js";
import { nonceKey, type Session } from "./session-book.js";
import { orderIdsOfSession } from "./session-orders.js";

const MAX_SAFE_MICROS = Number.MAX_SAFE_INTEGER;

/** The live session, or undefined after saying why not. */
export function liveSession(s: VenueState, number: number): Session | undefined {
  const session = s.sessions.byNumber.get(number);
  if (session === undefined) {
    refuse(s, REFUSAL.session_unknown);
    return undefined;
  }
  if (s.timeMs >= session.expiresAtMs) {
    refuse(s, REFUSAL.session_expired);
    return undefined;
  }
  return session;
}

export function openSession(s: VenueState, command: OpenSession): boolean {
  const { address } = command;
  if (s.sessions.isNonceUsed(address, command.siweNonce)) return refuse(s, REFUSAL.siwe_nonce_used);
  if (s.sessions.withToken(command.tokenHash) !== undefined) return refuse(s, REFUSAL.token_in_use);
  if (command.expiresAtMs <= s.timeMs) return refuse(s, REFUSAL.session_expired);
  if (command.markets.some((market) => s.markets[market] === undefined)) {
    return refuse(s, REFUSAL.unknown_symbol);
  }
  const account = s.accountOf.get(address) ?? announceAccount(s, address);
  grantAtFirstSignIn(s, account);
  s.events.emit(EVENT.SessionOpened, s.seq, account, command.expiresAtMs);
  s.sessions.open({
    number: s.seq,
    account,
    key: command.key,
    tokenHash: command.tokenHash,
    expiresAtMs: command.expiresAtMs,
    maxOrderNotionalMicros: command.maxOrderNotionalMicros,
    maxNotionalMicros: command.maxNotionalMicros,
    markets: command.markets.length === 0 ? null : new Set(command.markets),
    nonces: new NonceWindow(),
    cancelOnDisconnect: false,
  });
  s.sessions.useNonce(nonceKey(address, command.siweNonce), command.siweNonceUntilMs);
  return true;
}

/** Opens the account and says so, the address as four integers of five bytes. */
export function announceAccount(s: VenueState, address: string): number {
  const account = s.openAccount(address);
  const parts = [0, 10, 20, 30].map((at) => Number.parseInt(address.slice(at, at + 10), 16));
  s.events.emit(EVENT.AccountOpened, account, ...parts);
  return account;
}

function grantAtFirstSignIn(s: VenueState, account: number): void {
  const at = account * ACCOUNT_WORDS + ACCOUNT.SIGNED_IN;
  if (s.accounts.data[at] !== 0) return;
  s.accounts.touch(account);
  s.accounts.data[at] = 1;
  const grant = s.config!.devCreditMicros;
  if (s.config!.attestorKind !== "dev" || grant === 0) return;
  if (!fitsDeposits(s, grant)) return;
  credit(s, account, grant);
}

/** Whether so much more may come in: asked first, since a credit is not undone. */
export function fitsDeposits(s: VenueState, micros: number): boolean {
  const deposits = s.global(GLOBAL.DEPOSITS) + micros;
  return deposits <= MAX_DEPOSITS_MICROS && deposits + s.global(GLOBAL.COST) <= MAX_SAFE_MICROS;
}

/** Money from outside into a wallet. */
export function credit(s: VenueState, account: number, micros: number): void {
  s.add(GLOBAL.DEPOSITS, micros);
  s.addWallet(account, micros);
  s.events.emit(EVENT.BalanceCredited, account, micros, s.wallet(account));
}

export function rotateSession(s: VenueState, command: RotateSession): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  if (session.key !== command.oldKey) return refuse(s, REFUSAL.session_key_rotated);
  session.key = command.newKey;
  s.events.emit(EVENT.SessionRotated, session.number);
  return true;
}

/** Its connections end with it, so its orders go if it wants them to. */
export function closeSession(s: VenueState, command: CloseSession): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  if (session.cancelOnDisconnect) endOrders(s, orderIdsOfSession(s, session), END.disconnected);
  return true;
}

/** The last event of a CloseSession; the session is gone from here on. */
export function reportClosed(s: VenueState, command: CloseSession): void {
  s.sessions.close(s.sessions.byNumber.get(command.session)!);
  s.events.emit(EVENT.SessionClosed, command.session, 0);
}

export function expireSessions(s: VenueState): void {
  for (;;) {
    const session = s.sessions.takeExpired(s.timeMs);
    if (session === undefined) break;
    s.events.emit(EVENT.SessionClosed, session.number, 1);
  }
  s.sessions.forgetNonces(s.timeMs);
}

export function setCohort(s: VenueState, command: SetCohort): boolean {
  s.cohort = COHORT_STAGES.indexOf(command.stage);
  for (const address of command.allow) s.allowlist.add(address);
  for (const address of command.disallow) s.allowlist.delete(address);
  s.events.emit(EVENT.CohortChanged, s.cohort);
  return true;
}
