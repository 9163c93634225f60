/** Open orders, newest first, exits under their order; price and size can be amended in their row. */

import type { Order } from "@perpgate/protocol";
import { useEffect, useRef, useState } from "react";
import { formatDollars, NO_VALUE } from "../format/numbers.js";
import { formatDayAndClock } from "../format/text.js";
import { canAmend, canResize, priceOfOrder } from "../order/amendment.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { closedTextOf, priceText, sizeText } from "../venue/market-view.js";
import { ActionButton } from "./action-button.js";
import { type DataColumn, DataTable } from "./data-table.js";
import { type Draft, DraftActions, DraftCell, type OnDraft } from "./order-draft.js";
import { OrderTitle, triggerSign } from "./order-title.js";

export function OrdersTable() {
  const orders = useStore(useTerminal().account.orders);
  const [draft, setDraft] = useState<Draft>();
  const columns = useColumns(draft, setDraft);
  const rows = orders === undefined ? undefined : newestFirst([...orders.values()]);
  return (
    <>
      {rows !== undefined && rows.length > 0 && <CancelAll />}
      <DataTable
        label={t.portfolio.tabs.orders}
        columns={columns}
        rows={rows}
        keyOf={({ orderId }) => orderId}
        empty={t.orders.empty}
      />
    </>
  );
}

/** Each order followed by its exits. */
export function newestFirst(orders: readonly Order[]): Order[] {
  const position = ({ orderId, parentOrderId = orderId }: Order) => Number(parentOrderId);
  return orders.toSorted(
    (a, b) => position(b) - position(a) || Number(a.orderId) - Number(b.orderId),
  );
}

function useColumns(draft: Draft | undefined, setDraft: OnDraft): readonly DataColumn<Order>[] {
  const { marketFeed } = useTerminal();
  const ownDraft = ({ orderId }: Order) => (draft?.orderId === orderId ? draft : undefined);
  return [
    { title: t.table.market, isText: true, cell: ({ symbol }) => <strong>{symbol}</strong> },
    { title: t.table.columns.order, isText: true, cell: (order) => <OrderTitle order={order} /> },
    {
      title: t.words.price,
      cell: (order) => {
        const own = ownDraft(order);
        if (own !== undefined)
          return <DraftCell order={order} draft={own} name="price" onDraft={setDraft} />;
        const text = priceText(marketFeed.view(order.symbol), priceOfOrder(order));
        if (order.triggered === true) return t.orders.closingNow;
        return order.status === "pending" ? t.orders.markReaches(triggerSign(order), text) : text;
      },
    },
    {
      title: t.table.columns.filledSize,
      cell: (order) => {
        const own = ownDraft(order);
        if (own !== undefined && canResize(order)) {
          return <DraftCell order={order} draft={own} name="size" onDraft={setDraft} />;
        }
        if (order.closePosition) return t.orders.wholeSize;
        const view = marketFeed.view(order.symbol);
        return `${sizeText(view, order.filledSize)} / ${sizeText(view, order.size)}`;
      },
    },
    {
      title: t.words.margin,
      cell: ({ margin, leverage, closePosition }) =>
        closePosition ? NO_VALUE : `${formatDollars(margin)} · ${leverage}×`,
    },
    {
      title: t.table.columns.expires,
      cell: ({ expiresAt }) => (expiresAt === null ? NO_VALUE : formatDayAndClock(expiresAt)),
    },
    { title: t.table.columns.placed, cell: ({ createdAt }) => formatDayAndClock(createdAt) },
    {
      title: t.table.columns.actions,
      isActions: true,
      cell: (order) => <Actions order={order} draft={ownDraft(order)} onDraft={setDraft} />,
    },
  ];
}

interface ActionsProps {
  readonly order: Order;
  readonly draft: Draft | undefined;
  readonly onDraft: OnDraft;
}

function Actions({ order, draft, onDraft }: ActionsProps) {
  const why = closedTextOf(useTerminal().marketFeed.view(order.symbol));
  const amend = useRef<HTMLButtonElement>(null);
  const wasAmending = useRef(false);
  useEffect(() => {
    // The field that had the focus is gone.
    if (wasAmending.current && draft === undefined) amend.current?.focus();
    wasAmending.current = draft !== undefined;
  }, [draft]);
  if (draft !== undefined) return <DraftActions order={order} draft={draft} onDraft={onDraft} />;
  const begin = () => onDraft({ orderId: order.orderId });
  return (
    <span className="row">
      {canAmend(order) && (
        <button
          ref={amend}
          type="button"
          className="button small"
          disabled={why !== undefined}
          title={why}
          aria-label={t.orders.amendOne(order.orderId)}
          onClick={begin}
        >
          {t.orders.amend}
        </button>
      )}
      <CancelButton order={order} />
    </span>
  );
}

function CancelAll() {
  const terminal = useTerminal();
  return (
    <div className="table-bar">
      <ActionButton act={() => terminal.cancelAll()}>{t.orders.cancelAll}</ActionButton>
    </div>
  );
}

function CancelButton({ order: { orderId } }: { readonly order: Order }) {
  const terminal = useTerminal();
  const cancel = () => terminal.attempt((session) => terminal.orders.cancel(session, orderId));
  return (
    <ActionButton label={t.orders.cancelOne(orderId)} act={cancel}>
      {t.words.cancel}
    </ActionButton>
  );
}
