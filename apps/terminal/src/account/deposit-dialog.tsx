/**
 * Deposits: one click on the testnet, whose dev attestor credits any hash, or a real transaction by
 * its hash.
 */

import type { Chain, Token } from "@perpgate/protocol/deposit";
import { type FormEvent, useState } from "react";
import { type Advice, adviceOn } from "../order/advice.js";
import { useTerminal } from "../terminal.js";
import { Dialog } from "../ui/dialog.js";

const CHAINS: readonly Chain[] = ["ethereum", "arbitrum", "tron"];
const TOKENS: readonly Token[] = ["USDC", "USDT"];

export function DepositDialog() {
  const terminal = useTerminal();
  const [chain, setChain] = useState<Chain>("arbitrum");
  const [token, setToken] = useState<Token>("USDC");
  const [txHash, setTxHash] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [advice, setAdvice] = useState<Advice>();
  const close = () => terminal.dialog.set("none");
  const deposit = async (hash: string) => {
    const { session } = terminal.sessions;
    if (session === undefined) return;
    setBusy(true);
    setAdvice(undefined);
    try {
      const { depositId } = await session.deposit({ chain, token, txHash: hash });
      terminal.toasts.show("good", "Deposit registered", `Number ${depositId}. See Deposits.`);
      close();
    } catch (error) {
      setAdvice(adviceOn(error));
      terminal.noteEndOfSession(error);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void deposit(txHash.trim());
  };
  return (
    <Dialog title="Deposit" onClose={close}>
      <div className="dialog-body">
        <section className="choice-card">
          <h3>
            Test funds <span className="chip warn">Testnet only</span>
          </h3>
          <p>
            The testnet's dev attestor credits 10,000 for any new transaction hash and checks no
            chain. This sends a random one.
          </p>
          <button
            type="button"
            className="button primary"
            disabled={isBusy}
            onClick={() => void deposit(randomHash())}
          >
            Get 10,000 test dollars
          </button>
        </section>
        <form className="choice-card" onSubmit={submit}>
          <h3>A transfer to the vault</h3>
          <div className="pair">
            <Choice label="Chain" options={CHAINS} value={chain} onChange={setChain} />
            <Choice label="Token" options={TOKENS} value={token} onChange={setToken} />
          </div>
          <label className="field">
            <span className="label">Transaction hash</span>
            <span className="box">
              <input
                autoComplete="off"
                spellCheck={false}
                placeholder="0x…"
                value={txHash}
                onChange={(event) => setTxHash(event.target.value)}
              />
            </span>
          </label>
          <button type="submit" className="button" disabled={isBusy || txHash.trim() === ""}>
            Register the transfer
          </button>
        </form>
        {advice !== undefined && (
          <div className="notice bad" role="alert">
            <strong>{advice.title}.</strong> {advice.text}
          </div>
        )}
      </div>
    </Dialog>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly options: readonly T[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}

function Choice<T extends string>({ label, options, value, onChange }: ChoiceProps<T>) {
  return (
    <label className="field">
      <span className="label">{label}</span>
      <select
        className="choice tall"
        value={value}
        onChange={(event) => {
          const chosen = options.find((option) => option === event.target.value);
          if (chosen !== undefined) onChange(chosen);
        }}
      >
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

function randomHash(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
