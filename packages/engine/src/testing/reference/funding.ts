/**
 * "Tick", step 2: funding of one market for one hour.
 */
import {
  FUNDING_CAP_PER_HOUR,
  INTEREST_PER_8H,
  PREMIUM_CLAMP_PER_8H,
  RATE_SCALE,
} from "../../config.js";
import { emit, touch } from "./end-events.js";
import { abs, ceilDiv, clamp, floorDiv, max, min, num, truncDiv } from "./integers.js";
import { equityOf, isFresh, lotAtMark } from "./margin.js";
import { type Market, type Position, positionOf, type State } from "./state.js";

function fundingRate(market: Market): bigint {
  if (market.premiumCount === 0n) return 0n;
  const premium = truncDiv(market.premiumSum, market.premiumCount);
  const bound = BigInt(PREMIUM_CLAMP_PER_8H);
  const pull = clamp(BigInt(INTEREST_PER_8H) - premium, -bound, bound);
  // Half of the lowest maintenance, in billionths.
  const lowest = BigInt(market.config.tiers[0]?.maintenancePpm ?? 0);
  const cap = min(BigInt(FUNDING_CAP_PER_HOUR), lowest * 500n);
  return clamp(truncDiv(premium + pull, 8n), -cap, cap);
}

export function applyFunding(state: State, market: Market, hourEnd: number): void {
  const rate = isFresh(state, market) ? fundingRate(market) : 0n;
  const positions = state.accounts
    .map((account) => positionOf(state, account.number, market.number))
    .filter((position) => position.lots !== 0n);
  const pays = (position: Position): boolean => position.lots > 0n === rate > 0n;
  const exact = (position: Position): bigint => abs(position.lots) * lotAtMark(market) * abs(rate);
  const scale = BigInt(RATE_SCALE);

  // What moves, per position: positive is paid, negative is received.
  const moved = new Map<Position, bigint>();
  let collected = 0n;
  let due = 0n;
  let missing = 0n;
  for (const position of positions) {
    if (pays(position)) {
      const owes = ceilDiv(exact(position), scale);
      const paid = min(owes, max(0n, equityOf(market, position)));
      moved.set(position, paid);
      collected += paid;
      missing += owes - paid;
    } else {
      due += floorDiv(exact(position), scale);
    }
  }
  const available = collected + min(missing, max(0n, state.fund));
  let received = 0n;
  for (const position of positions) {
    if (pays(position)) continue;
    const full = floorDiv(exact(position), scale);
    const gets = due <= available ? full : floorDiv(full * available, due);
    moved.set(position, -gets);
    received += gets;
  }
  for (const position of positions) {
    const amount = moved.get(position) ?? 0n;
    if (amount === 0n) continue;
    // A payer's margin first; what it cannot cover comes out of unrealised profit, as cost.
    const fromProfit = max(0n, amount - max(0n, position.margin));
    position.margin -= amount - fromProfit;
    position.cost += fromProfit;
    position.funding += amount;
    touch(state, position);
  }
  state.fund += collected - received;
  emit(state, {
    kind: "FundingApplied",
    market: market.number,
    rate: num(rate),
    markTicks: num(market.mark),
    hourEndMs: hourEnd,
    collectedMicros: num(collected),
    paidMicros: num(received),
  });
  market.premiumSum = 0n;
  market.premiumCount = 0n;
}
