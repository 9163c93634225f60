/** Several limit orders between two prices: what each will be, and what they cost together. */

import { fromMicros, fromSteps, toSteps } from "@perpgate/protocol/core";
import type { Session } from "@perpgate/sdk";
import { type FormEvent, useState } from "react";
import { useRefresh } from "../account/live-pnl.js";
import { SendButton, useSend } from "../account/send-button.js";
import {
  formatAvailable,
  formatDollars,
  formatFee,
  formatFixed,
  NO_VALUE,
} from "../format/numbers.js";
import { liquidationTicks } from "../maths/position-maths.js";
import { useStore } from "../state/store.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { countOf, t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";
import { Fact } from "../ui/fact.js";
import { NumberField } from "../ui/number-field.js";
import { Segments } from "../ui/segments.js";
import type { MarketView } from "../venue/market-view.js";
import { holdingOf, markOf } from "./order-context.js";
import { type AmountUnit, orderForm } from "./order-form-state.js";
import { barredText, directionOf } from "./order-terms.js";
import { refusalsIn } from "./outcome.js";
import { readScale, type ScaleContext, type ScaleForm, type ScalePlan } from "./scale-orders.js";

const SIDES = ["long", "short"] as const;
const SKEWS = ["even", "rising", "falling"] as const;

export default function ScaleDialog() {
  const terminal = useTerminal();
  const view = useStore(terminal.marketFeed.current);
  const close = () => terminal.dialog.set("none");
  return (
    <Dialog title={t.scale.title} onClose={close}>
      {/* Prices of one market mean nothing in another. */}
      {view !== undefined && <Scale key={view.market.symbol} view={view} onDone={close} />}
    </Dialog>
  );
}

function Scale({ view, onDone }: { readonly view: MarketView; readonly onDone: () => void }) {
  const terminal = useTerminal();
  const [form, setForm] = useState(startForm);
  const change = (part: Partial<ScaleForm>) => setForm((known) => ({ ...known, ...part }));
  const available = useStore(terminal.account.account, (account) => account?.available);
  useStore(terminal.account.positions);
  useRefresh();
  const { isSending, advice, send } = useSend(onDone);
  const context = contextOf(terminal, view, form);
  const { problems, plan } =
    context === undefined ? { problems: {}, plan: undefined } : readScale(view, form, context);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (plan !== undefined) void send((session) => place(terminal, session, view, plan));
  };
  const { base, quote } = view.market;
  return (
    <form className="dialog-body" onSubmit={submit} noValidate aria-label={t.scale.title}>
      <Segments
        legend={t.words.side}
        name="scale-side"
        options={SIDES}
        labels={t.words.sides}
        selected={form.side}
        onSelect={(side) => change({ side })}
        optionClass={(side) => `is-${side}`}
      />
      <div className="pair">
        <NumberField
          label={t.scale.first}
          value={form.from}
          unit={quote}
          problem={problems.from}
          onChange={(from) => change({ from })}
        />
        <NumberField
          label={t.scale.last}
          value={form.to}
          unit={quote}
          problem={problems.to}
          onChange={(to) => change({ to })}
        />
        <NumberField
          label={t.scale.orders}
          value={form.count}
          problem={problems.count}
          onChange={(count) => change({ count })}
        />
        <NumberField
          label={t.form.leverageTimes}
          value={form.leverage}
          problem={problems.leverage}
          onChange={(leverage) => change({ leverage })}
        />
      </div>
      <NumberField
        label={t.scale.together}
        aside={
          available !== undefined && (
            <span>{`${t.words.available} ${formatAvailable(available)}`}</span>
          )
        }
        value={form.amount}
        problem={problems.amount}
        onChange={(amount) => change({ amount })}
      >
        <select
          className="inside"
          aria-label={t.scale.togetherIn}
          value={form.unit}
          onChange={({ target }) => change({ unit: unitIn(target.value), amount: "" })}
        >
          <option value="margin">{t.words.units.margin(quote)}</option>
          <option value="value">{t.words.units.value(quote)}</option>
          <option value="size">{base}</option>
        </select>
      </NumberField>
      <Segments
        legend={t.scale.skewsLabel}
        name="scale-skew"
        className="compact"
        options={SKEWS}
        labels={t.scale.skews}
        selected={form.skew}
        onSelect={(skew) => change({ skew })}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={form.reduceOnly}
          onChange={({ target }) => change({ reduceOnly: target.checked })}
        />
        {t.words.reduceOnly}
      </label>
      <Preview view={view} plan={plan} available={available} />
      <p className="notice">{t.scale.postOnly}</p>
      <SendButton
        isReady={plan !== undefined}
        why={barredText(view, heldIn(terminal, view), directionOf(form))}
        isSending={isSending}
        advice={advice}
      >
        {plan === undefined
          ? t.scale.place
          : t.scale.placeSome(countOf(plan.rows.length, t.counts.orders))}
      </SendButton>
    </form>
  );
}

