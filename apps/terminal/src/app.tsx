/** The page: header, market bar and panels; on phones a bar chooses the panel. */

import {
  Component,
  type CSSProperties,
  type ReactNode,
  Suspense,
  useEffect,
  useState,
} from "react";
import { PortfolioPanel } from "./account/portfolio-panel.js";
import { BookPanel } from "./book/book-panel.js";
import { Header } from "./header.js";
import { MarketBar } from "./market/market-bar.js";
import { OrderPanel } from "./order/order-panel.js";
import { HonestyFigures } from "./receipts/honesty.js";
import { listenForShortcuts } from "./shell/shortcuts.js";
import { Splitter } from "./shell/splitter.js";
import { readPreference } from "./state/preferences.js";
import { useRemembered } from "./state/remembered.js";
import { useStore } from "./state/store.js";
import { userSettings } from "./state/user-settings.js";
import { TapePanel } from "./tape/tape-panel.js";
import { type Terminal, TerminalContext } from "./terminal.js";
import { language, t } from "./text/texts.js";
import { Icon } from "./ui/icons.js";
import { later } from "./ui/later.js";
import { Segments } from "./ui/segments.js";
import { ToastList } from "./ui/toasts.js";

interface Props {
  /** What has failed, in words. */
  readonly name: string;
  /** Its place in the layout. */
  readonly area?: string;
  readonly children: ReactNode;
}

/** Keeps a failure inside its panel: a trader with an open position still has the rest of the page. */
class Boundary extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    const { name, area = "" } = this.props;
    return (
      <section className={`panel ${area}`} aria-label={name}>
        <div className="notice bad" role="alert">
          <p>{t.app.broken(name)}</p>
          <button type="button" className="button small" onClick={() => location.reload()}>
            {t.app.reload}
          </button>
        </div>
      </section>
    );
  }
}

/** Not needed for the first paint. */
const ChartPanel = later(async () => ({
  default: (await import("./chart/chart-panel.js")).ChartPanel,
}));
const AccountDialog = later(async () => ({
  default: (await import("./account/account-dialog.js")).AccountDialog,
}));
const DepositDialog = later(async () => ({
  default: (await import("./account/deposit-dialog.js")).DepositDialog,
}));
const WithdrawDialog = later(async () => ({
  default: (await import("./account/withdraw-dialog.js")).WithdrawDialog,
}));
const SignInDialog = later(async () => ({
  default: (await import("./account/sign-in-dialog.js")).SignInDialog,
}));
const CancelAllDialog = later(() => import("./account/cancel-all-dialog.js"));
const ScaleDialog = later(() => import("./order/scale-dialog.js"));
const AlertsDialog = later(() => import("./market/alerts-dialog.js"));
const SettingsDialog = later(() => import("./shell/settings-dialog.js"));
const SignOutDialog = later(() => import("./account/sign-out-dialog.js"));
const SandboxBar = later(async () => ({
  default: (await import("./shell/sandbox-bar.js")).SandboxBar,
}));
const ShortcutsDialog = later(async () => ({
  default: (await import("./shell/shortcuts-dialog.js")).ShortcutsDialog,
}));

const VIEWS = [
  ["chart", "chart"],
  ["book", "book"],
  ["trade", "trade"],
  ["portfolio", "wallet"],
] as const;

type View = (typeof VIEWS)[number][0];
const VIEW_NAMES = VIEWS.map(([name]) => name);

/** Below the widest layout one panel shows either. */
const SIDES = ["book", "tape"] as const;

export function App({ terminal }: { readonly terminal: Terminal }) {
  const [view, setView] = useRemembered<View>("view", VIEW_NAMES, "chart");
  const [side, setSide] = useRemembered("side-panel", SIDES, "book");
  const [height, setHeight] = useState(
    () => Number(readPreference("portfolio-height")) || undefined,
  );
  useEffect(() => listenForShortcuts(terminal), [terminal]);
  const isLive = useStore(terminal.line.state, (state) => state === "live");
  useEffect(() => {
    // Of the whole document: dialogs are not in the page's element.
    document.documentElement.dataset.live = String(isLive);
  }, [isLive]);
  const separator = useStore(userSettings, (settings) => settings.separator);
  const shown = useStore(language);
  return (
    <TerminalContext value={terminal}>
      {/* Another language or notation: every text and number is drawn again. */}
      <div key={`${shown} ${separator}`} className="page" data-view={view} data-side={side}>
        <div>
          <Header />
          <Suspense>
            <SandboxBar />
          </Suspense>
        </div>
        <MarketBar />
        <main className="panels" style={heightStyle(height)}>
          <Segments
            className="side-choice"
            legend={t.app.sidesLabel}
            name="side-panel"
            options={SIDES}
            labels={t.app.sides}
            selected={side}
            onSelect={setSide}
          />
          <Splitter height={height} onChange={setHeight} />
          <Suspense
            fallback={
              <section className="panel chart" aria-label={t.chart.title} aria-busy="true" />
            }
          >
            <Boundary name={t.app.parts.chart} area="chart">
              <ChartPanel />
            </Boundary>
          </Suspense>
          <Boundary name={t.app.parts.book} area="book">
            <BookPanel />
          </Boundary>
          <Boundary name={t.app.parts.tape} area="tape">
            <TapePanel />
          </Boundary>
          <Boundary name={t.app.parts.trade} area="trade">
            <OrderPanel />
          </Boundary>
          <Boundary name={t.app.parts.portfolio} area="portfolio">
            <PortfolioPanel />
          </Boundary>
        </main>
        <ViewBar view={view} onChoose={setView} />
        <Foot />
      </div>
      <Suspense>
        <Boundary name={t.app.parts.dialog}>
          <Dialogs terminal={terminal} />
        </Boundary>
      </Suspense>
      <ToastList toasts={terminal.toasts} />
    </TerminalContext>
  );
}

/** The layout has a height of its own until the user sets one. */
function heightStyle(height: number | undefined): CSSProperties {
  if (height === undefined) return {};
  const style: CSSProperties & Record<"--portfolio", string> = { "--portfolio": `${height}px` };
  return style;
}

function ViewBar({ view, onChoose }: { view: View; onChoose: (view: View) => void }) {
  return (
    <nav className="views" aria-label={t.app.viewsLabel}>
      {VIEWS.map(([name, icon]) => (
        <button
          key={name}
          type="button"
          aria-current={name === view}
          onClick={() => onChoose(name)}
        >
          <Icon name={icon} />
          {t.app.views[name]}
        </button>
      ))}
    </nav>
  );
}

function Foot() {
  return (
    <footer className="foot">
      <span>{t.app.noValue}</span>
      <a href="/docs" target="_blank" rel="noreferrer">
        API
      </a>
      <HonestyFigures />
      <a href="/check.html" target="_blank" rel="noreferrer">
        {t.app.checkProof}
      </a>
      <span className="end">
        {t.app.chartsBy}{" "}
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
  if (open === "sign-out") return <SignOutDialog />;
  if (open === "cancel-all") return <CancelAllDialog />;
  if (open === "scale") return <ScaleDialog />;
  if (open === "settings") return <SettingsDialog />;
  if (open === "alerts") return <AlertsDialog />;
  if (open === "shortcuts") return <ShortcutsDialog />;
  if (open === "withdraw") return <WithdrawDialog />;
  if (open === "account") return <AccountDialog />;
  return open === "deposit" ? <DepositDialog /> : null;
}
