/**
 * "Liquidating", step 3b: auto-deleveraging at the bankruptcy price, and the socialised loss.
 */
import type { Side } from "../../commands.js";
import { emit, touch } from "./end-events.js";
import { closed } from "./exits.js";
import { type Closing, closingPart, reduce } from "./fills.js";
import { settleFunding } from "./funding.js";
import { abs, floorDiv, max, min, num } from "./integers.js";
import { closable, lotAtMark, netEquityOf, unrealised } from "./margin.js";
import { removeIdle, settle } from "./settle.js";
import { accountOf, type Market, type Position, positionOf, type State } from "./state.js";
import { mayMeet, mayMeetBeyond, meet } from "./work.js";

function score(market: Market, position: Position): bigint {
  const profit = floorDiv(unrealised(market, position) * 1_000_000n, max(1n, abs(position.cost)));
  const notional = abs(position.lots) * lotAtMark(market);
  const leverage = floorDiv(100n * notional, max(1n, netEquityOf(market, position)));
  return profit * min(100_000n, leverage);
}

/** Accounts with lots opposite to a position that is closed by `side`, the first to give first. */
function ranking(state: State, market: Market, side: Side): Position[] {
  // Who gives takes the other side of the liquidated: buys when it sells.
  const givesBy: Side = side > 0 ? -1 : 1;
  return state.accounts
    .map((account) => positionOf(state, account.number, market.number))
    .filter((position) => closable(position, givesBy) > 0n)
    .map((position) => ({ position, score: score(market, position) }))
    .sort((a, b) => {
      if (a.score !== b.score) return a.score > b.score ? -1 : 1;
      return a.position.account - b.position.account;
    })
    .map((ranked) => ranked.position);
}

/** Books the liquidated account's part and emits the `Traded` of one deleveraged account. */
export type Trade = (maker: Position, lots: bigint, makerPnl: bigint) => void;

/** Returns the lots that no account holds. */
export function deleverage(
  state: State,
  market: Market,
  side: Side,
  lots: bigint,
  price: bigint,
  trade: Trade,
): bigint {
  let rest = lots;
  const passedOver: Position[] = [];

  const give = (position: Position, amount: bigint, closing: Closing): void => {
    touch(state, position);
    reduce(position, closing, amount);
    position.margin -= closing.released;
    rest -= amount;
    trade(position, amount, closing.pnl);
    closed(state, position, null, amount, removeIdle);
  };

  for (const position of ranking(state, market, side)) {
    if (rest === 0n || !mayMeetBeyond(state, passedOver.length)) break;
    meet(state, () => {
      settleFunding(state, position);
      const amount = min(rest, abs(position.lots));
      const closing = closingPart(market, position, amount, price);
      const proceeds = closing.released + closing.pnl;
      if (proceeds < 0n) {
        passedOver.push(position);
        return;
      }
      accountOf(state, position.account).wallet += proceeds;
      give(position, amount, closing);
      settle(state, position.account, market.number);
    });
  }
  for (const position of passedOver) {
    if (rest === 0n || !mayMeet(state)) break;
    meet(state, () => {
      const amount = min(rest, abs(position.lots));
      const closing = closingPart(market, position, amount, price);
      const proceeds = closing.released + closing.pnl;
      // Fewer lots than the first time may round to nothing missing: then nothing is socialised.
      if (proceeds >= 0n) accountOf(state, position.account).wallet += proceeds;
      else state.fund += proceeds;
      give(position, amount, closing);
      if (proceeds < 0n) {
        emit(state, {
          kind: "LossSocialised",
          account: position.account,
          market: market.number,
          amountMicros: num(-proceeds),
        });
      }
      settle(state, position.account, market.number);
    });
  }
  return rest;
}
