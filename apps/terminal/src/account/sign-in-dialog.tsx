/** The two ways in: a burner key made in this page, or a wallet of the browser. */

import { type ReactNode, useState } from "react";
import { type Advice, adviceOn } from "../order/advice.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Dialog } from "../ui/dialog.js";
import { injectedWallets } from "../venue/injected-wallets.js";

export function SignInDialog() {
  const { dialog, sessions } = useTerminal();
  const wallets = useStore(injectedWallets);
  const isSigning = useStore(sessions.state, ({ status }) => status === "signing");
  const [advice, setAdvice] = useState<Advice>();
  const close = () => dialog.set("none");
  const run = (signIn: () => Promise<void>) => {
    setAdvice(undefined);
    signIn().then(close, (error: unknown) => setAdvice(adviceOn(error)));
  };
  return (
    <Dialog title="Sign in" onClose={close}>
      <div className="dialog-body">
        <Choice
          title="Burner key"
          badge={<span className="chip warn">Testnet only</span>}
          text="A new key, made in this page for this visit. It is kept in memory alone: reload, and key, session and whatever the account holds are out of reach."
        >
          <button
            type="button"
            className="button primary"
            disabled={isSigning}
            onClick={() => run(() => sessions.signInWithBurner())}
          >
            Make a testnet burner key
          </button>
        </Choice>
        <Choice
          title="Browser wallet"
          text="Signs one message, no transaction. From then on a session key in this page signs the orders; the wallet is not asked again."
        >
          {wallets.map((wallet) => (
            <button
              key={wallet.id}
              type="button"
              className="button"
              disabled={isSigning}
              onClick={() => run(() => sessions.signInWithWallet(wallet))}
            >
              {isSigning ? "Look at your wallet…" : `Use ${wallet.name}`}
            </button>
          ))}
          {wallets.length === 0 && (
            <p>No wallet found. Install one as a browser extension and reload this page.</p>
          )}
        </Choice>
        {advice !== undefined && (
          <div className="notice bad" role="alert">
            <strong>{advice.title}.</strong> {advice.text}
          </div>
        )}
        <p className="notice">
          Nothing secret is stored: keys and the session's token live in this page's memory. A
          reload signs you out; open orders and positions stay at the venue.
        </p>
      </div>
    </Dialog>
  );
}

interface ChoiceProps {
  readonly title: string;
  readonly badge?: ReactNode;
  readonly text: string;
  readonly children: ReactNode;
}

function Choice({ title, badge, text, children }: ChoiceProps) {
  return (
    <section className="choice-card">
      <h3>
        {title} {badge}
      </h3>
      <p>{text}</p>
      {children}
    </section>
  );
}
