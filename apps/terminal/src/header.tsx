/** The header: name, connection state, account. */

import { formatAvailable, formatMs } from "./format/numbers.js";
import { shortHex } from "./format/text.js";
import { useStore } from "./state/store.js";
import { useTerminal } from "./terminal.js";
import { switchTheme, theme } from "./theme/theme.js";
import { Icon } from "./ui/icons.js";
import type { LineState } from "./venue/line.js";
import { sandboxInPage } from "./venue/sandbox-feed.js";
import "./header.css";

export function Header() {
  return (
    <header className="header">
      <h1 className="brand">
        <Mark />
        Perpgate
      </h1>
      <span className="chip warn" title="Balances have no value">
        {sandboxInPage() === undefined ? "Testnet" : "SANDBOX"}
      </span>
      <ConnectionState />
      <GatewayInUse />
      <span className="space" />
      <DialogButton icon="keyboard" label="Keyboard shortcuts" opens="shortcuts" />
      <DialogButton icon="settings" label="Settings" opens="settings" />
      <ThemeButton />
      <AccountButtons />
    </header>
  );
}

function Mark() {
  return (
    <svg className="mark" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M4 20V8l8-5 8 5v12h-4v-9.5l-4-2.5-4 2.5V20z" />
    </svg>
  );
}

const LINE_LABELS: Readonly<Record<LineState, { label: string; tone: string }>> = {
  live: { label: "Live", tone: "on" },
  stale: { label: "Stale", tone: "" },
  reconnecting: { label: "Reconnecting…", tone: "off" },
  offline: { label: "Offline", tone: "off" },
};

function ConnectionState() {
  const { line } = useTerminal();
  const state = useStore(line.state);
  const { label, tone } = LINE_LABELS[state];
  return (
    <output className="connection" data-state={state}>
      <span className={`dot ${line.wasLive ? tone : ""}`} />
      {line.wasLive ? label : "Connecting…"}
    </output>
  );
}

function GatewayInUse() {
  const { gateways } = useTerminal();
  const inUse = useStore(gateways.inUse);
  if (inUse === undefined) return null;
  const { url, roundTripMs, region } = inUse;
  return (
    <span className="gateway" title={`Through the gateway ${url}`} data-testid="gateway">
      {region ?? new URL(url).host}
      {roundTripMs !== undefined && <span className="faint"> {formatMs(roundTripMs)}</span>}
    </span>
  );
}

/** Opens a dialog of the page. */
function DialogButton({
  icon,
  label,
  opens,
}: {
  readonly icon: "keyboard" | "settings";
  readonly label: string;
  readonly opens: "shortcuts" | "settings";
}) {
  const { dialog } = useTerminal();
  return (
    <button
      type="button"
      className="button bare keys"
      aria-label={label}
      onClick={() => dialog.set(opens)}
    >
      <Icon name={icon} />
    </button>
  );
}

function ThemeButton() {
  const current = useStore(theme);
  const next = current === "dark" ? "light" : "dark";
  return (
    <button
      type="button"
      className="button bare"
      aria-label={`Switch to ${next} colours`}
      onClick={switchTheme}
    >
      <Icon name={current === "dark" ? "sun" : "moon"} />
    </button>
  );
}

/** Only of a venue that pays out. */
function WithdrawButton() {
  const { bridge, dialog } = useTerminal();
  const isOn = useStore(bridge.info, (info) => (info?.withdrawals ?? null) !== null);
  if (!isOn) return null;
  return (
    <button type="button" className="button" onClick={() => dialog.set("withdraw")}>
      Withdraw
    </button>
  );
}

function AccountButtons() {
  const terminal = useTerminal();
  const state = useStore(terminal.sessions.state);
  const available = useStore(terminal.account.account, (account) => account?.available);
  if (state.status !== "in") {
    return (
      <button
        type="button"
        className="button primary"
        disabled={state.status === "restoring"}
        onClick={() => terminal.dialog.set("sign-in")}
      >
        {state.status === "out" ? "Sign in" : "Signing in…"}
      </button>
    );
  }
  return (
    <>
      <span className="funds" data-testid="available">
        <span className="faint">Available </span>
        {available === undefined ? <span className="skeleton" /> : formatAvailable(available)}
      </span>
      <button type="button" className="button" onClick={() => terminal.dialog.set("deposit")}>
        Deposit
      </button>
      <WithdrawButton />
      <button
        type="button"
        className="button bare who"
        title={state.address}
        onClick={() => terminal.dialog.set("account")}
      >
        <Icon name="user" />
        {state.kind === "burner" && <span className="chip warn">Burner</span>}
        <span className="unseen">Account </span>
        <span className="address">{shortHex(state.address)}</span>
      </button>
      <button
        type="button"
        className="button bare"
        aria-label="Sign out"
        onClick={() => terminal.askSignOut()}
      >
        <Icon name="leave" />
        <span className="sign-out">Sign out</span>
      </button>
    </>
  );
}
