/** Registers a transfer by its hash; shows where to send it if the venue watches chains. */

import type { BridgeInfo, Chain, Token } from "@perpgate/protocol";
import { CHAINS, TOKENS } from "@perpgate/protocol/core";
import { type FormEvent, useState } from "react";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";

export interface Transfer {
  readonly chain: Chain;
  readonly token: Token;
  readonly txHash: string;
}

type WatchedChain = BridgeInfo["chains"][number];

interface TransferFormProps {
  readonly bridge: BridgeInfo;
  readonly isBusy: boolean;
  readonly onRegister: (transfer: Transfer) => void;
}

export function TransferForm({ bridge, isBusy, onRegister }: TransferFormProps) {
  const [wantedChain, setChain] = useState<Chain>();
  const [wantedToken, setToken] = useState<Token>();
  const [txHash, setTxHash] = useState("");
  const isDev = bridge.attestor === "dev";
  const chains = isDev ? CHAINS : bridge.chains.map(({ chain }) => chain);
  const chain = offeredOr(chains, wantedChain);
  const watched = bridge.chains.find((candidate) => candidate.chain === chain);
  const tokens = isDev ? TOKENS : (watched?.tokens.map(({ token }) => token) ?? []);
  const token = offeredOr(tokens, wantedToken);
  if (chain === undefined || token === undefined) {
    return <p className="notice">{t.deposit.notAccepted}</p>;
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onRegister({ chain, token, txHash: txHash.trim() });
  };
  return (
    <form className="choice-card" onSubmit={submit}>
      <h3>{t.deposit.transfer}</h3>
      <div className="pair">
        <Choice label={t.words.chain} options={chains} value={chain} onChange={setChain} />
        <Choice label={t.words.token} options={tokens} value={token} onChange={setToken} />
      </div>
      {watched !== undefined && <WhereToSend watched={watched} token={token} />}
      <label className="field">
        <span className="label">{t.deposit.hash}</span>
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
        {t.deposit.register}
      </button>
    </form>
  );
}

/** The wanted option if it is offered, otherwise the first. */
export function offeredOr<T>(offered: readonly T[], wanted: T | undefined): T | undefined {
  return offered.find((option) => option === wanted) ?? offered[0];
}

function WhereToSend({
  watched,
  token,
}: {
  readonly watched: WatchedChain;
  readonly token: Token;
}) {
  const { sessions } = useTerminal();
  const state = useStore(sessions.state);
  const { chain, vault, confirmations, tokens } = watched;
  const contract = tokens.find((candidate) => candidate.token === token)?.contract;
  return (
    <>
      <p>{t.deposit.howToSend(token, chain, confirmations)}</p>
      <dl className="addresses">
        <dt>{t.deposit.vault}</dt>
        <dd data-testid="vault">{vault}</dd>
        <dt>{t.deposit.contract(token)}</dt>
        <dd>{contract}</dd>
        {state.status === "in" && (
          <>
            <dt>{chain === "tron" ? t.deposit.sendFromKeyOf : t.deposit.sendFrom}</dt>
            <dd>{state.address}</dd>
          </>
        )}
      </dl>
      {state.status === "in" && state.kind === "burner" && (
        <p className="notice warn">{t.deposit.burnerText}</p>
      )}
    </>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly options: readonly T[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}

export function Choice<T extends string>({ label, options, value, onChange }: ChoiceProps<T>) {
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
