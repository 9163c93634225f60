/**
 * Deposits: one click for test funds if the venue has the dev attestor, the vault's address if it
 * watches chains. A transaction is registered by its hash.
 */

import { useState } from "react";
import { type Advice, adviceOn } from "../order/advice.js";
import { AdviceBox } from "../order/advice-box.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";
import { type Transfer, TransferForm } from "./transfer-form.js";

export function DepositDialog() {
  const terminal = useTerminal();
  const bridge = useStore(terminal.bridge.info);
  const [isBusy, setBusy] = useState(false);
  const [advice, setAdvice] = useState<Advice>();
  const close = () => terminal.dialog.set("none");
  const deposit = async (transfer: Transfer) => {
    const { session } = terminal.sessions;
    if (session === undefined) return;
    setBusy(true);
    setAdvice(undefined);
    try {
      const { depositId } = await session.deposit(transfer);
      terminal.toasts.show("good", t.deposit.registered, t.deposit.registeredText(depositId));
      close();
    } catch (error) {
      setAdvice(adviceOn(error));
      terminal.noteEndOfSession(error);
    } finally {
      setBusy(false);
    }
  };
  const register = (transfer: Transfer) => void deposit(transfer);
  return (
    <Dialog title={t.words.deposit} onClose={close}>
      <div className="dialog-body">
        {bridge === undefined && <p className="notice">{t.deposit.loading}</p>}
        {bridge?.attestor === "dev" && <TestFunds isBusy={isBusy} onRegister={register} />}
        {bridge !== undefined && (
          <TransferForm bridge={bridge} isBusy={isBusy} onRegister={register} />
        )}
        <AdviceBox advice={advice} />
      </div>
    </Dialog>
  );
}

interface TestFundsProps {
  readonly isBusy: boolean;
  readonly onRegister: (transfer: Transfer) => void;
}

/** For the dev attestor only: elsewhere a random hash would never be credited. */
function TestFunds({ isBusy, onRegister }: TestFundsProps) {
  return (
    <section className="choice-card">
      <h3>
        {t.deposit.testFunds} <span className="chip warn">{t.words.testnetOnly}</span>
      </h3>
      <p>{t.deposit.testFundsText}</p>
      <button
        type="button"
        className="button primary"
        disabled={isBusy}
        onClick={() => onRegister({ chain: "arbitrum", token: "USDC", txHash: randomHash() })}
      >
        {t.deposit.getTestFunds}
      </button>
    </section>
  );
}

function randomHash(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
