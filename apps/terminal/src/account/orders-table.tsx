/** Open orders, newest first. */

import type { Order } from "@perpgate/protocol";
import { formatDollars } from "../format/numbers.js";
import { formatDayAndClock } from "../format/text.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { priceText, sizeText } from "../venue/market-view.js";
import { ActionButton } from "./action-button.js";
import { type Column, DataTable } from "./data-table.js";

export function OrdersTable() {
  const terminal = useTerminal();
  const { account, marketFeed } = terminal;
  const orders = useStore(account.orders);
  const columns: readonly Column<Order>[] = [
    { title: "Market", isText: true, cell: ({ symbol }) => <strong>{symbol}</strong> },
    {
      title: "Order",
      isText: true,
      cell: ({ side, type, reduceOnly, postOnly }) => (
        <span className={side}>
          {side === "long" ? "Buy" : "Sell"} {type}
          {reduceOnly && <span className="chip">Reduce</span>}
          {postOnly && <span className="chip">Post</span>}
        </span>
      ),
    },
    {
      title: "Price",
      cell: ({ symbol, type, side, price }) => {
        const text = priceText(marketFeed.view(symbol), price);
        return type === "stop" ? `mark ${side === "long" ? "≥" : "≤"} ${text}` : text;
      },
    },
    {
      title: "Filled / size",
      cell: ({ symbol, filledSize, size }) => {
        const view = marketFeed.view(symbol);
        return `${sizeText(view, filledSize)} / ${sizeText(view, size)}`;
      },
    },
    { title: "Margin", cell: ({ margin, leverage }) => `${formatDollars(margin)} · ${leverage}×` },
    { title: "Placed", cell: ({ createdAt }) => formatDayAndClock(createdAt) },
    { title: "Cancel", cell: (order) => <CancelButton order={order} /> },
  ];
  const rows =
    orders === undefined
      ? undefined
      : [...orders.values()].sort((a, b) => Number(b.orderId) - Number(a.orderId));
  return (
    <>
      {rows !== undefined && rows.length > 0 && <CancelAll />}
      <DataTable
        label="Open orders"
        columns={columns}
        rows={rows}
        keyOf={({ orderId }) => orderId}
        empty="No open orders."
      />
    </>
  );
}

function CancelAll() {
  const terminal = useTerminal();
  return (
    <div className="table-bar">
      <ActionButton act={() => terminal.cancelAll()}>Cancel all</ActionButton>
    </div>
  );
}

function CancelButton({ order: { orderId } }: { readonly order: Order }) {
  const terminal = useTerminal();
  const cancel = () => terminal.attempt((session) => session.cancelOrder(orderId));
  return (
    <ActionButton label={`Cancel order ${orderId}`} act={cancel}>
      Cancel
    </ActionButton>
  );
}
