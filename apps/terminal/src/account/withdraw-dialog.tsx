/**
 * Withdrawals: an amount, paid by the vault to the account's own address. There is no field for another address, so
 * whoever uses a stolen session can pay its owner alone.
 */

import type { Chain, Token, Withdrawal } from "@perpgate/protocol";
import { CHAINS, fromMicros, TOKENS, toMicrosFloor } from "@perpgate/protocol/core";
import { type FormEvent, useEffect, useMemo, useState } from "react";
import { formatDollars } from "../format/numbers.js";
import {
  amountProblem,
  largestWithdrawal,
  type WithdrawalRules,
} from "../maths/withdrawal-terms.js";
import { numberIn } from "../order/order-form-state.js";
import { stepProblem } from "../order/typed-steps.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";
import { Fact } from "../ui/fact.js";
import { NumberField } from "../ui/number-field.js";
import { ONCE, Refresher } from "../venue/refresher.js";
import { ReservesLine } from "./reserves-line.js";
import { Dollars, SendButton, useSend } from "./send-button.js";
import { Choice, offeredOr } from "./transfer-form.js";
import { WithdrawalSteps } from "./withdrawal-steps.js";

const POLL_MS = 5_000;

export function WithdrawDialog() {
  const { bridge, dialog } = useTerminal();
  const rules = useStore(bridge.info, (info) => info?.withdrawals);
  const [sent, setSent] = useState<Withdrawal>();
  return (
    <Dialog title={t.words.withdraw} onClose={() => dialog.set("none")}>
      <div className="dialog-body">
        {rules === undefined && <p className="notice">{t.withdraw.loading}</p>}
        {rules === null && <p className="notice">{t.withdraw.notOffered}</p>}
        {rules && sent === undefined && <WithdrawForm rules={rules} onSent={setSent} />}
        {sent !== undefined && <Sent withdrawal={sent} />}
        <ReservesLine />
      </div>
    </Dialog>
  );
}

interface FormProps {
  readonly rules: WithdrawalRules;
  readonly onSent: (withdrawal: Withdrawal) => void;
}

export function WithdrawForm({ rules, onSent }: FormProps) {
  const { account, dialog, orders, sessions } = useTerminal();
  const known = useStore(account.account, (value) => value?.available);
  const available = known ?? 0;
  const state = useStore(sessions.state);
  const [wantedChain, setChain] = useState<Chain>();
  const [wantedToken, setToken] = useState<Token>();
  const [text, setText] = useState("");
  const { isSending, advice, send } = useSend((outcome) => {
    // The list of what has no answer is behind the dialog.
    if (outcome === "unknown") dialog.set("none");
  });
  const chains = CHAINS.filter((name) => rules.chains.some((each) => each.chain === name));
  const chain = offeredOr(chains, wantedChain);
  const paid = rules.chains.find((each) => each.chain === chain)?.tokens ?? [];
  const tokens = TOKENS.filter((name) => paid.includes(name));
  const token = offeredOr(tokens, wantedToken);
  if (chain === undefined || token === undefined || state.status !== "in") {
    return <p className="notice">{t.withdraw.notNow}</p>;
  }
  const most = largestWithdrawal(rules, available);
  const amount = numberIn(text) ?? 0;
  const problem =
    stepProblem(text) ??
    (amount > 0 && known !== undefined ? amountProblem(rules, known, amount) : undefined);
  const isReady = known !== undefined && amount > 0 && problem === undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    void send(async (session) => {
      const made = await orders.withdraw(session, { chain, token, amount });
      account.refreshSoon();
      onSent(made);
    }).then(() => {
      if (sessions.session === undefined) dialog.set("none");
    });
  };
  const left = fromMicros(
    toMicrosFloor(available) - toMicrosFloor(amount) - toMicrosFloor(rules.fee),
  );
  return (
    <form className="stack" onSubmit={submit} noValidate aria-label={t.words.withdraw}>
      <div className="pair">
        <Choice label={t.words.chain} options={chains} value={chain} onChange={setChain} />
        <Choice label={t.words.token} options={tokens} value={token} onChange={setToken} />
      </div>
      <NumberField
        label={t.words.amount}
        aside={
          <span>
            {t.words.available} <Dollars value={known} />
          </span>
        }
        value={text}
        placeholder="0.00"
        unit={token}
        problem={problem}
        onChange={setText}
      >
        <button
          type="button"
          className="inside"
          disabled={known === undefined}
          onClick={() => setText(most.toFixed(2))}
        >
          {t.words.max}
        </button>
      </NumberField>
      <dl className="facts">
        <Fact label={t.words.fee}>{formatDollars(rules.fee)}</Fact>
        <Fact label={t.withdraw.vaultPays}>{isReady ? formatDollars(amount) : "…"}</Fact>
        <Fact label={t.withdraw.availableAfter}>{isReady ? formatDollars(left) : "…"}</Fact>
      </dl>
      <p>
        {t.withdraw.paidTo}{" "}
        <span className="secret" data-testid="payee">
          {state.address}
        </span>
      </p>
      {state.kind === "burner" && <p className="notice warn">{t.withdraw.burnerText}</p>}
      <SendButton isReady={isReady} isSending={isSending} advice={advice}>
        {isReady ? t.withdraw.withdrawAmount(formatDollars(amount)) : t.words.withdraw}
      </SendButton>
    </form>
  );
}

/** Follows it while the dialog is open; afterwards it is in the list. */
function Sent({ withdrawal }: { readonly withdrawal: Withdrawal }) {
  const { sessions } = useTerminal();
  const { withdrawalId } = withdrawal;
  const [now, setNow] = useState(withdrawal);
  const refresher = useMemo(
    () =>
      new Refresher(async () => {
        const { session } = sessions;
        if (session !== undefined) setNow(await session.withdrawalById(withdrawalId, ONCE));
      }),
    [sessions, withdrawalId],
  );
  const isOver = now.endedAt !== null;
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => refresher.soon(), POLL_MS);
    return () => clearInterval(timer);
  }, [refresher, isOver]);
  useEffect(() => () => refresher.close(), [refresher]);
  return (
    <section className="stack" aria-label={t.withdraw.sentLabel}>
      <p>{t.withdraw.sent(now.withdrawalId, formatDollars(now.amount), now.token, now.chain)}</p>
      <WithdrawalSteps withdrawal={now} />
    </section>
  );
}
