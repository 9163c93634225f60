/** Open positions with live PnL and a button to close each at the market. */

import type { Position } from "@perpgate/protocol";
import {
  formatDollars,
  formatFixed,
  formatPercent,
  formatSigned,
  toneOf,
} from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { priceText, sizeText } from "../venue/market-view.js";
import { ActionButton } from "./action-button.js";
import { type Column, DataTable } from "./data-table.js";
import { livePosition, useRefresh } from "./live-pnl.js";

export function PositionsTable() {
  const terminal = useTerminal();
  const { account, marketFeed } = terminal;
  const positions = useStore(account.positions);
  useRefresh();
  const columns: readonly Column<Position>[] = [
    {
      title: "Market",
      isText: true,
      cell: ({ symbol, side, leverage }) => (
        <>
          <strong>{symbol}</strong>{" "}
          <span className={side}>
            {side === "long" ? "Long" : "Short"} {formatFixed(leverage, leverage < 10 ? 1 : 0)}×
          </span>
        </>
      ),
    },
    {
      title: "Size",
      cell: ({ symbol, size }) => (
        <span className={toneOf(size)}>{sizeText(marketFeed.view(symbol), size)}</span>
      ),
    },
    {
      title: "Entry",
      cell: ({ symbol, avgEntry }) => priceText(marketFeed.view(symbol), avgEntry),
    },
    {
      title: "Mark",
      cell: (position) =>
        priceText(marketFeed.view(position.symbol), livePosition(terminal, position).mark),
    },
    {
      title: "Liquidation",
      cell: ({ symbol, liquidationPrice }) => (
        <span className="warn-text">{priceText(marketFeed.view(symbol), liquidationPrice)}</span>
      ),
    },
    { title: "Margin", cell: ({ margin }) => formatDollars(margin) },
    { title: "PnL", cell: (position) => <Pnl {...livePosition(terminal, position)} /> },
    { title: "Funding paid", cell: ({ fundingPaid }) => formatFixed(fundingPaid, 4) },
    { title: "Close", cell: (position) => <CloseButton position={position} /> },
  ];
  return (
    <DataTable
      label="Positions"
      columns={columns}
      rows={positions === undefined ? undefined : [...positions.values()]}
      keyOf={({ symbol }) => symbol}
      empty="No open positions."
    />
  );
}

function Pnl({ unrealized, share }: { readonly unrealized: number; readonly share: number }) {
  return (
    <span className={toneOf(unrealized)}>
      {formatSigned(unrealized, 2)} <span className="share">({formatPercent(share)})</span>
    </span>
  );
}

function CloseButton({ position }: { readonly position: Position }) {
  const terminal = useTerminal();
  const close = () => {
    const { mark } = livePosition(terminal, position);
    return terminal.attempt((session) =>
      terminal.orders.close(session, { ...position, markPrice: mark }),
    );
  };
  return (
    <ActionButton label={`Close ${position.symbol} at the market`} busyText="Closing…" act={close}>
      Close
    </ActionButton>
  );
}
