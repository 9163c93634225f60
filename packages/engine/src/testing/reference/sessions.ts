/**
 * "Sessions": sign-in, rotation, closing, and the cohort.
 */
import type {
  BatchPlace,
  CloseSession,
  OpenSession,
  RotateSession,
  SetCohort,
} from "../../commands.js";
import { MAX_DEPOSITS_MICROS, NONCE_WINDOW } from "../../config.js";
import { END } from "../../reasons.js";
import { emit, reservedIn, settleEvents } from "./end-events.js";
import { num } from "./integers.js";
import { openOrders } from "./open-orders.js";
import { forgetConnections } from "./presence.js";
import { type Refused, refused } from "./refusal.js";
import { endOrders } from "./settle.js";
import { type Account, accountOf, type Order, type Session, type State } from "./state.js";
import { chargeOrders } from "./work.js";

export function liveSession(state: State, number: number): Session | Refused {
  const session = state.sessions.get(number);
  if (session === undefined) return refused("session_unknown");
  if (state.time >= session.expiresAt) return refused("session_expired");
  return session;
}

/** Open orders that the session placed, ascending id. */
export function ordersOf(state: State, session: Session): Order[] {
  const open = openOrders(accountOf(state, session.account));
  chargeOrders(state, open.length);
  return open.filter((order) => order.session === session.number);
}

export function openSession(state: State, command: OpenSession): Refused | null {
  const signIn = `${command.address} ${command.siweNonce}`;
  if ((state.siweNonces.get(signIn) ?? 0) > state.time) return refused("siwe_nonce_used");
  for (const session of state.sessions.values()) {
    if (session.tokenHash === command.tokenHash) return refused("token_in_use");
  }
  if (command.expiresAtMs <= state.time) return refused("session_expired");
  if (command.markets.some((market) => state.markets[market] === undefined)) {
    return refused("unknown_symbol");
  }
  displaceOldest(state, command.address);
  state.siweNonces.set(signIn, command.siweNonceUntilMs);
  const account =
    state.accounts.find((each) => each.address === command.address) ??
    openAccount(state, command.address);
  grant(state, account);
  state.sessions.set(state.position, {
    number: state.position,
    account: account.number,
    tokenHash: command.tokenHash,
    expiresAt: command.expiresAtMs,
    maxOrderNotional: BigInt(command.maxOrderNotionalMicros),
    maxNotional: BigInt(command.maxNotionalMicros),
    markets: command.markets,
    key: command.key,
    nonces: new Map(),
    cancelOnDisconnect: false,
  });
  emit(state, {
    kind: "SessionOpened",
    session: state.position,
    account: account.number,
    expiresAtMs: command.expiresAtMs,
  });
  return null;
}

/** "At most 64 live sessions an account: the next sign-in ends the oldest." */
function displaceOldest(state: State, address: string): void {
  const account = state.accounts.find((each) => each.address === address);
  const own = [...state.sessions.values()].filter((each) => each.account === account?.number);
  const oldest = own.sort((a, b) => a.number - b.number)[0];
  if (oldest === undefined || own.length < 64) return;
  const before = { fund: state.fund, fees: state.fees };
  if (oldest.cancelOnDisconnect) endOrders(state, ordersOf(state, oldest), END.disconnected);
  settleEvents(state, before);
  state.sessions.delete(oldest.number);
  forgetConnections(state, oldest.number);
  emit(state, { kind: "SessionClosed", session: oldest.number, expired: 0 });
}

function openAccount(state: State, address: string): Account {
  state.accounts.push({
    number: state.accounts.length + 1,
    address,
    wallet: 0n,
    positions: [],
    cancelAt: 0,
    firedAt: 0,
    granted: false,
  });
  const account = accountOf(state, state.accounts.length);
  emit(state, {
    kind: "AccountOpened",
    account: account.number,
    address1: piece(address, 0),
    address2: piece(address, 1),
    address3: piece(address, 2),
    address4: piece(address, 3),
  });
  return account;
}

/** Under the `dev` attestor, once; where the bound does not allow it, at a later sign-in. */
function grant(state: State, account: Account): void {
  const amount = state.config.attestorKind === "dev" ? BigInt(state.config.devCreditMicros) : 0n;
  if (account.granted || owed(state) + amount > BigInt(MAX_DEPOSITS_MICROS)) return;
  account.granted = true;
  if (amount === 0n) return;
  account.wallet += amount;
  state.deposits += amount;
  emit(state, {
    kind: "BalanceCredited",
    account: account.number,
    amountMicros: num(amount),
    walletMicros: num(account.wallet),
  });
}

/** What the venue owes its accounts now: their equity, in which the marks cancel out. */
function owed(state: State): bigint {
  let sum = 0n;
  for (const { backstop, settlement, config } of state.markets) {
    sum -= backstop.cost;
    if (settlement === null) continue;
    sum -= settlement.lots * settlement.price * BigInt(config.microsPerTickLot);
  }
  for (const account of state.accounts) {
    sum += account.wallet;
    for (const position of account.positions) {
      sum += position.margin + reservedIn(position) - position.cost;
    }
  }
  return sum;
}

/** Five of the twenty bytes, big-endian. */
function piece(address: string, place: number): number {
  return Number.parseInt(address.slice(place * 10, place * 10 + 10), 16);
}

export function rotateSession(state: State, command: RotateSession): Refused | null {
  const session = liveSession(state, command.session);
  if ("refusal" in session) return session;
  if (session.key !== command.oldKey) return refused("session_key_rotated");
  session.key = command.newKey;
  emit(state, { kind: "SessionRotated", session: session.number });
  return null;
}

export function closeSession(state: State, command: CloseSession): Refused | null {
  const session = liveSession(state, command.session);
  if ("refusal" in session) return session;
  if (session.cancelOnDisconnect) {
    const before = { fund: state.fund, fees: state.fees };
    endOrders(state, ordersOf(state, session), END.disconnected);
    settleEvents(state, before);
  }
  state.sessions.delete(session.number);
  forgetConnections(state, session.number);
  emit(state, { kind: "SessionClosed", session: session.number, expired: 0 });
  return null;
}

export function setCohort(state: State, command: SetCohort): null {
  state.cohort = command.stage;
  for (const address of command.allow) state.allowed.add(address);
  for (const address of command.disallow) state.allowed.delete(address);
  const stage = ["closed", "allowlist", "open"].indexOf(command.stage);
  emit(state, { kind: "CohortChanged", stage });
  return null;
}

/** "The nonce is consumed once any operation succeeds": a batch's with the first position of it. */
export function consume(
  state: State,
  session: Session,
  nonce: number,
  batch: BatchPlace | undefined,
): void {
  if (batch === undefined) remember(session, nonce, state.position);
  else if (!session.nonces.has(nonce)) remember(session, nonce, state.position - batch.index);
}

/** "The nonce window remembers the 1,024 highest executed nonces of a session". */
export function remember(session: Session, nonce: number, orderId: number): void {
  session.nonces.set(nonce, orderId);
  if (session.nonces.size > NONCE_WINDOW) {
    session.nonces.delete([...session.nonces.keys()].reduce((a, b) => Math.min(a, b)));
  }
}
