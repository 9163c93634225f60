/** Sign-in with a burner key made in this page or with a browser wallet. */

import { type ReactNode, useState } from "react";
import { type Advice, adviceOn } from "../order/advice.js";
import { AdviceBox } from "../order/advice-box.js";
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
          text="A new key for this visit, kept in memory only. After a reload the key and its account are lost."
        >
          <button
            type="button"
            className="button primary"
            disabled={isSigning}
            onClick={() => run(() => sessions.signInWithBurner())}
          >
            Create a burner key
          </button>
        </Choice>
        <Choice
          title="Browser wallet"
          text="Sign one message, no transaction. A session key in this page then signs your orders without further prompts."
        >
          {wallets.map((wallet) => (
            <button
              key={wallet.id}
              type="button"
              className="button"
              disabled={isSigning}
              onClick={() => run(() => sessions.signInWithWallet(wallet))}
            >
              {isSigning ? "Confirm in your wallet…" : `Use ${wallet.name}`}
            </button>
          ))}
          {wallets.length === 0 && (
            <p>No wallet found. Install one as a browser extension and reload this page.</p>
          )}
        </Choice>
        <AdviceBox advice={advice} />
        <p className="notice">
          Keys and the session token are kept in this page's memory only. A reload signs you out;
          open orders and positions stay open.
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
