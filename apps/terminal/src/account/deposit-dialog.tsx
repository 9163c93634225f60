/**
 * Deposits, as this venue takes them: one click where its dev attestor credits any hash; where it
 * watches chains, the vault to send tokens to. Either way a transaction is registered by its hash.
 */

import { useState } from "react";
import { type Advice, adviceOn } from "../order/advice.js";
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
        {bridge === undefined && <p className="notice">Asking the venue where deposits go…</p>}
        {bridge?.attestor === "dev" && <TestFunds isBusy={isBusy} onRegister={register} />}
        {bridge !== undefined && (
          <TransferForm bridge={bridge} isBusy={isBusy} onRegister={register} />
        )}
        {advice !== undefined && (
          <div className="notice bad" role="alert">
            <strong>{advice.title}.</strong> {advice.text}
          </div>
        )}
      </div>
    </Dialog>
  );
}

interface TestFundsProps {
  readonly isBusy: boolean;
  readonly onRegister: (transfer: Transfer) => void;
}

/** Only where the dev attestor runs: elsewhere a random hash is a deposit that never comes. */
function TestFunds({ isBusy, onRegister }: TestFundsProps) {
  return (
    <section className="choice-card">
      <h3>
        Test funds <span className="chip warn">Testnet only</span>
      </h3>
      <p>
        The testnet's dev attestor credits 10,000 for any new transaction hash and checks no chain.
        This sends a random one.
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
