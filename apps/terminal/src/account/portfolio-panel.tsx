/** Positions, open orders, fills, deposits and withdrawals of the account, one tab each. */

import { type ComponentType, Suspense } from "react";
import { useRemembered } from "../state/remembered.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { later } from "../ui/later.js";
import { type Tab, Tabs, tabPanel } from "../ui/tabs.js";
import { OrdersTable } from "./orders-table.js";
import { PositionsTable } from "./positions-table.js";
import "./portfolio-panel.css";

/** Not needed for the first paint. */
const FillsTable = later(async () => ({ default: (await import("./fills-table.js")).FillsTable }));
const DepositsTable = later(async () => ({
  default: (await import("./deposits-table.js")).DepositsTable,
}));
const HistoryPanel = later(() => import("./history-panel.js"));
const WithdrawalsTable = later(() => import("./withdrawals-table.js"));

type Name = "positions" | "orders" | "fills" | "history" | "deposits" | "withdrawals";
const PANEL = "portfolio-panel";

const TABLES: Readonly<Record<Name, ComponentType>> = {
  positions: PositionsTable,
  orders: OrdersTable,
  fills: FillsTable,
  history: HistoryPanel,
  deposits: DepositsTable,
  withdrawals: WithdrawalsTable,
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
    { name: "positions", label: counted(t.portfolio.tabs.positions, positions) },
    { name: "orders", label: counted(t.portfolio.tabs.orders, orders) },
    { name: "fills", label: t.portfolio.tabs.fills },
    { name: "history", label: t.portfolio.tabs.history },
    { name: "deposits", label: t.portfolio.tabs.deposits },
    ...(paysOut ? [{ name: "withdrawals", label: t.portfolio.tabs.withdrawals } as const] : []),
  ];
  const Table = TABLES[tab];
  return (
    <section className="panel portfolio" aria-label={t.portfolio.title}>
      <div className="panel-head">
        <Tabs
          label={t.portfolio.title}
          tabs={tabs}
          selected={tab}
          panelId={PANEL}
          onSelect={setTab}
        />
      </div>
      <div className="panel-body" {...tabPanel(PANEL, tab)}>
        <Suspense>{isIn ? <Table /> : <SignInFirst />}</Suspense>
      </div>
    </section>
  );
}

function counted(label: string, count: number): string {
  return count === 0 ? label : `${label} (${count})`;
}

function SignInFirst() {
  const { dialog } = useTerminal();
  return (
    <div className="empty">
      {t.portfolio.signInFirst}
      <button type="button" className="button" onClick={() => dialog.set("sign-in")}>
        {t.words.signIn}
      </button>
    </div>
  );
}
