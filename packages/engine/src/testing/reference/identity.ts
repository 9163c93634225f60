/**
 * "The identity", recomputed from nothing over every account, and throwing when it fails.
 */
import { bestAsk, bestBid } from "./book.js";
import { reservedIn } from "./end-events.js";
import { unitOf } from "./margin.js";
import type { State } from "./state.js";

export function assertIdentity(state: State): void {
  let money = state.fees + state.fund + state.fundingPool;
  let owed = state.deposits;
  const lots = state.markets.map((market) => market.backstop.lots);
  for (const account of state.accounts) {
    if (account.wallet < 0n) throw new Error(`account ${account.number}: wallet below 0`);
    money += account.wallet;
    for (const position of account.positions) {
      if (position.margin < 0n) throw new Error(`account ${account.number}: margin below 0`);
      if (position.lots === 0n && (position.cost !== 0n || position.margin !== 0n)) {
        throw new Error(`account ${account.number}: flat with cost or margin`);
      }
      money += position.margin + reservedIn(position);
      owed += position.cost;
      lots[position.market] = (lots[position.market] ?? 0n) + position.lots;
    }
  }
  for (const market of state.markets) {
    owed += market.backstop.cost;
    const { settlement } = market;
    if (settlement !== null) {
      money += settlement.pool;
      owed += settlement.lots * settlement.price * unitOf(market);
      lots[market.number] = (lots[market.number] ?? 0n) + settlement.lots;
    }
    if (lots[market.number] !== 0n) throw new Error(`market ${market.number}: lots do not balance`);
    const bid = bestBid(market);
    const ask = bestAsk(market);
    if (bid !== null && ask !== null && bid >= ask) {
      throw new Error(`market ${market.number}: crossed, bid ${bid} ask ${ask}`);
    }
  }
  if (money !== owed) throw new Error(`money not conserved: ${money} held, ${owed} owed`);
}