interface PreviewProps {
  readonly view: MarketView;
  readonly plan: ScalePlan | undefined;
  readonly available: number | undefined;
}

function Preview({ view, plan, available }: PreviewProps) {
  if (plan === undefined) return null;
  const { units, market, priceDigits, sizeDigits } = view;
  const price = (ticks: number) => formatFixed(ticks * units.tick.size, priceDigits);
  const size = (lots: number) => formatFixed(fromSteps(lots, units.lot), sizeDigits);
  const liquidation = liquidationTicks(units, plan.after);
  const cost = fromMicros(plan.walletMicros);
  return (
    <>
      <ol className="scale-rows" aria-label={t.scale.orders}>
        {plan.rows.map(({ ticks, lots }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two orders may have one price
          <li key={at}>
            <span>{price(ticks)}</span> <span>{size(lots)}</span>
          </li>
        ))}
      </ol>
      <dl className="facts" aria-label={t.scale.estimate}>
        <Fact label={t.words.size}>
          {size(plan.lots)} {market.base}
        </Fact>
        <Fact label={t.words.average}>{price(plan.averageTicks)}</Fact>
        <Fact label={t.scale.fees}>{formatFee(fromMicros(plan.feeMicros))}</Fact>
        <Fact label={t.scale.cost}>{formatDollars(cost)}</Fact>
        <Fact label={t.scale.liquidation} className="warn-text">
          {liquidation === null ? NO_VALUE : price(liquidation)}
        </Fact>
      </dl>
      {available !== undefined && cost > available && (
        <p className="notice warn">{t.scale.tooMuch}</p>
      )}
    </>
  );
}

/** With what the order form has. */
function startForm(): ScaleForm {
  const { side, unit, leverage, price } = orderForm.get();
  const rest = { amount: "", to: "", count: "5", skew: "even", reduceOnly: false } as const;
  return { side, unit, leverage, from: price, ...rest };
}

function unitIn(value: string): AmountUnit {
  return value === "size" || value === "value" ? value : "margin";
}

function contextOf(
  { account, book, marketFeed }: Terminal,
  view: MarketView,
  { side }: ScaleForm,
): ScaleContext | undefined {
  const markTicks = markOf(marketFeed, view);
  const state = book.state.get();
  if (markTicks === undefined || state?.symbol !== view.market.symbol) return undefined;
  const best = (side === "long" ? state.book.bestAsk : state.book.bestBid)?.[0];
  return {
    markTicks,
    bestOther: best === undefined ? undefined : toSteps(best, view.units.tick),
    held: heldIn({ account }, view),
  };
}

function heldIn({ account }: Pick<Terminal, "account">, view: MarketView) {
  return holdingOf(account.positions.get()?.get(view.market.symbol), view);
}

/** @throws PerpgateError if none was placed: a form that stays open would place the others again. */
async function place(
  { orders, toasts }: Terminal,
  session: Session,
  { market }: MarketView,
  { operations }: ScalePlan,
): Promise<void> {
  const name = { subject: `scale ${market.symbol}`, title: t.scale.subject(market.symbol) };
  const { results } = await orders.batch(session, operations, name);
  const refusals = refusalsIn(results);
  const [first] = refusals;
  const placed = results.length - refusals.length;
  if (first !== undefined && placed === 0) throw first;
  const title = t.scale.placed(placed, countOf(results.length, t.counts.orders));
  toasts.show(first === undefined ? "good" : "bad", title, first?.message);
}
