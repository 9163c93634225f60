/** Fills of the account, newest first, in pages: each, or summed by order. */

import type { Fill } from "@perpgate/protocol";
import type { Session } from "@perpgate/sdk";
import { useState } from "react";
import { formatFee, formatSigned, NO_VALUE, toneOf } from "../format/numbers.js";
import { formatDayAndClock } from "../format/text.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Segments } from "../ui/segments.js";
import { priceText, sizeText } from "../venue/market-view.js";
import type { DataColumn } from "./data-table.js";
import { type FillGroup, fillsByOrder, single } from "./fill-groups.js";
import { type ListQuery, PagedDataTable } from "./paged-table.js";

const VIEWS = ["each", "order"] as const;

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
      label={t.history.fills}
      file="fills"
      empty={t.history.noFills}
      columns={fillColumns(terminal)}
      load={load}
      idOf={idOf}
      show={SHOWN[view]}
      keyOf={({ key }) => key}
      {...(view === "order" ? { partly: t.history.partly } : {})}
    >
      <Segments
        legend={t.history.fills}
        name="fills-view"
        className="compact"
        options={VIEWS}
        labels={t.history.fillViews}
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
    { title: t.words.time, isText: true, cell: ({ time }) => formatDayAndClock(time) },
    { title: t.table.market, isText: true, cell: ({ symbol }) => <strong>{symbol}</strong> },
    {
      title: t.words.side,
      isText: true,
      cell: ({ side, kind }) => (
        <span className={side}>
          {t.words.acts[side]}
          {kind !== "order" && <span className="chip bad">{t.history.fillKinds[kind]}</span>}
        </span>
      ),
    },
    {
      title: t.words.price,
      cell: ({ symbol, price }) => priceText(marketFeed.view(symbol), price),
    },
    { title: t.words.size, cell: ({ symbol, size }) => sizeText(marketFeed.view(symbol), size) },
    {
      title: t.words.fee,
      cell: ({ fee, liquidity }) => `${formatFee(fee)} ${t.history.liquidity[liquidity]}`,
    },
    {
      title: t.table.columns.realizedPnl,
      cell: ({ realizedPnl }) => (
        <span className={toneOf(realizedPnl, 2) || "faint"}>{formatSigned(realizedPnl, 2)}</span>
      ),
    },
    { title: t.table.columns.order, cell: ({ orderId }) => orderId ?? NO_VALUE },
    { title: t.table.columns.fills, cell: ({ count }) => String(count) },
  ];
}
