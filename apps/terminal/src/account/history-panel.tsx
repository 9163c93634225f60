/** The account's history: orders, funding and every change of the balance, in pages, and what it was worth. */

import type { FundingPayment, LedgerEntry, Order } from "@perpgate/protocol";
import type { Session } from "@perpgate/sdk";
import { Suspense, useState } from "react";
import { formatDollars, formatSigned, NO_VALUE, toneOf } from "../format/numbers.js";
import { formatDayAndClock } from "../format/text.js";
import { priceOfOrder } from "../order/amendment.js";
import { reasonText } from "../order/reasons.js";
import { useStore } from "../state/store.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { later } from "../ui/later.js";
import { saveFile } from "../ui/save-file.js";
import { Segments } from "../ui/segments.js";
import { priceText, sizeText } from "../venue/market-view.js";
import { ActionButton } from "./action-button.js";
import type { DataColumn } from "./data-table.js";
import { OrderTitle } from "./order-title.js";
import { type ListQuery, PagedDataTable } from "./paged-table.js";

/** Saves what proves an order of the history: its receipt, if this browser has it, and the proof of the log. */
function ProofButton({ order: { orderId, parentOrderId } }: { readonly order: Order }) {
  const terminal = useTerminal();
  // An exit is in the acknowledgement of its order.
  const ackNonce = parentOrderId ?? orderId;
  const receipt = useStore(terminal.receipts.files, (files) => files.get(ackNonce));
  const saveProof = () =>
    terminal.attempt(async (session) => {
      saveFile(`order-${ackNonce}.proof`, await session.preconfirmProof(ackNonce));
    });
  const saveReceipt = () =>
    saveFile(`order-${ackNonce}.receipt`, JSON.stringify(receipt, undefined, 2));
  return (
    <span className="row">
      {receipt !== undefined && (
        <button
          type="button"
          className="button small"
          aria-label={t.history.saveReceipt(ackNonce)}
          onClick={saveReceipt}
        >
          {t.history.receipt}
        </button>
      )}
      <ActionButton label={t.history.saveProof(orderId)} act={saveProof}>
        {t.words.proof}
      </ActionButton>
    </span>
  );
}

const LISTS = ["orders", "funding", "ledger", "equity"] as const;
type List = (typeof LISTS)[number];

/** With the library of the chart. */
const EquityPanel = later(async () => ({
  default: (await import("./equity-panel.js")).EquityPanel,
}));

const PARTS = {
  orders: OrderHistory,
  funding: FundingHistory,
  ledger: LedgerHistory,
  equity: EquityPanel,
};

export default function HistoryPanel() {
  const [list, setList] = useState<List>("orders");
  const Part = PARTS[list];
  return (
    <>
      <div className="table-bar start">
        <Segments
          legend={t.history.label}
          name="history"
          className="compact"
          options={LISTS}
          labels={t.history.lists}
          selected={list}
          onSelect={setList}
        />
      </div>
      <Suspense>
        <Part />
      </Suspense>
    </>
  );
}

/** Every row that was loaded. */
const asTheyAre = <Row,>(rows: readonly Row[]) => rows;

const loadOrders = (session: Session, query: ListQuery) =>
  session.orders({ status: "all", ...query });
const idOfOrder = ({ orderId }: Order) => orderId;

export function orderColumns({
  marketFeed,
}: Pick<Terminal, "marketFeed">): readonly DataColumn<Order>[] {
  return [
    { title: t.words.time, isText: true, cell: ({ createdAt }) => formatDayAndClock(createdAt) },
    { title: t.table.market, isText: true, cell: ({ symbol }) => <strong>{symbol}</strong> },
    { title: t.table.columns.order, isText: true, cell: (order) => <OrderTitle order={order} /> },
    {
      title: t.words.status,
      isText: true,
      cell: ({ status, reason, filledSize }) => (
        <span title={reason === null ? undefined : reasonText(reason, filledSize > 0)}>
          {t.history.status[status]}
          {reason !== null && <span className="faint"> {reason.replaceAll("_", " ")}</span>}
        </span>
      ),
    },
    {
      title: t.words.price,
      cell: (order) => {
        const text = priceText(marketFeed.view(order.symbol), priceOfOrder(order));
        // Of a market order it is the worst price.
        return order.type === "market" && order.price !== null
          ? `${order.side === "long" ? "≤" : "≥"} ${text}`
          : text;
      },
    },
    {
      title: t.table.columns.filledSize,
      cell: ({ symbol, filledSize, size }) => {
        const view = marketFeed.view(symbol);
        return `${sizeText(view, filledSize)} / ${sizeText(view, size)}`;
      },
    },
    {
      title: t.table.columns.averageFill,
      cell: ({ symbol, filledSize, avgFillPrice }) =>
        filledSize === 0 ? NO_VALUE : priceText(marketFeed.view(symbol), avgFillPrice),
    },
    {
      title: t.table.columns.evidence,
      isActions: true,
      cell: (order) => <ProofButton order={order} />,
    },
  ];
}

function OrderHistory() {
  return (
    <PagedDataTable
      label={t.history.orders}
      file="order-history"
      empty={t.history.noOrders}
      columns={orderColumns(useTerminal())}
      load={loadOrders}
      idOf={idOfOrder}
      show={asTheyAre}
      keyOf={idOfOrder}
    />
  );
}

const loadFunding = (session: Session, query: ListQuery) => session.fundingPayments(query);
const idOfEntry = ({ id }: { readonly id: string }) => id;

export function fundingColumns(): readonly DataColumn<FundingPayment>[] {
  return [
    { title: t.words.time, isText: true, cell: ({ time }) => formatDayAndClock(time) },
    { title: t.table.market, isText: true, cell: ({ symbol }) => <strong>{symbol}</strong> },
    { title: t.words.amount, cell: ({ amount }) => <Amount value={amount} digits={6} /> },
  ];
}

function FundingHistory() {
  return (
    <PagedDataTable
      label={t.history.funding}
      file="funding-history"
      empty={t.history.noFunding}
      columns={fundingColumns()}
      load={loadFunding}
      idOf={idOfEntry}
      show={asTheyAre}
      keyOf={idOfEntry}
    />
  );
}

const loadLedger = (session: Session, query: ListQuery) => session.ledger(query);

export function ledgerColumns(): readonly DataColumn<LedgerEntry>[] {
  return [
    { title: t.words.time, isText: true, cell: ({ time }) => formatDayAndClock(time) },
    { title: t.table.columns.kind, isText: true, cell: ({ kind }) => t.history.kinds[kind] },
    { title: t.table.market, isText: true, cell: ({ symbol }) => symbol ?? NO_VALUE },
    {
      title: t.words.amount,
      cell: ({ amount, marginMoved }) =>
        marginMoved === null ? (
          <Amount value={amount} digits={6} />
        ) : (
          <span className="faint">{t.history.ofMargin(formatSigned(marginMoved, 2))}</span>
        ),
    },
    { title: t.table.columns.balance, cell: ({ balance }) => formatDollars(balance) },
    { title: t.table.columns.reference, cell: ({ reference }) => reference },
  ];
}

function LedgerHistory() {
  return (
    <PagedDataTable
      label={t.history.ledger}
      file="ledger"
      empty={t.history.noLedger}
      columns={ledgerColumns()}
      load={loadLedger}
      idOf={idOfEntry}
      show={asTheyAre}
      keyOf={idOfEntry}
    />
  );
}

function Amount({ value, digits }: { readonly value: number; readonly digits: number }) {
  return <span className={toneOf(value, digits) || "faint"}>{formatSigned(value, digits)}</span>;
}
