/**
 * "ChangeMargin": money from the wallet into the margin of a position, and back.
 */
import type { ChangeMargin } from "../../commands.js";
import { checkSigned, type Replayed } from "./checks.js";
import { emit, settleEvents, touch } from "./end-events.js";
import { settleFunding } from "./funding.js";
import { abs, ceilDiv, max, min, num } from "./integers.js";
import { held, leverageLimit } from "./limits.js";
import {
  isLive,
  isStopped,
  lotAtMark,
  maintenanceOf,
  owedFunding,
  tierOf,
  unrealised,
} from "./margin.js";
import { type Refused, refused } from "./refusal.js";
import { remember } from "./sessions.js";
import {
  accountOf,
  type Market,
  type Position,
  positionOf,
  type Session,
  type State,
} from "./state.js";

interface Change {
  readonly session: Session;
  readonly position: Position;
}

/** Null if it was executed or replayed; `state.block.executed` tells which. */
export function changeMargin(state: State, command: ChangeMargin): Refused | null {
  const before = { fund: state.fund, fees: state.fees };
  const change = check(state, command);
  if ("refusal" in change) return change;
  if ("replayed" in change) {
    const { session, nonce } = command;
    emit(state, { kind: "OrderReplayed", session, nonce, orderId: change.replayed });
    return null;
  }
  const { session, position } = change;
  const account = accountOf(state, session.account);
  state.block.executed = true;
  touch(state, position);
  settleFunding(state, position);
  position.margin += BigInt(command.amountMicros);
  account.wallet -= BigInt(command.amountMicros);
  settleEvents(state, before);
  emit(state, {
    kind: "MarginChanged",
    account: session.account,
    market: command.market,
    session: command.session,
    nonce: command.nonce,
    amountMicros: command.amountMicros,
    marginMicros: num(position.margin),
    walletMicros: num(account.wallet),
  });
  remember(session, command.nonce, state.position);
  return null;
}

function check(state: State, command: ChangeMargin): Refused | Replayed | Change {
  const session = checkSigned(state, command);
  if ("refusal" in session || "replayed" in session) return session;
  const market = state.markets[command.market];
  if (market === undefined) return refused("unknown_symbol");
  if (market.status === "halted") return refused("market_halted");
  if (isStopped(market)) return refused("market_settled");
  if (session.markets.length > 0 && !session.markets.includes(command.market)) {
    return refused("session_symbol_not_allowed");
  }
  const amount = command.amountMicros;
  const whole =
    Number.isSafeInteger(amount) && Number.isSafeInteger(command.nonce) && command.nonce >= 0;
  if (!whole || amount === 0) return refused("invalid_command");
  const position = positionOf(state, session.account, command.market);
  if (position.lots === 0n) return refused("position_not_found");
  if (amount > 0) {
    const { wallet } = accountOf(state, session.account);
    if (BigInt(amount) > wallet) return refused("insufficient_margin", num(wallet));
    return { session, position };
  }
  if (market.status !== "active") return refused("market_reduce_only");
  const waits = held(state, market);
  if (waits !== null) return waits;
  if (!isLive(state, market)) return refused("stale_index");
  const most = removable(state, market, position);
  return BigInt(-amount) > most ? refused("margin_needed", num(most)) : { session, position };
}

/** What may be removed: the rest and a loss must carry the largest leverage and maintenance. */
export function removable(state: State, market: Market, position: Position): bigint {
  const notional = abs(position.lots) * lotAtMark(market);
  const ofTier = BigInt(tierOf(market, notional).maxLeverage);
  const leverage = min(ofTier, leverageLimit(state, market) ?? ofTier);
  const needed = max(ceilDiv(notional, leverage), maintenanceOf(market, position.lots) + 1n);
  const loss = min(0n, unrealised(market, position));
  return max(0n, position.margin - owedFunding(market, position) + loss - needed);
}
