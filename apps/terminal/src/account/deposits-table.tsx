/** Deposits with their progress, newest first. */

import type { Deposit } from "@perpgate/protocol";
import { formatDollars, NONE } from "../format/numbers.js";
import { shortHex } from "../format/text.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { type Column, DataTable } from "./data-table.js";

const TONES: Readonly<Record<Deposit["status"], string>> = {
  queued: "warn",
  confirming: "warn",
  credited: "good",
  rejected: "bad",
};

const COLUMNS: readonly Column<Deposit>[] = [
  {
    title: "Transaction",
    isText: true,
    cell: ({ txHash }) => <span title={txHash}>{shortHex(txHash)}</span>,
  },
  { title: "Chain", isText: true, cell: ({ chain }) => chain },
  { title: "Token", isText: true, cell: ({ token }) => token },
  {
    title: "Status",
    isText: true,
    cell: ({ status, reason }) => (
      <>
        <span className={`chip ${TONES[status]}`}>{status}</span>
        {reason !== null && <span className="soft"> {reason}</span>}
      </>
    ),
  },
  { title: "Confirmations", cell: (deposit) => <Progress {...deposit} /> },
  { title: "Credited", cell: ({ credits }) => creditedText(credits) },
];

export function DepositsTable() {
  const { account, bridge, dialog } = useTerminal();
  const deposits = useStore(account.deposits);
  const hasTestFunds = useStore(bridge.info, (info) => info?.attestor === "dev");
  const rows =
    deposits === undefined
      ? undefined
      : [...deposits.values()].sort((a, b) => Number(b.depositId) - Number(a.depositId));
  return (
    <DataTable
      label="Deposits"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ depositId }) => depositId}
      empty={
        <>
          No deposits yet.{hasTestFunds && " Get test funds with one click."}
          <button type="button" className="button" onClick={() => dialog.set("deposit")}>
            Deposit
          </button>
        </>
      }
    />
  );
}

function Progress({ confirmations, required, status }: Deposit) {
  if (required === 0) return status === "credited" ? "done" : NONE;
  return (
    <span className="progress">
      <progress max={required} value={Math.min(confirmations, required)} aria-hidden="true" />
      {confirmations} / {required}
    </span>
  );
}

function creditedText(credits: Deposit["credits"]): string {
  if (credits.length === 0) return NONE;
  return formatDollars(credits.reduce((sum, { amount }) => sum + amount, 0));
}
