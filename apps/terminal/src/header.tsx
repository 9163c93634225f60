/** The header: name, connection state, account. */

import { formatAvailable, formatMs } from "./format/numbers.js";
import { shortHex } from "./format/text.js";
import { useStore } from "./state/store.js";
import { useTerminal } from "./terminal.js";
import { t } from "./text/texts.js";
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
      <span className="chip warn" title={t.header.noValue}>
        {sandboxInPage() === undefined ? t.header.testnet : t.header.sandbox}
      </span>
      <ConnectionState />
      <GatewayInUse />
      <span className="space" />
      <DialogButton icon="keyboard" label={t.header.shortcuts} opens="shortcuts" />
      <DialogButton icon="settings" label={t.header.settings} opens="settings" />
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

const LINE_TONES: Readonly<Record<LineState, string>> = {
  live: "on",
  stale: "",
  reconnecting: "off",
  offline: "off",
};

function ConnectionState() {
  const { line } = useTerminal();
  const state = useStore(line.state);
  return (
    <output className="connection" data-state={state}>
      <span className={`dot ${line.wasLive ? LINE_TONES[state] : ""}`} />
      {line.wasLive ? t.header.line[state] : t.header.connecting}
    </output>
  );
}

function GatewayInUse() {
  const { gateways } = useTerminal();
  const inUse = useStore(gateways.inUse);
  if (inUse === undefined) return null;
  const { url, roundTripMs, region } = inUse;
  return (
    <span className="gateway" title={t.header.gateway(url)} data-testid="gateway">
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
  return (
    <button
      type="button"
      className="button bare"
      aria-label={current === "dark" ? t.header.toLight : t.header.toDark}
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
      {t.words.withdraw}
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
        {state.status === "out" ? t.words.signIn : t.words.signingIn}
      </button>
    );
  }
  return (
    <>
      <span className="funds" data-testid="available">
        <span className="faint">{t.words.available} </span>
        {available === undefined ? <span className="skeleton" /> : formatAvailable(available)}
      </span>
      <button type="button" className="button" onClick={() => terminal.dialog.set("deposit")}>
        {t.words.deposit}
      </button>
      <WithdrawButton />
      <button
        type="button"
        className="button bare who"
        title={state.address}
        onClick={() => terminal.dialog.set("account")}
      >
        <Icon name="user" />
        {state.kind === "burner" && <span className="chip warn">{t.header.burner}</span>}
        <span className="unseen">{t.header.account} </span>
        <span className="address">{shortHex(state.address)}</span>
      </button>
      <button
        type="button"
        className="button bare"
        aria-label={t.header.signOut}
        onClick={() => terminal.askSignOut()}
      >
        <Icon name="leave" />
        <span className="sign-out">{t.header.signOut}</span>
      </button>
    </>
  );
}
