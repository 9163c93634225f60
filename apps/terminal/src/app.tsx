/** The page: header, market bar and panels; on phones a bar chooses the panel. */

import { useState } from "react";
import { DepositDialog } from "./account/deposit-dialog.js";
import { PortfolioPanel } from "./account/portfolio-panel.js";
import { SignInDialog } from "./account/sign-in-dialog.js";
import { BookPanel } from "./book/book-panel.js";
import { ChartPanel } from "./chart/chart-panel.js";
import { Header } from "./header.js";
import { MarketBar } from "./market/market-bar.js";
import { OrderPanel } from "./order/order-panel.js";
import { useStore } from "./state/store.js";
import { TapePanel } from "./tape/tape-panel.js";
import { type Terminal, TerminalContext } from "./terminal.js";
import { Icon } from "./ui/icons.js";
import { ToastList } from "./ui/toasts.js";

const VIEWS = [
  ["chart", "Chart", "chart"],
  ["book", "Book", "book"],
  ["trade", "Trade", "trade"],
  ["portfolio", "Portfolio", "wallet"],
] as const;

type View = (typeof VIEWS)[number][0];

export function App({ terminal }: { readonly terminal: Terminal }) {
  const [view, setView] = useState<View>("chart");
  const isLive = useStore(terminal.connection.state, (state) => state === "open");
  return (
    <TerminalContext value={terminal}>
      <div className="page" data-view={view} data-live={isLive}>
        <Header />
        <MarketBar />
        <main className="panels">
          <ChartPanel />
          <BookPanel />
          <TapePanel />
          <OrderPanel />
          <PortfolioPanel />
        </main>
        <ViewBar view={view} onChoose={setView} />
        <Foot />
      </div>
      <Dialogs terminal={terminal} />
      <ToastList toasts={terminal.toasts} />
    </TerminalContext>
  );
}

function ViewBar({ view, onChoose }: { view: View; onChoose: (view: View) => void }) {
  return (
    <nav className="views" aria-label="Views">
      {VIEWS.map(([name, label, icon]) => (
        <button
          key={name}
          type="button"
          aria-current={name === view}
          onClick={() => onChoose(name)}
        >
          <Icon name={icon} />
          {label}
        </button>
      ))}
    </nav>
  );
}

function Foot() {
  return (
    <footer className="foot">
      <span>Testnet: balances have no value. Keys are kept in this page's memory only.</span>
      <a href="/docs" target="_blank" rel="noreferrer">
        API
      </a>
      <span className="end">
        Charts by{" "}
        <a href="https://www.tradingview.com/" target="_blank" rel="noreferrer">
          TradingView
        </a>{" "}
        Lightweight Charts™
      </span>
    </footer>
  );
}

function Dialogs({ terminal }: { readonly terminal: Terminal }) {
  const open = useStore(terminal.dialog);
  if (open === "sign-in") return <SignInDialog />;
  return open === "deposit" ? <DepositDialog /> : null;
}
