/** ChangeMargin: money between the wallet and the margin of a position (docs/engine.md, "ChangeMargin"). */
import { divCeil } from "@perpgate/protocol/integers";
import type { ChangeMargin } from "../commands.js";
import { emit } from "../events/event-log.js";
import { REFUSAL } from "../reasons.js";
import { mayTrade, refuse } from "../refuse.js";
import { signingSession } from "../sessions/signing.js";
import { MARKET_HALTED, type Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import { maintenanceOf } from "./fill.js";
import { leverageLimit } from "./leverage-limit.js";
import { settledFigures, settleFunding } from "./owed-funding.js";

/** Checks and executes; returns whether it was accepted. `reportMargin` follows. */
export function applyChangeMargin(s: VenueState, command: ChangeMargin): boolean {
  const session = signingSession(s, command);
  if (session === undefined) return false;
  const market = s.markets[command.market];
  if (market === undefined) return refuse(s, REFUSAL.unknown_symbol);
  s.focus = command.market;
  if (!mayChange(s, session, market, command)) return false;
  const { amountMicros } = command;
  const row = market.positions.ensure(session.account);
  s.scratch.session = session;
  settleFunding(s, market, row);
  s.addMargin(market, row, amountMicros);
  s.addWallet(session.account, -amountMicros);
  return true;
}

function mayChange(
  s: VenueState,
  session: Session,
  market: Market,
  { amountMicros, nonce }: ChangeMargin,
): boolean {
  if (market.halted) {
    const isHalted = market.status === MARKET_HALTED;
    return refuse(s, isHalted ? REFUSAL.market_halted : REFUSAL.market_settled);
  }
  if (session.markets !== null && !session.markets.has(market.number)) {
    return refuse(s, REFUSAL.session_symbol_not_allowed);
  }
  const isWellFormed =
    Number.isSafeInteger(amountMicros) &&
    amountMicros !== 0 &&
    Number.isSafeInteger(nonce) &&
    nonce >= 0;
  if (!isWellFormed) return refuse(s, REFUSAL.invalid_command);
  const row = market.positions.rowOf(session.account);
  if (row === NONE || market.positions.lots(row) === 0) {
    return refuse(s, REFUSAL.position_not_found);
  }
  if (amountMicros < 0) return mayRemove(s, market, row, -amountMicros);
  const wallet = s.wallet(session.account);
  return amountMicros <= wallet || refuse(s, REFUSAL.insufficient_margin, wallet);
}

/** Money leaves a position only at a price that can be trusted, and never what its risk needs. */
function mayRemove(s: VenueState, market: Market, row: number, micros: number): boolean {
  if (!market.mayOpen) return refuse(s, REFUSAL.market_reduce_only);
  if (!mayTrade(s, market)) return false;
  if (!s.isLive(market)) return refuse(s, REFUSAL.stale_index);
  const removable = removableMargin(s, market, row);
  return micros <= removable || refuse(s, REFUSAL.margin_needed, removable);
}

/** The most that may leave the position's margin at the present mark, in micros. */
function removableMargin(s: VenueState, market: Market, row: number): number {
  const lots = market.positions.lots(row);
  const notional = market.notional(lots);
  // As it is once its funding is settled.
  const { marginMicros, costMicros } = settledFigures(market, row);
  const unrealized = lots * market.markUnit - costMicros;
  const { maxLeverage } = market.maintenance.tierOf(notional);
  const initial = divCeil(notional, Math.min(maxLeverage, leverageLimit(s, market)));
  const needed = Math.max(initial, maintenanceOf(market, row) + 1);
  return Math.max(0, marginMicros + Math.min(0, unrealized) - needed);
}

/** The last event of an accepted ChangeMargin; its nonce counts as used from here on. */
export function reportMargin(s: VenueState, command: ChangeMargin): void {
  const { session } = s.scratch;
  if (session === null) throw new Error("no change of margin to report");
  const { positions } = s.markets[command.market]!;
  emit.MarginChanged(s.events, {
    account: session.account,
    market: command.market,
    session: session.number,
    nonce: command.nonce,
    amountMicros: command.amountMicros,
    marginMicros: positions.margin(positions.rowOf(session.account)),
    walletMicros: s.wallet(session.account),
  });
  session.nonces.remember(command.nonce, s.seq);
}
