/** Withdrawals with their progress, votes and proofs, newest first. */

import type { Withdrawal } from "@perpgate/protocol";
import type { Session } from "@perpgate/sdk";
import { useEffect } from "react";
import { formatDollars, NO_VALUE } from "../format/numbers.js";
import { formatDayAndClock, shortHex } from "../format/text.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { saveFile } from "../ui/save-file.js";
import { ActionButton } from "./action-button.js";
import type { DataColumn } from "./data-table.js";
import { type ListQuery, PagedDataTable } from "./paged-table.js";

const TONES: Readonly<Record<Withdrawal["status"], string>> = {
  queued: "warn",
  attested: "warn",
  pending: "warn",
  paid: "good",
  expired: "bad",
};
const REFRESH_MS = 10_000;

const load = (session: Session, { symbol, ...query }: ListQuery) => session.withdrawals(query);
const idOf = ({ withdrawalId }: Withdrawal) => withdrawalId;
const show = (rows: readonly Withdrawal[]) => rows;

export default function WithdrawalsTable() {
  const terminal = useTerminal();
  useEffect(() => {
    const timer = setInterval(() => terminal.account.refreshSoon(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [terminal]);
  return (
    <PagedDataTable
      label={t.portfolio.tabs.withdrawals}
      file="withdrawals"
      empty={t.withdraw.none}
      columns={withdrawalColumns(terminal)}
      load={load}
      idOf={idOf}
      show={show}
      keyOf={idOf}
    />
  );
}

export function withdrawalColumns(terminal: Terminal): readonly DataColumn<Withdrawal>[] {
  return [
    {
      title: t.words.time,
      isText: true,
      cell: ({ requestedAt }) => formatDayAndClock(requestedAt),
    },
    { title: t.words.chain, isText: true, cell: ({ chain }) => chain },
    { title: t.words.token, isText: true, cell: ({ token }) => token },
    { title: t.words.amount, cell: ({ amount }) => formatDollars(amount) },
    { title: t.words.fee, cell: ({ fee }) => formatDollars(fee) },
    {
      title: t.words.status,
      isText: true,
      cell: ({ status }) => (
        <span className={`chip ${TONES[status]}`}>{t.withdraw.status[status]}</span>
      ),
    },
    {
      title: t.table.columns.transaction,
      isText: true,
      cell: ({ txHash }) =>
        txHash === null ? NO_VALUE : <span title={txHash}>{shortHex(txHash)}</span>,
    },
    {
      title: t.table.columns.evidence,
      isActions: true,
      cell: (withdrawal) => <Evidence terminal={terminal} withdrawal={withdrawal} />,
    },
  ];
}

interface EvidenceProps {
  readonly terminal: Terminal;
  readonly withdrawal: Withdrawal;
}

/** The attestors' signed votes; and while it is open the proof that the venue's log has it. */
function Evidence({ terminal, withdrawal: { withdrawalId: id, chain, endedAt } }: EvidenceProps) {
  const saveVotes = () =>
    terminal.attempt(async (session) => {
      const found = await session.withdrawalById(id);
      saveFile(`withdrawal-${id}.json`, JSON.stringify(found, undefined, 2));
    });
  const saveProof = () =>
    terminal.attempt(async () => {
      const { withdrawals } = await terminal.client.openWithdrawals({
        chain,
        after: String(Number(id) - 1),
      });
      const proof = withdrawals.find(({ withdrawalId }) => withdrawalId === id)?.proof ?? null;
      if (proof === null) throw new Error(t.withdraw.notCovered);
      saveFile(`withdrawal-${id}.proof`, proof);
    });
  return (
    <span className="row">
      <ActionButton label={t.withdraw.saveVotes(id)} act={saveVotes}>
        {t.withdraw.votes}
      </ActionButton>
      {endedAt === null && (
        <ActionButton label={t.withdraw.saveProof(id)} act={saveProof}>
          {t.words.proof}
        </ActionButton>
      )}
    </span>
  );
}
