/** Asks before an order above the trader's own threshold is sent. */

import { fromMicros, fromSteps } from "@perpgate/protocol/core";
import type { NewOrder } from "@perpgate/sdk";
import { formatDollars, formatFixed, formatPercent, NO_VALUE } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Dialog } from "../ui/dialog.js";
import { Fact } from "../ui/fact.js";
import type { MarketView } from "../venue/market-view.js";
import type { OrderForm } from "./order-form-state.js";
import { orderNotes, slippageOf } from "./order-notes.js";
import { blockedText } from "./order-terms.js";
import { useEstimate } from "./use-preview.js";

interface Props {
  readonly view: MarketView;
  /** As it was submitted; its figures are those of the moment. */
  readonly form: OrderForm;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export default function ConfirmOrder({ view, form, onConfirm, onClose }: Props) {
  const estimate = useEstimate(view, form);
  const line = useStore(useTerminal().line.state);
  const { market, units, priceDigits, sizeDigits } = view;
  const { preview, context, read } = estimate;
  const order: Partial<NewOrder> = read.terms?.order ?? {};
  // What is sent, also where the book shows less of it.
  const size =
    order.size ?? (preview && fromSteps(preview.takingLots + preview.waitingLots, units.lot));
  const slippage = form.type === "market" ? slippageOf(preview, context) : undefined;
  const priceLabel = { market: "Worst price", limit: "Price", stop: "Trigger price" }[form.type];
  const liquidation = preview?.liquidationTicks ?? null;
  const verb = form.side === "long" ? "Buy" : "Sell";
  const why = blockedText(line, read.missing);
  return (
    <Dialog title="Confirm the order" onClose={onClose}>
      <div className="dialog-body">
        <p>
          {verb} {formatFixed(size, sizeDigits)} {market.base} ({form.type})
        </p>
        <dl className="facts">
          <Fact label="Order value">{formatDollars(estimate.valueMicros / 1e6)}</Fact>
          <Fact label={priceLabel}>{formatFixed(order.price, priceDigits)}</Fact>
          {slippage !== undefined && (
            <Fact label="Slippage from mark" className={slippage.isLarge ? "warn-text" : ""}>
              {formatPercent(slippage.share, 3)} · {formatDollars(slippage.dollars)}
            </Fact>
          )}
          <Fact label="Cost">
            {preview === undefined ? NO_VALUE : formatDollars(fromMicros(preview.walletMicros))}
          </Fact>
          {order.takeProfit !== undefined && (
            <Fact label="Take profit">{formatFixed(order.takeProfit.price, priceDigits)}</Fact>
          )}
          {order.stopLoss !== undefined && (
            <Fact label="Stop loss">{formatFixed(order.stopLoss.price, priceDigits)}</Fact>
          )}
          <Fact label="Liquidation price" className="warn-text">
            {liquidation === null
              ? NO_VALUE
              : formatFixed(fromSteps(liquidation, units.tick), priceDigits)}
          </Fact>
        </dl>
        {orderNotes(view, form, estimate)
          .filter(({ isWarning }) => isWarning)
          .map(({ text }) => (
            <p key={text} className="notice warn">
              {text}
            </p>
          ))}
        <div className="pair">
          <button type="button" className="button" onClick={onClose}>
            Back
          </button>
          <button
            type="button"
            className={`button ${form.side === "long" ? "buy" : "sell"}`}
            disabled={why !== undefined}
            onClick={onConfirm}
          >
            {why ?? `${verb} now`}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
