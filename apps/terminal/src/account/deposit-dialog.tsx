/**
 * Deposits: one click for test funds if the venue has the dev attestor, the vault's address if it
 * watches chains. A transaction is registered by its hash.
 */

import { useState } from "react";
import { type Advice, adviceOn } from "../order/advice.js";
import { AdviceBox } from "../order/advice-box.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
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
      terminal.toasts.show("good", "Deposit registered", `Number ${depositId}. See Deposits.`);
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
    <Dialog title="Deposit" onClose={close}>
      <div className="dialog-body">
        {bridge === undefined && <p className="notice">Loading deposit addresses…</p>}
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
        Test funds <span className="chip warn">Testnet only</span>
      </h3>
      <p>
        The testnet credits 10,000 test dollars for any new transaction hash. No chain is checked;
        this button sends a random hash.
      </p>
      <button
        type="button"
        className="button primary"
        disabled={isBusy}
        onClick={() => onRegister({ chain: "arbitrum", token: "USDC", txHash: randomHash() })}
      >
        Get 10,000 test dollars
      </button>
    </section>
  );
}

function randomHash(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
