/** An account's money, and the session of the request. */

import { equityOf, type Session, settledFigures, type VenueState } from "@perpgate/engine/reading";
import type { Account } from "@perpgate/protocol";
import { fromMicros } from "@perpgate/protocol/core";
import { stateOf, unitsOf, type VenueSource } from "./venue-source.js";

interface Money {
  readonly wallet: number;
  readonly reserved: number;
  readonly margin: number;
  /** With the unrealised PnL of all positions. */
  readonly equity: number;
}

/** Money in dollars, by the names of the wire. */
export function moneyView({ wallet, reserved, margin, equity }: Money) {
  return {
    balance: fromMicros(wallet + reserved + margin),
    available: fromMicros(wallet),
    reserved: fromMicros(reserved),
    positionMargin: fromMicros(margin),
    equity: fromMicros(equity),
  };
}

/** An account's money in micros; funding that has accrued counts as paid. */
export function moneyOf(state: VenueState, account: number): Money {
  const wallet = state.wallet(account);
  let reserved = 0;
  let margin = 0;
  let equity = 0;
  for (const market of state.markets) {
    const row = market.positions.rowOf(account);
    if (row < 0) continue;
    reserved += market.positions.reserved(row);
    margin += settledFigures(market, row).marginMicros;
    equity += equityOf(market, row);
  }
  return { wallet, reserved, margin, equity: wallet + reserved + equity };
}

/** What `Account.balance` shows, in micros. */
export function balanceOf(state: VenueState, account: number): number {
  const { wallet, reserved, margin } = moneyOf(state, account);
  return wallet + reserved + margin;
}

/** The same without funding that has accrued and is not booked. */
export function bookedBalance(state: VenueState, account: number): number {
  let balance = state.wallet(account);
  for (const { positions } of state.markets) {
    const row = positions.rowOf(account);
    if (row >= 0) balance += positions.reserved(row) + positions.margin(row);
  }
  return balance;
}

/** The address is in lower case; the gateway adds the checksum. */
export function accountView(source: VenueSource, session: Session): Account {
  const state = stateOf(source);
  const { account } = session;
  return {
    address: `0x${state.addresses.at(account) ?? ""}`,
    ...moneyView(moneyOf(state, account)),
    cohort: state.admits(account),
    session: sessionView(source, session),
  };
}

/** The account's live sessions, oldest first, without what their messages say. */
export function sessionsView(source: VenueSource, account: number) {
  const { sessions, timeMs } = stateOf(source);
  return sessions
    .ofOwner(account)
    .filter(({ expiresAtMs }) => timeMs < expiresAtMs)
    .map((session) => ({
      number: session.number,
      message: source.history.sessionKey(session.number)?.message.toString("utf8") ?? "",
      ...sessionView(source, session),
    }));
}

function sessionView(source: VenueSource, session: Session): Account["session"] {
  const publicKey = source.history.sessionKey(session.number)?.publicKey;
  return {
    sessionKey: publicKey?.toString("hex") ?? "",
    kind: publicKey?.length === 32 ? "ed25519" : "secp256k1",
    expiresAt: session.expiresAtMs,
    scope: {
      maxOrderNotional: capOf(session.maxOrderNotionalMicros),
      maxNotional: capOf(session.maxNotionalMicros),
      symbols:
        session.markets === null
          ? null
          : [...session.markets].map((market) => unitsOf(source, market).symbol),
    },
    cancelOnDisconnect: session.cancelOnDisconnect,
  };
}

function capOf(micros: number): number | null {
  return micros === 0 ? null : fromMicros(micros);
}
