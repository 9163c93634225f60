/** The order form, the results of the last orders, and the account summary. */

import { type FormEvent, Suspense, useEffect, useRef, useState } from "react";
import { AccountSummary } from "../account/account-summary.js";
import { SortedLevels } from "../book/levels.js";
import { LastAnswer, UnsettledOrders } from "../receipts/last-answer.js";
import { useStore } from "../state/store.js";
import { useIsShown } from "../state/use-is-shown.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { later } from "../ui/later.js";
import { Segments } from "../ui/segments.js";
import type { MarketView } from "../venue/market-view.js";
import { type Advice, type AdviceAction, adviceOn } from "./advice.js";
import { AdviceBox } from "./advice-box.js";
import { AmountField } from "./amount-field.js";
import { ExitFields } from "./exit-fields.js";
import { MoreOptions } from "./more-options.js";
import { FlagFields, LeverageField } from "./order-fields.js";
import { changeForm, type OrderForm, orderForm } from "./order-form-state.js";
import { needsConfirmation } from "./order-settings.js";
import { blockedText, canHaveExits, type FormTerms } from "./order-terms.js";
import { OrderNotes, PreviewFacts } from "./preview-facts.js";
import { PriceField } from "./price-field.js";
import { estimate, useEstimate } from "./use-preview.js";
import "./order-panel.css";

/** Not needed for the first paint. */
const OrderResults = later(() => import("../receipts/order-results.js"));
const ConfirmOrder = later(() => import("./confirm-order.js"));

export function OrderPanel() {
  const { marketFeed } = useTerminal();
  const view = useStore(marketFeed.current);
  return (
    <section className="panel trade" aria-label={t.form.title}>
      <div className="panel-body trade-body">
        {view !== undefined && <OrderFormView key={view.market.symbol} view={view} />}
        <div className="results">
          <UnsettledOrders />
          <Suspense>
            <OrderResults />
          </Suspense>
        </div>
        <AccountSummary />
      </div>
    </section>
  );
}

const SIDES = ["long", "short"] as const;

const TYPES = ["market", "limit", "stop"] as const;

function OrderFormView({ view }: { readonly view: MarketView }) {
  const terminal = useTerminal();
  const form = useStore(orderForm);
  const estimated = useEstimate(view, form);
  const isIn = useStore(terminal.sessions.state, ({ status }) => status === "in");
  const sending = useSending(terminal, view);
  const { advice, act } = sending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isIn) sending.begin();
    else terminal.dialog.set("sign-in");
  };
  const { problems } = estimated.read;
  return (
    <form className="order-form" onSubmit={submit} noValidate aria-label={t.form.label}>
      <Segments
        legend={t.words.side}
        name="side"
        className="sides"
        options={SIDES}
        labels={t.words.sides}
        selected={form.side}
        onSelect={(side) => changeForm({ side })}
        optionClass={(side) => `is-${side}`}
      />
      <Segments
        legend={t.form.typesLabel}
        name="type"
        options={TYPES}
        labels={t.words.types}
        selected={form.type}
        onSelect={(type) => changeForm({ type })}
      />
      {form.type !== "market" && (
        <PriceField
          view={view}
          form={form}
          problem={problems.price}
          isWrong={advice?.field === "price"}
        />
      )}
      <AmountField
        view={view}
        form={form}
        problem={problems.amount}
        isWrong={advice?.field === "margin" || advice?.field === "size"}
      />
      <LeverageField view={view} form={form} problem={problems.leverage} />
      <FlagFields form={form} />
      {form.hasExits && canHaveExits(form) && (
        <ExitFields view={view} form={form} estimate={estimated} />
      )}
      <MoreOptions view={view} form={form} problems={problems} />
      <PreviewFacts view={view} form={form} estimate={estimated} />
      <div className="submit">
        <AdviceBox advice={advice} onAct={act} />
        <LastAnswer />
        <SubmitButton
          view={view}
          form={form}
          isIn={isIn}
          isSending={sending.isSending}
          missing={estimated.read.missing}
        />
      </div>
      <OrderNotes view={view} form={form} estimate={estimated} />
      {sending.asked !== undefined && (
        <Suspense>
          <ConfirmOrder
            view={view}
            form={sending.asked}
            onConfirm={sending.confirm}
            onClose={sending.dismiss}
          />
        </Suspense>
      )}
    </form>
  );
}

/** A key that bounces, or a button pressed twice, sends one order: the same form waits this long. */
const AGAIN_AFTER_MS = 500;

