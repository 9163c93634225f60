/** Sign in, rotate the key, sign out; and which accounts may open positions. */
import type { CloseSession, OpenSession, RotateSession, SetCohort } from "../commands.js";
import { MAX_DEPOSITS_MICROS, SESSIONS_PER_ACCOUNT } from "../config.js";
import { emit } from "../events/event-log.js";
import { endOrders } from "../orders/settle.js";
import { END, REFUSAL } from "../reasons.js";
import { liveSession, refuse } from "../refuse.js";
import type { Session } from "../state/sessions.js";
import { nonceKey } from "../state/used-nonces.js";
import type { VenueState } from "../state/venue.js";
import { COHORT_STAGES } from "../state/venue-tables.js";
import { orderIdsOfSession } from "./disconnect.js";

export function applyOpenSession(s: VenueState, command: OpenSession): boolean {
  const { address } = command;
  if (s.sessions.usedNonces.isUsed(address, command.siweNonce, s.timeMs))
    return refuse(s, REFUSAL.siwe_nonce_used);
  if (s.sessions.withToken(command.tokenHash) !== undefined) return refuse(s, REFUSAL.token_in_use);
  if (command.expiresAtMs <= s.timeMs) return refuse(s, REFUSAL.session_expired);
  if (command.markets.some((market) => s.markets[market] === undefined)) {
    return refuse(s, REFUSAL.unknown_symbol);
  }
  const displaced = displacedBy(s, command);
  if (displaced?.cancelOnDisconnect === true) {
    endOrders(s, orderIdsOfSession(s, displaced), END.disconnected);
  }
  return true;
}

/** The oldest session of the account, if it has as many as it may have. */
function displacedBy(s: VenueState, { address }: OpenSession): Session | undefined {
  const account = s.addresses.get(address);
  return account === undefined ? undefined : s.sessions.oldestBeyond(account, SESSIONS_PER_ACCOUNT);
}

/** The last events of an OpenSession: after the check of the invariants, since it has no undo. */
export function reportOpened(s: VenueState, command: OpenSession): void {
  const { address } = command;
  const displaced = displacedBy(s, command);
  if (displaced !== undefined) {
    const { number } = displaced;
    s.sessions.close(number);
    emit.SessionClosed(s.events, { session: number, expired: 0 });
  }
  const account = s.addresses.get(address) ?? announceAccount(s, address);
  grantAtFirstSignIn(s, account);
  const { expiresAtMs } = command;
  emit.SessionOpened(s.events, { session: s.seq, account, expiresAtMs });
  s.sessions.open({
    number: s.seq,
    account,
    key: command.key,
    tokenHash: command.tokenHash,
    expiresAtMs,
    maxOrderNotionalMicros: command.maxOrderNotionalMicros,
    maxNotionalMicros: command.maxNotionalMicros,
    markets: command.markets.length === 0 ? null : new Set(command.markets),
    cancelOnDisconnect: false,
  });
  noteContract(s, account, command);
  s.sessions.usedNonces.use(nonceKey(address, command.siweNonce), command.siweNonceUntilMs);
}

/** By the latest sign-in: who signs by a key has it on every chain. */
function noteContract(s: VenueState, account: number, { contractChainId }: OpenSession): void {
  if (!s.rules.hasWithdrawals) return;
  const { contractChains } = s.withdrawals;
  if (contractChainId === undefined) contractChains.delete(account);
  else contractChains.set(account, contractChainId);
}

export function announceAccount(s: VenueState, address: string): number {
  const account = s.openAccount(address);
  emit.AccountOpened(s.events, { account, ...addressWords(address) });
  return account;
}

/** The address as four integers of five bytes. */
export function addressWords(address: string) {
  const part = (at: number): number => Number.parseInt(address.slice(at, at + 10), 16);
  return { address1: part(0), address2: part(10), address3: part(20), address4: part(30) };
}

/** A grant that the bound does not allow is made up at a later sign-in. */
function grantAtFirstSignIn(s: VenueState, account: number): void {
  if (s.hasGrant(account)) return;
  const grant = s.config!.attestorKind === "dev" ? s.config!.devCreditMicros : 0;
  if (grant > 0 && !fitsDeposits(s, grant)) return;
  s.markGranted(account);
  if (grant > 0) credit(s, account, grant);
}

/**
 * Whether the venue may take that much more: checked first, since a credit is not undone. The bound is
 * on what it owes its accounts now, at any mark, since lots balance; and the sums of the identity stay
 * safe integers.
 */
export function fitsDeposits(s: VenueState, micros: number): boolean {
  const { wallets, margins, reserves, deposits, cost } = s.totals;
  // Withdrawals that expire are credited again without this check.
  const { owed } = s.withdrawals;
  return (
    wallets + margins + reserves - cost + owed + micros <= MAX_DEPOSITS_MICROS &&
    deposits + owed + Math.max(0, cost) + micros <= Number.MAX_SAFE_INTEGER
  );
}

/** Credits money from outside to a wallet. */
export function credit(s: VenueState, account: number, amountMicros: number): void {
  s.totals.deposits += amountMicros;
  s.addWallet(account, amountMicros);
  emit.BalanceCredited(s.events, { account, amountMicros, walletMicros: s.wallet(account) });
}

export function applyRotateSession(s: VenueState, command: RotateSession): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  if (session.key !== command.oldKey) return refuse(s, REFUSAL.session_key_rotated);
  session.key = command.newKey;
  emit.SessionRotated(s.events, { session: session.number });
  return true;
}

/** The session's connections end with it: with cancel-on-disconnect its orders do, too. */
export function closeSession(s: VenueState, command: CloseSession): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  if (session.cancelOnDisconnect) endOrders(s, orderIdsOfSession(s, session), END.disconnected);
  return true;
}

/** Removes the session, and reports it in the last event of a CloseSession. */
export function reportClosed(s: VenueState, command: CloseSession): void {
  s.sessions.close(command.session);
  emit.SessionClosed(s.events, { session: command.session, expired: 0 });
}

export function expireSessions(s: VenueState): void {
  for (const session of s.scratch.expiredSessions) {
    s.sessions.close(session);
    emit.SessionClosed(s.events, { session, expired: 1 });
  }
  s.sessions.usedNonces.forget(s.timeMs);
}

export function setCohort(s: VenueState, command: SetCohort): boolean {
  s.cohort = COHORT_STAGES.indexOf(command.stage);
  for (const address of command.allow) s.allowlist.add(address);
  for (const address of command.disallow) s.allowlist.delete(address);
  emit.CohortChanged(s.events, { stage: s.cohort });
  return true;
}
