/** `perpgate withdrawals`: what the account has asked to be paid, and how far it is. */

import type { Withdrawal } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { money } from "../cli/quantities.js";
import type { Column } from "../cli/table.js";
import { withSession } from "./connection.js";
import type { VenueOptions } from "./venue-command.js";

export interface WithdrawalsOptions extends VenueOptions {
  readonly limit?: number;
  readonly before?: string;
  readonly id?: string;
}

export function withdrawals({ limit, before, id, ...options }: WithdrawalsOptions) {
  return withSession(options, async ({ session, output }) => {
    if (id === undefined) {
      const listed = await session.withdrawals({
        ...(limit === undefined ? {} : { limit }),
        ...(before === undefined ? {} : { before }),
      });
      output.rows(COLUMNS, listed, "no withdrawals");
      return 0;
    }
    const found = await session.withdrawalById(id);
    if (output.isJson) {
      output.json(found);
      return 0;
    }
    output.rows(COLUMNS, [found], "");
    output.rows(VOTES, found.votes, "no attestor has voted");
    return 0;
  });
}

const COLUMNS: readonly Column<Withdrawal>[] = [
  { title: "withdrawal", align: "right", cell: ({ withdrawalId }) => withdrawalId },
  { title: "chain", cell: ({ chain }) => chain },
  { title: "token", cell: ({ token }) => token },
  { title: "amount", align: "right", cell: ({ amount }) => money(amount) },
  { title: "fee", align: "right", cell: ({ fee }) => money(fee) },
  { title: "status", cell: ({ status }) => status },
  { title: "deadline", cell: ({ deadline }) => new Date(deadline).toISOString() },
  { title: "transaction", cell: ({ txHash }) => printable(txHash ?? "-") },
];

const VOTES: readonly Column<{ readonly attestor: number; readonly verdict: string }>[] = [
  { title: "attestor", align: "right", cell: ({ attestor }) => String(attestor) },
  { title: "vote", cell: ({ verdict }) => verdict },
];