function useSending(terminal: Terminal, view: MarketView) {
  const [isSending, setSending] = useState(false);
  const [refused, setRefused] = useState<Refused>();
  const available = useStore(terminal.account.account, (account) => account?.available);
  const cause = causeOf(useStore(orderForm), view);
  const advice =
    refused?.of === cause &&
    (refused.advice.endsWith !== "money" || refused.available === available)
      ? refused.advice
      : undefined;
  useEffect(() => {
    if (refused?.advice.endsWith !== "time") return;
    const timer = setTimeout(() => setRefused(undefined), PASSED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [refused]);
  const [asked, setAsked] = useState<OrderForm>();
  const [levels] = useState(() => new SortedLevels());
  const isShown = useIsShown();
  const guard = useRef({ isSending: false, sent: "", sentAt: 0 });
  const showFailure = (error: unknown) => {
    // Another market has another form.
    if (!isShown.current) {
      terminal.report(error);
      return;
    }
    setRefused({
      advice: adviceOn(error),
      of: causeOf(orderForm.get(), view),
      available: terminal.account.account.get()?.available,
    });
    terminal.noteEndOfSession(error);
  };
  const send = async (terms: FormTerms) => {
    const { session } = terminal.sessions;
    if (session === undefined || guard.current.isSending) return;
    guard.current.isSending = true;
    setSending(true);
    setRefused(undefined);
    try {
      await terminal.orders.place(session, terms.order);
      // A share of what is left now would be another order.
      changeForm({ share: 0 });
      guard.current.sent = JSON.stringify(orderForm.get());
      guard.current.sentAt = performance.now();
    } catch (error) {
      showFailure(error);
    } finally {
      guard.current.isSending = false;
      setSending(false);
    }
  };
  const begin = () => {
    const form = orderForm.get();
    const isSame = guard.current.sent === JSON.stringify(form);
    if (isSame && performance.now() - guard.current.sentAt < AGAIN_AFTER_MS) return;
    const estimated = estimate(terminal, view, form, levels);
    const { terms } = estimated.read;
    if (terms === undefined) return;
    if (needsConfirmation(estimated.valueMicros / 1e6)) setAsked(form);
    else void send(terms);
  };
  const act = (action: AdviceAction) => {
    setRefused(undefined);
    if (action.kind === "change") changeForm(action.change);
    else if (action.kind === "retry") begin();
    else actElsewhere(terminal, action.kind);
  };
  const confirm = () => {
    setAsked(undefined);
    if (asked === undefined) return;
    // Its prices are those of this press, as the question showed them.
    const { terms } = estimate(terminal, view, asked, levels).read;
    if (terms !== undefined) void send(terms);
  };
  return { isSending, advice, asked, begin, act, confirm, dismiss: () => setAsked(undefined) };
}

interface Refused {
  readonly advice: Advice;
  readonly of: string;
  /** The free money then. */
  readonly available: number | undefined;
}

/** What a refusal is about: it is gone when the form or the market's status changes. */
function causeOf({ share, amount, ...form }: OrderForm, { market }: MarketView): string {
  // An amount that follows a share changes without the user.
  return JSON.stringify([form, share, share > 0 ? "" : amount, market.status]);
}

/** A refusal for what passes by itself is gone after this time: the next press shows whether it has. */
const PASSED_AFTER_MS = 10_000;

function actElsewhere(terminal: Terminal, kind: "sign-in" | "deposit" | "cancel-all"): void {
  if (kind === "cancel-all") void terminal.cancelAll();
  else terminal.dialog.set(kind);
}

interface SubmitProps {
  readonly view: MarketView;
  readonly form: OrderForm;
  readonly isIn: boolean;
  readonly isSending: boolean;
  readonly missing: string | undefined;
}

function SubmitButton({ view, form, isIn, isSending, missing }: SubmitProps) {
  const terminal = useTerminal();
  const line = useStore(terminal.line.state);
  const isRestoring = useStore(terminal.sessions.state, ({ status }) => status === "restoring");
  if (!isIn) {
    return (
      <button type="submit" className="button primary wide" disabled={isRestoring}>
        {isRestoring ? t.words.signingIn : t.form.signInToTrade}
      </button>
    );
  }
  const why = blockedText(line, missing);
  return (
    <button
      type="submit"
      className={`button wide ${form.side === "long" ? "buy" : "sell"}`}
      disabled={isSending || why !== undefined}
    >
      {isSending ? t.words.sending : (why ?? `${t.words.sides[form.side]} ${view.market.base}`)}
    </button>
  );
}
