/** Sign-in with a burner key made in this page, a browser wallet, or a key file. */

import { privateKeyAccount } from "@perpgate/sdk";
import { type FormEvent, type ReactNode, useState } from "react";
import { shortHex } from "../format/text.js";
import { type Advice, adviceOn } from "../order/advice.js";
import { AdviceBox } from "../order/advice-box.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Dialog } from "../ui/dialog.js";
import { type InjectedWallet, injectedWallets } from "../venue/injected-wallets.js";
import { OtherBurnerError } from "../venue/session-manager.js";
import { WalletCanceled, WalletSilent } from "../venue/wallet-request.js";
import { BurnerKey } from "./burner-key.js";
import { KeyFileError } from "./key-file.js";
import { OpenKeyFile } from "./open-key-file.js";

export function SignInDialog() {
  const { dialog, sessions } = useTerminal();
  const wallets = useStore(injectedWallets);
  const state = useStore(sessions.state);
  const burner = useStore(sessions.burner);
  const [advice, setAdvice] = useState<Advice>();
  const isAsking = state.status === "signing" && state.kind === "wallet";
  const isBusy = state.status === "signing" || state.status === "restoring";
  const close = () => {
    sessions.cancelSignIn();
    dialog.set("none");
  };
  const run = (signIn: () => Promise<void>) => {
    setAdvice(undefined);
    signIn().then(
      () => dialog.set("none"),
      (error: unknown) => setAdvice(signInAdvice(error)),
    );
  };
  const signInWithBurner = (key?: string) => run(() => sessions.signInWithBurner(key));
  return (
    <Dialog title="Sign in" onClose={close}>
      <div className="dialog-body">
        {isAsking ? (
          <AskingWallet onCancel={() => sessions.cancelSignIn()} />
        ) : (
          <>
            <Choice
              title="Burner key"
              badge={<span className="chip warn">Testnet only</span>}
              text="A wallet made in this page. It may be saved, and used elsewhere."
            >
              {burner === undefined ? (
                <NewBurner isBusy={isBusy} onSignIn={signInWithBurner} />
              ) : (
                <KeptBurner privateKey={burner} isBusy={isBusy} onSignIn={signInWithBurner} />
              )}
            </Choice>
            <Choice
              title="Browser wallet"
              text="Sign one message, no transaction. A session key in this page then signs your orders without further prompts."
            >
              {wallets.map((wallet) => (
                <WalletButton
                  key={wallet.id}
                  wallet={wallet}
                  isBusy={isBusy}
                  onChoose={() => run(() => sessions.signInWithWallet(wallet))}
                />
              ))}
              {wallets.length === 0 && (
                <p>No wallet found. Install one as a browser extension and reload this page.</p>
              )}
            </Choice>
            <Choice
              title="Key file"
              text="Of a machine that is signed in: Account, Make a key file. Each file works once."
            >
              <OpenKeyFile isBusy={isBusy} onSignIn={run} />
            </Choice>
            <StayChoice />
          </>
        )}
        <AdviceBox advice={advice} />
      </div>
    </Dialog>
  );
}

function signInAdvice(error: unknown): Advice | undefined {
  if (error instanceof WalletCanceled) return undefined;
  if (error instanceof WalletSilent) return { title: "No answer", text: error.message };
  if (error instanceof KeyFileError) return { title: error.title, text: error.message };
  if (error instanceof OtherBurnerError) return { title: "Not replaced", text: error.message };
  if (error instanceof RangeError) {
    return { title: "Not a private key", text: "It has 64 hex digits, with or without 0x." };
  }
  return adviceOn(error);
}

function AskingWallet({ onCancel }: { readonly onCancel: () => void }) {
  return (
    <section className="choice-card" role="status">
      <h3>Confirm in your wallet…</h3>
      <p>
        The wallet asks for one signature. If it shows nothing, open it; it may be locked, or its
        window may be behind this one.
      </p>
      <button type="button" className="button" onClick={onCancel}>
        Cancel
      </button>
    </section>
  );
}

interface BurnerProps {
  readonly isBusy: boolean;
  readonly onSignIn: (privateKey?: string) => void;
}

function NewBurner({ isBusy, onSignIn }: BurnerProps) {
  const [isImporting, setImporting] = useState(false);
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSignIn(text.trim());
  };
  return (
    <>
      <div className="button-row">
        <button
          type="button"
          className="button primary"
          disabled={isBusy}
          onClick={() => onSignIn()}
        >
          Create a burner key
        </button>
        <button
          type="button"
          className="button"
          aria-expanded={isImporting}
          onClick={() => setImporting(!isImporting)}
        >
          Import
        </button>
      </div>
      {isImporting && (
        <form className="button-row" onSubmit={submit}>
          <label className="field grow">
            <span className="label">Private key</span>
            <span className="box">
              <input
                type="password"
                autoComplete="off"
                value={text}
                onChange={({ target }) => setText(target.value)}
              />
            </span>
          </label>
          <button type="submit" className="button" disabled={isBusy || text.trim() === ""}>
            Sign in with this key
          </button>
        </form>
      )}
    </>
  );
}

function KeptBurner({ privateKey, isBusy, onSignIn }: BurnerProps & { privateKey: string }) {
  const { sessions } = useTerminal();
  const { address } = privateKeyAccount(privateKey);
  const [isAsked, setAsked] = useState(false);
  const forget = () => {
    if (isAsked) sessions.forgetBurner();
    else setAsked(true);
  };
  return (
    <>
      <div className="button-row">
        <button
          type="button"
          className="button primary"
          disabled={isBusy}
          onClick={() => onSignIn(privateKey)}
        >
          Use burner {shortHex(address)}
        </button>
        <button type="button" className="button" onClick={forget}>
          {isAsked ? "Forget it for good" : "Forget it"}
        </button>
      </div>
      {isAsked && <p>Without a saved key, the account and what is in it cannot be used again.</p>}
      <BurnerKey privateKey={privateKey} address={address} />
    </>
  );
}

interface WalletProps {
  readonly wallet: InjectedWallet;
  readonly isBusy: boolean;
  readonly onChoose: () => void;
}

function WalletButton({ wallet: { name, icon }, isBusy, onChoose }: WalletProps) {
  return (
    <button type="button" className="button" disabled={isBusy} onClick={onChoose}>
      {icon !== undefined && <img className="wallet-icon" src={icon} alt="" />}
      Use {name}
    </button>
  );
}

function StayChoice() {
  const { sessions } = useTerminal();
  const [isStaying, setStaying] = useState(sessions.isStaying);
  if (!sessions.canStay) {
    return <p className="notice">This page was not loaded securely: a reload signs you out.</p>;
  }
  const choose = (isOn: boolean) => {
    sessions.isStaying = isOn;
    setStaying(isOn);
  };
  return (
    <div className="notice">
      <label className="check">
        <input
          type="checkbox"
          checked={isStaying}
          onChange={({ target }) => choose(target.checked)}
        />
        Stay signed in
      </label>
      <p>
        {isStaying
          ? "Keys stay in this browser, and no script can read the session's key. Do not use it on a shared computer."
          : "Keys are kept in this page's memory only: what was kept is deleted, a reload signs you out, and a burner key that was not saved is lost."}
      </p>
    </div>
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
