/** An account's money, and the session of the request. */
import { equityOf, type Session, settledFigures } from "@perpgate/engine/reading";
import type { Account } from "@perpgate/protocol";
import { fromMicros } from "./figures.js";
import { stateOf, unitsOf, type VenueSource } from "./venue-source.js";

/** The address is in lower case; the gateway adds the checksum. */
export function accountView(source: VenueSource, session: Session): Account {
  const state = stateOf(source);
  const { account } = session;
  const wallet = state.wallet(account);
  let reserved = 0;
  let margin = 0;
  let equity = 0;
  for (const market of state.markets) {
    const row = market.positions.rowOf(account);
    if (row < 0) continue;
    const { positions } = market;
    reserved += positions.reserved(row);
    margin += settledFigures(market, row).marginMicros;
    equity += equityOf(market, row);
  }
  return {
    address: `0x${state.addresses.at(account) ?? ""}`,
    balance: fromMicros(wallet + reserved + margin),
    available: fromMicros(wallet),
    reserved: fromMicros(reserved),
    positionMargin: fromMicros(margin),
    equity: fromMicros(wallet + reserved + equity),
    cohort: state.admits(account),
    session: sessionView(source, session),
  };
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
