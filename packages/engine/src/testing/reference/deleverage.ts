/**
 * "Liquidating", step 3b: auto-deleveraging at the bankruptcy price, and the socialised loss.
 */
import type { Side } from "../../commands.js";
import { emit, touch } from "./end-events.js";
import { closed } from "./exits.js";
import { type Closing, closingPart, reduce } from "./fills.js";
import { settleFunding } from "./funding.js";
import { abs, ceilDiv, floorDiv, max, min, num } from "./integers.js";
import { closable, lotAtMark, netEquityOf, unrealised } from "./margin.js";
import { removeIdle, settle } from "./settle.js";
import { accountOf, type Market, type Position, positionOf, rulesOf, type State } from "./state.js";
import { mayMeet, mayMeetBeyond, meet, unitsLeft } from "./work.js";

function score(market: Market, position: Position): bigint {
  const profit = floorDiv(unrealised(market, position) * 1_000_000n, max(1n, abs(position.cost)));
  const notional = abs(position.lots) * lotAtMark(market);
  const leverage = floorDiv(100n * notional, max(1n, netEquityOf(market, position)));
  return profit * min(100_000n, leverage);
}

/** Accounts with lots opposite to a position that is closed by `side`, the first to give first. */
function ranking(state: State, market: Market, side: Side): Position[] {
  return opposite(state, market, side)
    .map((position) => ({ position, score: score(market, position) }))
    .sort((a, b) => {
      if (a.score !== b.score) return a.score > b.score ? -1 : 1;
      return a.position.account - b.position.account;
    })
    .map((ranked) => ranked.position);
}

/** Books the liquidated account's part and emits the `Traded` of one deleveraged account. */
export type Trade = (maker: Position, lots: bigint, makerPnl: bigint) => void;

/** Accounts that hold the opposite of a position closed by `side`, ascending. */
function opposite(state: State, market: Market, side: Side): Position[] {
  return state.accounts
    .map((account) => positionOf(state, account.number, market.number))
    .filter((position) => closable(position, side > 0 ? -1 : 1) > 0n);
}

interface Share {
  readonly position: Position;
  lots: bigint;
}

/** How `lots` are divided among those that are left: winners by profit, without any the others by lots. */
function divide(
  market: Market,
  left: Position[],
  lots: bigint,
  most: number,
  seed: number,
): Share[] {
  const winners = left.filter((position) => unrealised(market, position) > 0n);
  const weighed = (winners.length > 0 ? winners : left).map((position) => ({
    position,
    weight: winners.length > 0 ? unrealised(market, position) : abs(position.lots),
  }));
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0n);
  const shares = weighed.map(({ position, weight }) => {
    return { position, lots: (lots * weight) / total, rest: (lots * weight) % total };
  });
  if (weighed.length <= most) {
    const unassigned = Number(shares.reduce((sum, share) => sum - share.lots, lots));
    const byRest = [...shares].sort((a, b) => (a.rest === b.rest ? 0 : a.rest > b.rest ? -1 : 1));
    for (const share of byRest.slice(0, unassigned)) share.lots += 1n;
  } else {
    // Equal parts, one for a point in each section of the weights.
    const parts = BigInt(most);
    const size = ceilDiv(lots, parts);
    let points = Array.from({ length: most }, (_, k) => {
      const offset = (BigInt(seed) + BigInt(k) * 2_654_435_761n) & 0xffff_ffffn;
      return floorDiv(total * ((BigInt(k) << 32n) + offset), parts << 32n);
    });
    let end = 0n;
    let unassigned = lots;
    shares.forEach((share, place) => {
      end += weighed[place]?.weight ?? 0n;
      const hits = points.filter((point) => point < end).length;
      points = points.slice(hits);
      share.lots = min(unassigned, BigInt(hits) * size);
      unassigned -= share.lots;
    });
  }
  for (const share of shares) share.lots = min(share.lots, abs(share.position.lots));
  return shares.filter((share) => share.lots > 0n);
}

function seedOf(state: State, account: number): number {
  const sum = BigInt(account) * 2_654_435_761n + BigInt(state.position) * 2_246_822_519n;
  return Number(sum & 0xffff_ffffn);
}

/** Returns the lots that no account holds. `account`: whose position is closed; 0: the backstop's. */
export function deleverage(
  state: State,
  market: Market,
  side: Side,
  account: number,
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

  const serve = (position: Position, most: bigint): void => {
    meet(state, () => {
      settleFunding(state, position);
      const amount = min(most, abs(position.lots));
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
  };

  if (rulesOf(state).winnersShare) {
    for (;;) {
      const left = opposite(state, market, side).filter((each) => !passedOver.includes(each));
      const most = Math.min(500, Math.ceil(unitsLeft(state) / 4) - passedOver.length);
      if (rest === 0n || left.length === 0 || most <= 0) break;
      for (const share of divide(market, left, rest, most, seedOf(state, account))) {
        if (mayMeetBeyond(state, passedOver.length)) serve(share.position, share.lots);
      }
    }
    if (account === 0) return rest;
  } else {
    for (const position of ranking(state, market, side)) {
      if (rest === 0n || !mayMeetBeyond(state, passedOver.length)) break;
      serve(position, rest);
    }
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
