/** The changes of an account's balance, and its payments of funding. */

import { type Static, Type } from "typebox";
import { ENTRY_CURSORS, EntryId, Limit, TIME_SPAN } from "../http/paging.js";
import { Dollars, MarketSymbol, Nullable, TimeMs } from "../text/scalar.js";

export const LedgerKind = Type.Enum([
  "deposit",
  "grant",
  "fee",
  "pnl",
  "funding",
  "liquidation",
  "adl",
  "settlement",
  "margin",
  "withdrawal",
  "withdrawalFee",
]);
export type LedgerKind = Static<typeof LedgerKind>;

const Accrued = Type.Boolean({
  description: "Counted in the balance, and booked with the next change of the position.",
});

export const LedgerEntry = Type.Object(
  {
    id: EntryId,
    kind: LedgerKind,
    symbol: Nullable(MarketSymbol),
    amount: Type.Number({ description: "Dollars; what it adds to `Account.balance`." }),
    balance: Type.Number({ description: "Dollars; `Account.balance` after it." }),
    marginMoved: Nullable(
      Type.Number({
        description:
          "Of kind margin: what moved from the wallet into the position's margin, negative back. Both are part of the balance, so the amount is 0.",
      }),
    ),
    reference: Type.String({
      description:
        "The fill, the deposit, the withdrawal or otherwise the log position of the command that it belongs to.",
    }),
    accrued: Accrued,
    time: TimeMs,
  },
  { title: "LedgerEntry" },
);
export type LedgerEntry = Static<typeof LedgerEntry>;
export const Ledger = Type.Array(LedgerEntry);

export const LedgerQuery = Type.Object({
  symbol: Type.Optional(MarketSymbol),
  limit: Limit,
  ...ENTRY_CURSORS,
  ...TIME_SPAN,
});
export type LedgerQuery = Static<typeof LedgerQuery>;

export const FundingPayment = Type.Object(
  {
    id: EntryId,
    symbol: MarketSymbol,
    amount: { ...Dollars, description: "Dollars; received, or negative, paid." },
    accrued: Accrued,
    time: TimeMs,
  },
  { title: "FundingPayment" },
);
export type FundingPayment = Static<typeof FundingPayment>;
export const FundingPayments = Type.Array(FundingPayment);
