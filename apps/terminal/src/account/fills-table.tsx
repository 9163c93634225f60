/** Fills of the account, newest first, in pages: each, or summed by order. */

import type { Fill } from "@perpgate/protocol";
import type { Session } from "@perpgate/sdk";
import { useState } from "react";
import { formatFee, formatSigned, NO_VALUE, toneOf } from "../format/numbers.js";
import { formatDayAndClock } from "../format/text.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { Segments } from "../ui/segments.js";
import { priceText, sizeText } from "../venue/market-view.js";
import type { DataColumn } from "./data-table.js";
import { type FillGroup, fillsByOrder, single } from "./fill-groups.js";
import { type ListQuery, PagedDataTable } from "./paged-table.js";

const KIND_LABELS: Readonly<Record<Fill["kind"], string>> = {
  order: "",
  liquidation: "Liquidation",
  backstop: "Backstop",
  adl: "Auto-deleveraged",
};

const VIEWS = [
  ["each", "Each"],
  ["order", "By order"],
] as const;

const SHOWN = {
  each: (fills: readonly Fill[]): readonly FillGroup[] => fills.map(single),
  order: fillsByOrder,
};

const load = (session: Session, query: ListQuery) => session.fills(query);
const idOf = ({ id }: Fill) => id;

export function FillsTable() {
  const terminal = useTerminal();
  const [view, setView] = useState<keyof typeof SHOWN>("each");
  return (
    <PagedDataTable
      label="Fills"
      empty="No fills yet."
      columns={fillColumns(terminal)}
      load={load}
      idOf={idOf}
      show={SHOWN[view]}
      keyOf={({ key }) => key}
      {...(view === "order" ? { partly: "Sums of the fills that are loaded." } : {})}
    >
      <Segments
        legend="Fills"
        name="fills-view"
        className="compact"
        options={VIEWS}
        selected={view}
        onSelect={setView}
      />
    </PagedDataTable>
  );
}

export function fillColumns({
  marketFeed,
}: Pick<Terminal, "marketFeed">): readonly DataColumn<FillGroup>[] {
  return [
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
    { title: "Order", cell: ({ orderId }) => orderId ?? NO_VALUE },
    { title: "Fills", cell: ({ count }) => String(count) },
  ];
}
