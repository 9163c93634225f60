/** Sign-in with a burner key made in this page, a browser wallet, or a key file. */

import { privateKeyAccount } from "@perpgate/sdk";
import { type FormEvent, type ReactNode, useState } from "react";
import { shortHex } from "../format/text.js";
import { type Advice, adviceOn } from "../order/advice.js";
import { AdviceBox } from "../order/advice-box.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
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
    <Dialog title={t.words.signIn} onClose={close}>
      <div className="dialog-body">
        {isAsking ? (
          <AskingWallet onCancel={() => sessions.cancelSignIn()} />
        ) : (
          <>
            <Choice
              title={t.signIn.burner}
              badge={<span className="chip warn">{t.words.testnetOnly}</span>}
              text={t.signIn.burnerText}
            >
              {burner === undefined ? (
                <NewBurner isBusy={isBusy} onSignIn={signInWithBurner} />
              ) : (
                <KeptBurner privateKey={burner} isBusy={isBusy} onSignIn={signInWithBurner} />
              )}
            </Choice>
            <Choice title={t.signIn.wallet} text={t.signIn.walletText}>
              {wallets.map((wallet) => (
                <WalletButton
                  key={wallet.id}
                  wallet={wallet}
                  isBusy={isBusy}
                  onChoose={() => run(() => sessions.signInWithWallet(wallet))}
                />
              ))}
              {wallets.length === 0 && <p>{t.signIn.noWallet}</p>}
            </Choice>
            <Choice title={t.signIn.keyFile} text={t.signIn.keyFileText}>
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
  if (error instanceof WalletSilent) return { title: t.signIn.noAnswer, text: error.message };
  if (error instanceof KeyFileError) return { title: error.title, text: error.message };
  if (error instanceof OtherBurnerError)
    return { title: t.signIn.notReplaced, text: error.message };
  if (error instanceof RangeError) {
    return { title: t.signIn.notAKey, text: t.signIn.notAKeyText };
  }
  return adviceOn(error);
}

function AskingWallet({ onCancel }: { readonly onCancel: () => void }) {
  return (
    <section className="choice-card" role="status">
      <h3>{t.signIn.confirm}</h3>
      <p>{t.signIn.confirmText}</p>
      <button type="button" className="button" onClick={onCancel}>
        {t.words.giveUp}
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
          {t.signIn.create}
        </button>
        <button
          type="button"
          className="button"
          aria-expanded={isImporting}
          onClick={() => setImporting(!isImporting)}
        >
          {t.signIn.import}
        </button>
      </div>
      {isImporting && (
        <form className="button-row" onSubmit={submit}>
          <label className="field grow">
            <span className="label">{t.account.privateKey}</span>
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
            {t.signIn.withKey}
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
          {t.signIn.useBurner(shortHex(address))}
        </button>
        <button type="button" className="button" onClick={forget}>
          {isAsked ? t.signIn.forgetForGood : t.signIn.forget}
        </button>
      </div>
      {isAsked && <p>{t.signIn.forgetText}</p>}
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
      {t.signIn.useWallet(name)}
    </button>
  );
}

function StayChoice() {
  const { sessions } = useTerminal();
  const [isStaying, setStaying] = useState(sessions.isStaying);
  if (!sessions.canStay) {
    return <p className="notice">{t.signIn.notSecure}</p>;
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
        {t.signIn.stay}
      </label>
      <p>{isStaying ? t.signIn.stayText : t.signIn.leaveText}</p>
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
