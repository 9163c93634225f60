/** Open positions with live PnL, each with its actions. */

import type { Order, Position } from "@perpgate/protocol";
import { Suspense, useState } from "react";
import {
  formatDollars,
  formatFixed,
  formatPercent,
  formatSigned,
  NO_VALUE,
  toneOf,
} from "../format/numbers.js";
import { RISK_TONES } from "../maths/position-risk.js";
import { attachedExits, closeAtMarket, closedTextOfAll, exitOrder } from "../order/closing.js";
import { orderSettings } from "../order/order-settings.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { later } from "../ui/later.js";
import { type LivePosition, livePosition } from "../venue/live-position.js";
import { closedTextOf, priceText, sizeText } from "../venue/market-view.js";
import { ActionButton } from "./action-button.js";
import { type DataColumn, DataTable } from "./data-table.js";
import { useRefresh } from "./live-pnl.js";

const PositionDialog = later(() => import("./position-dialog.js"));
const CloseDialog = later(() => import("./close-dialog.js"));

export function PositionsTable() {
  const terminal = useTerminal();
  const positions = useStore(terminal.account.positions);
  const [managed, setManaged] = useState<string>();
  const [closing, setClosing] = useState<{ readonly symbol: string | undefined }>();
  const asksFirst = useStore(orderSettings, (settings) => settings.asksFirst);
  const close = async (symbol?: string): Promise<void> => {
    if (asksFirst) setClosing({ symbol });
    else await terminal.attempt((session) => closeAtMarket(terminal, session, symbol));
  };
  const columns = useColumns(setManaged, close);
  const rows = positions === undefined ? undefined : [...positions.values()];
  return (
    <>
      <DataTable
        label={t.portfolio.tabs.positions}
        columns={columns}
        rows={rows}
        keyOf={({ symbol }) => symbol}
        empty={t.positions.empty}
      />
      {rows !== undefined && rows.length > 0 && (
        <div className="table-bar">
          <ActionButton
            busyText={t.words.closing}
            why={closedTextOfAll(terminal, rows)}
            act={() => close()}
          >
            {t.positions.closeAll}
          </ActionButton>
        </div>
      )}
      <Suspense>
        {managed !== undefined && (
          <PositionDialog symbol={managed} onClose={() => setManaged(undefined)} />
        )}
        {closing !== undefined && (
          <CloseDialog symbol={closing.symbol} onClose={() => setClosing(undefined)} />
        )}
      </Suspense>
    </>
  );
}

function useColumns(
  onManage: (symbol: string) => void,
  onClose: (symbol: string) => Promise<void>,
): readonly DataColumn<Position>[] {
  const terminal = useTerminal();
  const { account, marketFeed } = terminal;
  const orders = useStore(account.orders);
  useRefresh();
  const priceOf = ({ symbol }: Position, price: number | null) =>
    priceText(marketFeed.view(symbol), price);
  return [
    {
      title: t.table.market,
      isText: true,
      cell: ({ symbol, side, leverage }) => (
        <>
          <strong>{symbol}</strong>{" "}
          <span className={`${side} second`}>
            {t.words.positions[side]} {formatFixed(leverage, leverage < 10 ? 1 : 0)}×
          </span>
        </>
      ),
    },
    {
      title: t.words.size,
      cell: ({ symbol, size }) => (
        <span className={toneOf(size)}>{sizeText(marketFeed.view(symbol), size)}</span>
      ),
    },
    {
      title: t.table.columns.value,
      cell: (position) =>
        formatDollars(Math.abs(position.size) * livePosition(terminal, position).mark),
    },
    { title: t.table.columns.entry, cell: (position) => priceOf(position, position.avgEntry) },
    {
      title: t.words.mark,
      cell: (position) => priceOf(position, livePosition(terminal, position).mark),
    },
    {
      title: t.table.columns.liquidation,
      cell: (position) => (
        <Liquidation
          price={priceOf(position, position.liquidationPrice)}
          risk={livePosition(terminal, position)}
        />
      ),
    },
    { title: t.words.pnl, cell: (position) => <Pnl {...livePosition(terminal, position)} /> },
    { title: t.words.margin, cell: ({ margin }) => formatDollars(margin) },
    {
      title: t.table.columns.ratio,
      cell: (position) => {
        const { ratio, level } = livePosition(terminal, position);
        return <span className={RISK_TONES[level]}>{formatFixed(ratio * 100, 1)}%</span>;
      },
    },
    { title: t.words.exits, cell: (position) => exitsText(position, orders, priceOf) },
    {
      title: t.table.columns.realized,
      cell: ({ realizedPnl }) => (
        <span className={toneOf(realizedPnl, 2)}>{formatSigned(realizedPnl, 2)}</span>
      ),
    },
    { title: t.table.columns.fundingPaid, cell: ({ fundingPaid }) => formatFixed(fundingPaid, 4) },
    {
      title: t.table.columns.actions,
      isActions: true,
      cell: (position) => (
        <span className="row">
          <ActionButton
            label={t.positions.closeAtMarket(position.symbol)}
            busyText={t.words.closing}
            why={closedTextOf(marketFeed.view(position.symbol))}
            act={() => onClose(position.symbol)}
          >
            {t.words.close}
          </ActionButton>
          <button
            type="button"
            className="button small"
            aria-label={t.positions.manageOne(position.symbol)}
            onClick={() => onManage(position.symbol)}
          >
            {t.positions.manage}
          </button>
        </span>
      ),
    },
  ];
}

/** The prices for the whole position; `+2` for two orders with an exit of their own. */
function exitsText(
  position: Position,
  orders: ReadonlyMap<string, Order> | undefined,
  priceOf: (position: Position, price: number | null) => string,
): string {
  const [profit, loss] = (["takeProfit", "stop"] as const).map((trigger) => {
    const price = exitOrder(orders, position, trigger)?.price;
    const whole = price === undefined ? NO_VALUE : priceOf(position, price);
    const { length } = attachedExits(orders, position, trigger);
    return length === 0 ? whole : `${price === undefined ? "" : `${whole} `}+${length}`;
  });
  return `${profit} / ${loss}`;
}

/** The price, and how far the mark is from it. */
function Liquidation({ price, risk }: { readonly price: string; readonly risk: LivePosition }) {
  return (
    <span className={RISK_TONES[risk.level]}>
      {price}
      {risk.distance !== null && <span className="second">{formatPercent(risk.distance, 1)}</span>}
    </span>
  );
}

function Pnl({ unrealized, share }: { readonly unrealized: number; readonly share: number }) {
  return (
    <span className={toneOf(unrealized, 2)}>
      {formatSigned(unrealized, 2)} <span className="share second">({formatPercent(share)})</span>
    </span>
  );
}
