/** Positions, open orders, fills, deposits and withdrawals of the account, one tab each. */

import { type ReactNode, Suspense } from "react";
import { useRemembered } from "../state/remembered.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { later } from "../ui/later.js";
import { type Tab, Tabs, tabPanel } from "../ui/tabs.js";
import { DepositsTable } from "./deposits-table.js";
import { FillsTable } from "./fills-table.js";
import { OrdersTable } from "./orders-table.js";
import { PositionsTable } from "./positions-table.js";
import "./portfolio-panel.css";

const HistoryPanel = later(() => import("./history-panel.js"));
const WithdrawalsTable = later(() => import("./withdrawals-table.js"));

type Name = "positions" | "orders" | "fills" | "history" | "deposits" | "withdrawals";
const PANEL = "portfolio-panel";

const TABLES: Readonly<Record<Name, () => ReactNode>> = {
  positions: PositionsTable,
  orders: OrdersTable,
  fills: FillsTable,
  history: History,
  deposits: DepositsTable,
  withdrawals: Withdrawals,
};

const NAMES: readonly Name[] = [
  "positions",
  "orders",
  "fills",
  "history",
  "deposits",
  "withdrawals",
];

export function PortfolioPanel() {
  const { account, bridge, sessions } = useTerminal();
  const isIn = useStore(sessions.state, ({ status }) => status === "in");
  const positions = useStore(account.positions, (all) => all?.size ?? 0);
  const orders = useStore(account.orders, (all) => all?.size ?? 0);
  const paysOut = useStore(bridge.info, (info) => (info?.withdrawals ?? null) !== null);
  const [chosen, setTab] = useRemembered("portfolio-tab", NAMES, "positions");
  const tab = chosen === "withdrawals" && !paysOut ? "deposits" : chosen;
  const tabs: readonly Tab<Name>[] = [
    { name: "positions", label: counted("Positions", positions) },
    { name: "orders", label: counted("Open orders", orders) },
    { name: "fills", label: "Fills" },
    { name: "history", label: "History" },
    { name: "deposits", label: "Deposits" },
    ...(paysOut ? [{ name: "withdrawals", label: "Withdrawals" } as const] : []),
  ];
  const Table = TABLES[tab];
  return (
    <section className="panel portfolio" aria-label="Portfolio">
      <div className="panel-head">
        <Tabs label="Portfolio" tabs={tabs} selected={tab} panelId={PANEL} onSelect={setTab} />
      </div>
      <div className="panel-body" {...tabPanel(PANEL, tab)}>
        {isIn ? <Table /> : <SignInFirst />}
      </div>
    </section>
  );
}

function History() {
  return (
    <Suspense>
      <HistoryPanel />
    </Suspense>
  );
}

function Withdrawals() {
  return (
    <Suspense>
      <WithdrawalsTable />
    </Suspense>
  );
}

function counted(label: string, count: number): string {
  return count === 0 ? label : `${label} (${count})`;
}

function SignInFirst() {
  const { dialog } = useTerminal();
  return (
    <div className="empty">
      Sign in to see your positions, orders and fills. A burner key takes one click.
      <button type="button" className="button" onClick={() => dialog.set("sign-in")}>
        Sign in
      </button>
    </div>
  );
}
