/** What the projections of the history read from an engine. */
import type { Engine } from "@perpgate/engine";
import type { HistoryContext } from "../history/history-rows.js";
import { bookedBalance, moneyOf } from "../views/account-view.js";

export function historyContextOf({ state }: Engine): HistoryContext {
  return {
    unitMicros: (market) => state.markets[market]?.microsPerTickLot ?? 0,
    markTicks: (market) => state.markets[market]?.mark ?? 0,
    deposit: (depositId) => state.deposits.byId.get(depositId),
    writeMoney: (account, words, at) => {
      const { wallet, reserved, margin, equity } = moneyOf(state, account);
      words[at] = wallet;
      words[at + 1] = reserved;
      words[at + 2] = margin;
      words[at + 3] = equity;
    },
    balanceMicros: (account) => bookedBalance(state, account),
    accountOfSession: (session) => state.sessions.get(session)?.account ?? 0,
  };
}
