/** Deposits with their progress, newest first. */

import type { Deposit } from "@perpgate/protocol";
import { formatDollars, NO_VALUE } from "../format/numbers.js";
import { shortHex } from "../format/text.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { type DataColumn, DataTable } from "./data-table.js";

const TONES: Readonly<Record<Deposit["status"], string>> = {
  queued: "warn",
  confirming: "warn",
  credited: "good",
  rejected: "bad",
};

function columnsFor(address: string): readonly DataColumn<Deposit>[] {
  return [
    {
      title: t.table.columns.transaction,
      isText: true,
      cell: ({ txHash }) => <span title={txHash}>{shortHex(txHash)}</span>,
    },
    { title: t.words.chain, isText: true, cell: ({ chain }) => chain },
    { title: t.words.token, isText: true, cell: ({ token }) => token },
    { title: t.words.status, isText: true, cell: (deposit) => <DepositStatusCell {...deposit} /> },
    { title: t.table.columns.confirmations, cell: (deposit) => <Progress {...deposit} /> },
    { title: t.table.columns.credited, cell: ({ credits }) => creditedText(address, credits) },
  ];
}

export function DepositsTable() {
  const { account, bridge, dialog, sessions } = useTerminal();
  const deposits = useStore(account.deposits);
  const address = useStore(sessions.state, (state) => (state.status === "in" ? state.address : ""));
  const hasTestFunds = useStore(bridge.info, (info) => info?.attestor === "dev");
  const rows =
    deposits === undefined
      ? undefined
      : [...deposits.values()].sort((a, b) => Number(b.depositId) - Number(a.depositId));
  return (
    <DataTable
      label={t.portfolio.tabs.deposits}
      columns={columnsFor(address)}
      rows={rows}
      keyOf={({ depositId }) => depositId}
      empty={
        <>
          {hasTestFunds ? t.deposit.noneTestFunds : t.deposit.none}
          <button type="button" className="button" onClick={() => dialog.set("deposit")}>
            {t.words.deposit}
          </button>
        </>
      }
    />
  );
}

export function DepositStatusCell({ status, reason, reorged, reorgSettled }: Deposit) {
  return (
    <>
      <span className={`chip ${TONES[status]}`}>{t.deposit.status[status]}</span>
      {reason !== null && <span className="soft"> {reason}</span>}
      {reorged !== null && !reorgSettled && (
        <>
          {" "}
          <span className="chip bad" title={t.deposit.leftChainText}>
            {t.deposit.leftChain}
          </span>
          <span className="soft"> {reorged}</span>
        </>
      )}
    </>
  );
}

function Progress({ confirmations, required, status }: Deposit) {
  if (required === 0) return status === "credited" ? t.deposit.done : NO_VALUE;
  return (
    <span className="progress">
      <progress max={required} value={Math.min(confirmations, required)} aria-hidden="true" />
      {confirmations} / {required}
    </span>
  );
}

type Credit = Deposit["credits"][number];

/** Each sender of a transaction is credited what it sent, and nobody else who registers the hash. */
export function creditedText(address: string, credits: readonly Credit[]): string {
  const isOwn = ({ account }: Credit) => account.toLowerCase() === address.toLowerCase();
  const own = credits.filter(isOwn);
  const others = credits.filter((credit) => !isOwn(credit));
  const texts = [
    ...(own.length === 0 ? [] : [sumText(own)]),
    ...(others.length === 0 ? [] : [t.deposit.toOthers(sumText(others))]),
  ];
  return texts.length === 0 ? NO_VALUE : texts.join(", ");
}

function sumText(credits: readonly Credit[]): string {
  return formatDollars(credits.reduce((sum, { amount }) => sum + amount, 0));
}
