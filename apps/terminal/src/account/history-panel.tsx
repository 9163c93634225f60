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
          aria-label={`Save the receipt of order ${ackNonce}`}
          onClick={saveReceipt}
        >
          Receipt
        </button>
      )}
      <ActionButton label={`Save the proof of order ${orderId}`} act={saveProof}>
        Proof
      </ActionButton>
    </span>
  );
}

const LISTS = [
  ["orders", "Orders"],
  ["funding", "Funding"],
  ["ledger", "Ledger"],
  ["equity", "PnL"],
] as const;
type List = (typeof LISTS)[number][0];

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
          legend="History"
          name="history"
          className="compact"
          options={LISTS}
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
    { title: "Time", isText: true, cell: ({ createdAt }) => formatDayAndClock(createdAt) },
    { title: "Market", isText: true, cell: ({ symbol }) => <strong>{symbol}</strong> },
    { title: "Order", isText: true, cell: (order) => <OrderTitle order={order} /> },
    {
      title: "Status",
      isText: true,
      cell: ({ status, reason, filledSize }) => (
        <span title={reason === null ? undefined : reasonText(reason, filledSize > 0)}>
          {status}
          {reason !== null && <span className="faint"> {reason.replaceAll("_", " ")}</span>}
        </span>
      ),
    },
    {
      title: "Price",
      cell: (order) => {
        const text = priceText(marketFeed.view(order.symbol), priceOfOrder(order));
        // Of a market order it is the worst price.
        return order.type === "market" && order.price !== null
          ? `${order.side === "long" ? "≤" : "≥"} ${text}`
          : text;
      },
    },
    {
      title: "Filled / size",
      cell: ({ symbol, filledSize, size }) => {
        const view = marketFeed.view(symbol);
        return `${sizeText(view, filledSize)} / ${sizeText(view, size)}`;
      },
    },
    {
      title: "Average fill",
      cell: ({ symbol, filledSize, avgFillPrice }) =>
        filledSize === 0 ? NO_VALUE : priceText(marketFeed.view(symbol), avgFillPrice),
    },
    { title: "Evidence", isActions: true, cell: (order) => <ProofButton order={order} /> },
  ];
}

function OrderHistory() {
  return (
    <PagedDataTable
      label="Order history"
      empty="No orders yet."
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

export const FUNDING_COLUMNS: readonly DataColumn<FundingPayment>[] = [
  { title: "Time", isText: true, cell: ({ time }) => formatDayAndClock(time) },
  { title: "Market", isText: true, cell: ({ symbol }) => <strong>{symbol}</strong> },
  { title: "Amount", cell: ({ amount }) => <Amount value={amount} digits={6} /> },
];

function FundingHistory() {
  return (
    <PagedDataTable
      label="Funding history"
      empty="No funding yet."
      columns={FUNDING_COLUMNS}
      load={loadFunding}
      idOf={idOfEntry}
      show={asTheyAre}
      keyOf={idOfEntry}
    />
  );
}

const loadLedger = (session: Session, query: ListQuery) => session.ledger(query);

const KINDS: Readonly<Record<LedgerEntry["kind"], string>> = {
  deposit: "Deposit",
  grant: "Test dollars",
  fee: "Fee",
  pnl: "Realised PnL",
  funding: "Funding",
  liquidation: "Liquidation",
  adl: "Auto-deleveraging",
  settlement: "Settlement",
  margin: "Margin moved",
  withdrawal: "Withdrawal",
  withdrawalFee: "Withdrawal fee",
};

export const LEDGER_COLUMNS: readonly DataColumn<LedgerEntry>[] = [
  { title: "Time", isText: true, cell: ({ time }) => formatDayAndClock(time) },
  { title: "Kind", isText: true, cell: ({ kind }) => KINDS[kind] },
  { title: "Market", isText: true, cell: ({ symbol }) => symbol ?? NO_VALUE },
  {
    title: "Amount",
    cell: ({ amount, marginMoved }) =>
      marginMoved === null ? (
        <Amount value={amount} digits={6} />
      ) : (
        <span className="faint">{formatSigned(marginMoved, 2)} of margin</span>
      ),
  },
  { title: "Balance", cell: ({ balance }) => formatDollars(balance) },
  { title: "Reference", cell: ({ reference }) => reference },
];

function LedgerHistory() {
  return (
    <PagedDataTable
      label="Ledger"
      empty="No changes of the balance yet."
      columns={LEDGER_COLUMNS}
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
