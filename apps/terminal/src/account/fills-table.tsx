/** Fills of the account, newest first, in pages. */

import type { Fill } from "@perpgate/protocol";
import { formatFee, formatSigned, toneOf } from "../format/numbers.js";
import { formatDayAndClock } from "../format/text.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { priceText, sizeText } from "../venue/market-view.js";
import { type Column, DataTable } from "./data-table.js";

const KIND_LABELS: Readonly<Record<Fill["kind"], string>> = {
  order: "",
  liquidation: "Liquidation",
  backstop: "Backstop",
  adl: "Auto-deleveraged",
};

export function FillsTable() {
  const terminal = useTerminal();
  const { account, marketFeed } = terminal;
  const page = useStore(account.fills);
  const columns: readonly Column<Fill>[] = [
    { title: "Time", isText: true, cell: ({ time }) => formatDayAndClock(time) },
    { title: "Market", isText: true, cell: ({ symbol }) => <strong>{symbol}</strong> },
    {
      title: "Side",
      isText: true,
      cell: ({ side, kind }) => (
        <span className={side}>
          {side === "long" ? "Buy" : "Sell"}
          {kind !== "order" && <span className="chip bad">{KIND_LABELS[kind]}</span>}
        </span>
      ),
    },
    { title: "Price", cell: ({ symbol, price }) => priceText(marketFeed.view(symbol), price) },
    { title: "Size", cell: ({ symbol, size }) => sizeText(marketFeed.view(symbol), size) },
    { title: "Fee", cell: ({ fee, liquidity }) => `${formatFee(fee)} ${liquidity}` },
    {
      title: "Realised PnL",
      cell: ({ realizedPnl }) => (
        <span className={toneOf(realizedPnl, 2) || "faint"}>{formatSigned(realizedPnl, 2)}</span>
      ),
    },
    { title: "Block", cell: ({ block }) => String(block) },
  ];
  const more = () => {
    account.moreFills().catch((error: unknown) => terminal.report(error));
  };
  return (
    <>
      <DataTable
        label="Fills"
        columns={columns}
        rows={page?.rows}
        keyOf={({ id }) => id}
        empty="No fills yet."
      />
      {page?.hasMore === true && (
        <div className="table-bar">
          <button type="button" className="button small" onClick={more}>
            Older fills
          </button>
        </div>
      )}
    </>
  );
}
