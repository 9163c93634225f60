/** The header: name, connection state, account. */

import { formatAvailable } from "./format/numbers.js";
import { shortHex } from "./format/text.js";
import { useStore } from "./state/store.js";
import { useTerminal } from "./terminal.js";
import { switchTheme, theme } from "./theme/theme.js";
import { Icon } from "./ui/icons.js";
import { CONNECTION_LABELS } from "./venue/connection.js";
import "./header.css";

export function Header() {
  return (
    <header className="header">
      <h1 className="brand">
        <Mark />
        Perpgate
      </h1>
      <span className="chip warn" title="Balances have no value">
        Testnet
      </span>
      <ConnectionState />
      <span className="space" />
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

function ConnectionState() {
  const { connection } = useTerminal();
  const state = useStore(connection.state);
  const { label, tone } = CONNECTION_LABELS[state];
  return (
    <output className="connection" data-state={state}>
      <span className={`dot ${tone}`} />
      {label}
    </output>
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

function AccountButtons() {
  const terminal = useTerminal();
  const state = useStore(terminal.sessions.state);
  const available = useStore(terminal.account.account, (account) => account?.available);
  if (state.status !== "in") {
    return (
      <button
        type="button"
        className="button primary"
        disabled={state.status === "signing"}
        onClick={() => terminal.dialog.set("sign-in")}
      >
        {state.status === "signing" ? "Signing in…" : "Sign in"}
      </button>
    );
  }
  const signOut = () => {
    terminal.sessions.signOut().catch((error: unknown) => terminal.report(error));
  };
  return (
    <>
      <span className="funds" data-testid="available">
        <span className="faint">Available </span>
        {available === undefined ? <span className="skeleton" /> : formatAvailable(available)}
      </span>
      <button type="button" className="button" onClick={() => terminal.dialog.set("deposit")}>
        Deposit
      </button>
      <span className="who" title={state.address}>
        {state.kind === "burner" && <span className="chip warn">Burner</span>}
        {shortHex(state.address)}
      </span>
      <button type="button" className="button bare" onClick={signOut}>
        Sign out
      </button>
    </>
  );
}
