/** Take-profit and stop-loss of a whole position: at either price all of it is closed. */

import type { Trigger } from "@perpgate/protocol";
import { protectionOf } from "@perpgate/sdk";
import { type FormEvent, useState } from "react";
import { formatSigned, NO_VALUE, toneOf } from "../format/numbers.js";
import { isBeyondLiquidation } from "../maths/position-maths.js";
import { exitOrder } from "../order/closing.js";
import { markOf } from "../order/order-context.js";
import { numberIn } from "../order/order-form-state.js";
import { requireAll } from "../order/outcome.js";
import { sideProblem, stepProblem } from "../order/typed-steps.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Fact } from "../ui/fact.js";
import { NumberField } from "../ui/number-field.js";
import { closedText } from "../venue/market-view.js";
import { useRefresh } from "./live-pnl.js";
import { type PositionFormProps, SendButton, useSend } from "./send-button.js";

export function ProtectForm({ view, position, onDone }: PositionFormProps) {
  const terminal = useTerminal();
  const { account, marketFeed } = terminal;
  const orders = useStore(account.orders);
  const { units, market, priceDigits } = view;
  const known = (trigger: Trigger) =>
    exitOrder(orders, position, trigger)?.price?.toFixed(priceDigits) ?? "";
  const takeProfit = useExit(known("takeProfit"));
  const stopLoss = useExit(known("stop"));
  const { isSending, advice, send } = useSend(onDone);
  useRefresh();
  const markTicks = markOf(marketFeed, view);
  const gainUp = position.size > 0;
  const problemOf = (text: string, isAbove: boolean) =>
    stepProblem(text, units.tick) ?? sideProblem(text, units.tick, markTicks, isAbove, "mark");
  const profitProblem = problemOf(takeProfit.text, gainUp);
  const lossProblem = problemOf(stopLoss.text, !gainUp);
  const isTooFar = isBeyondLiquidation(
    numberIn(stopLoss.text),
    position.liquidationPrice,
    gainUp ? 1 : -1,
  );
  const changes = { takeProfit: takeProfit.change, stopLoss: stopLoss.change };
  const hasChange = changes.takeProfit !== undefined || changes.stopLoss !== undefined;
  const isReady = hasChange && profitProblem === undefined && lossProblem === undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    const { symbol, side } = position;
    const open = [...(orders?.values() ?? [])];
    const operations = protectionOf({ symbol, side, ...changes }, open);
    const name = { subject: `protect ${symbol}`, title: t.positions.protectSubject(symbol) };
    void send(async (session) =>
      requireAll(await terminal.orders.batch(session, operations, name)),
    );
  };
  const field = { placeholder: t.words.none, unit: market.quote } as const;
  return (
    <form className="stack" onSubmit={submit} noValidate aria-label={t.positions.protectForm}>
      <NumberField
        {...field}
        label={t.words.takeProfit}
        value={takeProfit.text}
        problem={profitProblem}
        onChange={takeProfit.onChange}
      />
      <NumberField
        {...field}
        label={t.words.stopLoss}
        value={stopLoss.text}
        problem={lossProblem}
        onChange={stopLoss.onChange}
      />
      <dl className="facts">
        <ExpectedPnl label={t.positions.pnlAtProfit} text={takeProfit.text} position={position} />
        <ExpectedPnl
          label={t.positions.pnlAtLoss}
          text={isTooFar ? "" : stopLoss.text}
          position={position}
        />
      </dl>
      {isTooFar && <p className="notice warn">{t.notes.beyondLiquidation}</p>}
      <p className="notice">{t.positions.protectText}</p>
      <SendButton isReady={isReady} why={closedText(market)} isSending={isSending} advice={advice}>
        {t.words.save}
      </SendButton>
    </form>
  );
}

/** A field that was not edited follows `known`, and changes nothing: the order may be set elsewhere. */
function useExit(known: string) {
  const [edited, setEdited] = useState<string>();
  const text = edited ?? known;
  return {
    text,
    change: changeOf(text, known),
    onChange: (next: string) => setEdited(next === known ? undefined : next),
  };
}

/** Undefined leaves it, null removes it. */
function changeOf(text: string, known: string): number | null | undefined {
  if (text.trim() === known) return undefined;
  return text.trim() === "" ? null : numberIn(text);
}

interface ExpectedProps {
  readonly label: string;
  readonly text: string;
  readonly position: PositionFormProps["position"];
}

function ExpectedPnl({ label, text, position: { size, avgEntry } }: ExpectedProps) {
  const price = numberIn(text);
  const pnl = price === undefined ? undefined : size * (price - avgEntry);
  return (
    <Fact label={label} className={toneOf(pnl, 2)}>
      {pnl === undefined ? NO_VALUE : formatSigned(pnl, 2)}
    </Fact>
  );
}
