/** The order form, the results of the last orders, and the account summary. */

import { type FormEvent, useState } from "react";
import { AccountSummary } from "../account/account-summary.js";
import { useStore } from "../state/store.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { Segments } from "../ui/segments.js";
import type { MarketView } from "../venue/market-view.js";
import { type Advice, type AdviceAction, adviceOn } from "./advice.js";
import { AdviceBox } from "./advice-box.js";
import { FlagFields, LeverageField, MarginField, PriceField } from "./order-fields.js";
import { changeForm, numberIn, type OrderForm, orderForm } from "./order-form-state.js";
import { OrderResults } from "./order-results.js";
import { PreviewFacts } from "./preview-facts.js";
import { priceIn } from "./use-preview.js";
import "./order-panel.css";

export function OrderPanel() {
  const { marketFeed } = useTerminal();
  const view = useStore(marketFeed.current);
  return (
    <section className="panel trade" aria-label="Trade">
      <div className="panel-body trade-body">
        {view !== undefined && <OrderFormView key={view.market.symbol} view={view} />}
        <OrderResults />
        <AccountSummary />
      </div>
    </section>
  );
}

const SIDES = [
  ["long", "Buy / Long"],
  ["short", "Sell / Short"],
] as const;

const TYPES = [
  ["market", "Market"],
  ["limit", "Limit"],
  ["stop", "Stop"],
] as const;

function OrderFormView({ view }: { readonly view: MarketView }) {
  const terminal = useTerminal();
  const form = useStore(orderForm);
  const isIn = useStore(terminal.sessions.state, ({ status }) => status === "in");
  const [isSending, setSending] = useState(false);
  const [advice, setAdvice] = useState<Advice>();
  const send = async () => {
    const { session } = terminal.sessions;
    if (session === undefined) return;
    setSending(true);
    setAdvice(undefined);
    try {
      await terminal.orders.place(session, orderOf(view, orderForm.get()));
    } catch (error) {
      setAdvice(adviceOn(error));
      terminal.noteEndOfSession(error);
    } finally {
      setSending(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isIn) void send();
    else terminal.dialog.set("sign-in");
  };
  const act = (action: AdviceAction) => {
    setAdvice(undefined);
    if (action.kind === "change") changeForm(action.change);
    else if (action.kind === "retry") void send();
    else actElsewhere(terminal, action.kind);
  };
  return (
    <form className="order-form" onSubmit={submit} noValidate aria-label="Order">
      <Segments
        legend="Side"
        name="side"
        className="sides"
        options={SIDES}
        selected={form.side}
        onSelect={(side) => changeForm({ side })}
        optionClass={(side) => `is-${side}`}
      />
      <Segments
        legend="Order type"
        name="type"
        options={TYPES}
        selected={form.type}
        onSelect={(type) => changeForm({ type })}
      />
      {form.type !== "market" && (
        <PriceField view={view} form={form} isWrong={advice?.field === "price"} />
      )}
      <MarginField view={view} form={form} isWrong={advice?.field === "margin"} />
      <LeverageField view={view} form={form} />
      <FlagFields form={form} />
      <PreviewFacts view={view} />
      <SubmitButton view={view} form={form} isIn={isIn} isSending={isSending} />
      <AdviceBox advice={advice} onAct={act} />
    </form>
  );
}

function actElsewhere(terminal: Terminal, kind: "sign-in" | "deposit" | "cancel-all"): void {
  if (kind === "cancel-all") void terminal.cancelAll();
  else terminal.dialog.set(kind);
}

function orderOf({ market }: MarketView, form: OrderForm) {
  const price = priceIn(form);
  return {
    symbol: market.symbol,
    side: form.side,
    type: form.type,
    margin: numberIn(form.margin) ?? 0,
    leverage: form.leverage,
    ...(price === undefined ? {} : { price }),
    reduceOnly: form.reduceOnly,
    postOnly: form.type === "limit" && form.postOnly,
  };
}

interface SubmitProps {
  readonly view: MarketView;
  readonly form: OrderForm;
  readonly isIn: boolean;
  readonly isSending: boolean;
}

function SubmitButton({ view, form, isIn, isSending }: SubmitProps) {
  const { connection } = useTerminal();
  const isLive = useStore(connection.state, (state) => state === "open");
  if (!isIn) {
    return (
      <button type="submit" className="button primary wide">
        Sign in to trade
      </button>
    );
  }
  // An order sent after a reconnection would meet another market than the one on the screen.
  const missing = isLive ? missingIn(form) : "Reconnecting…";
  const verb = form.side === "long" ? "Buy / Long" : "Sell / Short";
  return (
    <button
      type="submit"
      className={`button wide ${form.side === "long" ? "buy" : "sell"}`}
      disabled={isSending || missing !== undefined}
    >
      {isSending ? "Sending…" : (missing ?? `${verb} ${view.market.base}`)}
    </button>
  );
}

function missingIn(form: OrderForm): string | undefined {
  if (form.type !== "market" && priceIn(form) === undefined) {
    return form.type === "stop" ? "Enter a trigger price" : "Enter a price";
  }
  return (numberIn(form.margin) ?? 0) > 0 ? undefined : "Enter a margin";
}
