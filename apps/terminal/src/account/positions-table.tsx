/** Open positions with live PnL, and a button that closes each at the market. */

import type { Position } from "@perpgate/protocol";
import { formatDollars, formatFixed, formatPercent, formatSigned } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { priceText, sizeText } from "../venue/market-view.js";
import { ActionButton } from "./action-button.js";
import { type Column, DataTable } from "./data-table.js";
import { livePosition, useRhythm } from "./live-pnl.js";

export function PositionsTable() {
  const terminal = useTerminal();
  const { account, board } = terminal;
  const positions = useStore(account.positions);
  useRhythm();
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
        <span className={size > 0 ? "long" : "short"}>{sizeText(board.view(symbol), size)}</span>
      ),
    },
    { title: "Entry", cell: ({ symbol, avgEntry }) => priceText(board.view(symbol), avgEntry) },
    {
      title: "Mark",
      cell: (position) =>
        priceText(board.view(position.symbol), livePosition(terminal, position).mark),
    },
    {
      title: "Liquidation",
      cell: ({ symbol, liquidationPrice }) => (
        <span className="warn-text">{priceText(board.view(symbol), liquidationPrice)}</span>
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
      empty="No open position. Choose a side and a margin in the order form to open one."
    />
  );
}

function Pnl({ unrealized, share }: { readonly unrealized: number; readonly share: number }) {
  return (
    <span className={unrealized === 0 ? "" : unrealized > 0 ? "long" : "short"}>
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
