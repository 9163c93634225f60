/** Price and size of an open order while they are amended in their row. */

import type { Order } from "@perpgate/protocol";
import type { OrderAmendment } from "@perpgate/sdk";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { amendmentOf, asksToAmend, canResize, priceOfOrder } from "../order/amendment.js";
import { ConfirmAmend } from "../order/confirm-amend.js";
import { isTooLarge, numberIn } from "../order/order-form-state.js";
import { stepProblem } from "../order/typed-steps.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { closedTextOf, type MarketView } from "../venue/market-view.js";
import { ActionButton } from "./action-button.js";

/**
 * The fields of an order that were edited, as typed. The others follow the order, which may be amended
 * elsewhere meanwhile.
 */
export interface Draft {
  readonly orderId: string;
  readonly price?: string | undefined;
  readonly size?: string | undefined;
}

type FieldName = "price" | "size";

export type OnDraft = (draft: Draft | undefined) => void;

interface DraftProps {
  readonly order: Order;
  readonly draft: Draft;
  readonly onDraft: OnDraft;
}

export function DraftCell({ order, draft, name, onDraft }: DraftProps & { name: FieldName }) {
  const terminal = useTerminal();
  const input = useRef<HTMLInputElement>(null);
  const view = terminal.marketFeed.view(order.symbol);
  const known = knownText(order, name, view);
  const problem = problemOf(order, draft, name, view);
  useEffect(() => {
    if (name === "price") input.current?.focus();
  }, [name]);
  const handleKey = (event: KeyboardEvent) => {
    if (event.key === "Escape") onDraft(undefined);
  };
  const edit = (text: string) => onDraft({ ...draft, [name]: text === known ? undefined : text });
  return (
    <input
      ref={input}
      form={formOf(order)}
      className="cell"
      inputMode="decimal"
      aria-label={
        name === "price" ? t.orders.newPrice(order.orderId) : t.orders.newSize(order.orderId)
      }
      aria-invalid={problem !== undefined}
      title={problem}
      value={draft[name] ?? known}
      onChange={(event) => edit(event.target.value)}
      onKeyDown={handleKey}
    />
  );
}

export function DraftActions({ order, draft, onDraft }: DraftProps) {
  const terminal = useTerminal();
  const { orderId } = order;
  const view = terminal.marketFeed.view(order.symbol);
  const [asked, setAsked] = useState<OrderAmendment>();
  const save = async () => {
    if (!isValid(order, draft, view)) return;
    const amendment = amendmentIn(order, draft);
    const position = terminal.account.positions.get()?.get(order.symbol);
    if (amendment === undefined) onDraft(undefined);
    else if (asksToAmend(order, amendment, position)) setAsked(amendment);
    else await send(terminal, amendment, onDraft);
  };
  const answer = (isConfirmed: boolean) => {
    setAsked(undefined);
    if (isConfirmed && asked !== undefined) void send(terminal, asked, onDraft);
  };
  return (
    <form id={formOf(order)} className="row" onSubmit={(event) => event.preventDefault()}>
      {isValid(order, draft, view) ? (
        <ActionButton
          isSubmit
          why={closedTextOf(view)}
          label={t.orders.saveOne(orderId)}
          act={save}
        >
          {t.words.save}
        </ActionButton>
      ) : (
        <button
          type="submit"
          className="button small"
          disabled
          aria-label={t.orders.saveOne(orderId)}
        >
          {t.words.save}
        </button>
      )}
      <button type="button" className="button small" onClick={() => onDraft(undefined)}>
        {t.orders.discard}
      </button>
      {asked !== undefined && view !== undefined && (
        <ConfirmAmend view={view} order={order} amendment={asked} onAnswer={answer} />
      )}
    </form>
  );
}

function knownText(order: Order, name: FieldName, view: MarketView | undefined): string {
  if (name === "size") return order.size.toFixed(view?.sizeDigits ?? 4);
  return priceOfOrder(order)?.toFixed(view?.priceDigits ?? 2) ?? "";
}

/** Joins the fields in the row's cells with the button that Enter presses. */
function formOf({ orderId }: Order): string {
  return `amend-${orderId}`;
}

/** An order that the venue refuses to amend keeps its draft. */
async function send(
  terminal: Terminal,
  amendment: OrderAmendment,
  onDraft: OnDraft,
): Promise<void> {
  const outcome = await terminal.attempt((session) => terminal.orders.amend(session, amendment));
  if (outcome !== "failed") onDraft(undefined);
}

export function amendmentIn(order: Order, { price, size }: Draft): OrderAmendment | undefined {
  return amendmentOf(order, {
    price: price === undefined ? undefined : numberIn(price),
    size: size === undefined ? undefined : numberIn(size),
  });
}

function isValid(order: Order, draft: Draft, view: MarketView | undefined): boolean {
  const names = canResize(order) ? (["price", "size"] as const) : (["price"] as const);
  return names.every((name) => problemOf(order, draft, name, view) === undefined);
}

function problemOf(
  order: Order,
  draft: Draft,
  name: FieldName,
  view: MarketView | undefined,
): string | undefined {
  const text = draft[name];
  if (text === undefined) return undefined;
  if (isTooLarge(text)) return t.problems.tooLarge;
  const value = numberIn(text);
  if (value === undefined || value <= 0) return t.problems.positive;
  // The venue would cancel the rest.
  if (name === "size" && value <= order.filledSize) return t.orders.moreThanFilled;
  return stepProblem(text, name === "price" ? view?.units.tick : view?.units.lot);
}
