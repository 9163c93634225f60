/** Asks before an order above the trader's own threshold is sent. */

import { fromMicros, fromSteps } from "@perpgate/protocol/core";
import type { NewOrder } from "@perpgate/sdk";
import { formatDollars, formatFixed, formatPercent, NO_VALUE } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
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
  const priceLabel = {
    market: t.form.worstPrice,
    limit: t.words.price,
    stop: t.form.triggerPrice,
  }[form.type];
  const liquidation = preview?.liquidationTicks ?? null;
  const why = blockedText(line, read.missing);
  return (
    <Dialog title={t.form.confirmTitle} onClose={onClose}>
      <div className="dialog-body">
        <p>
          {t.words.acts[form.side]} {formatFixed(size, sizeDigits)} {market.base} (
          {t.words.typesInSentence[form.type]})
        </p>
        <dl className="facts">
          <Fact label={t.words.orderValue}>{formatDollars(estimate.valueMicros / 1e6)}</Fact>
          <Fact label={priceLabel}>{formatFixed(order.price, priceDigits)}</Fact>
          {slippage !== undefined && (
            <Fact label={t.form.slippage} className={slippage.isLarge ? "warn-text" : ""}>
              {formatPercent(slippage.share, 3)} · {formatDollars(slippage.dollars)}
            </Fact>
          )}
          <Fact label={t.words.cost}>
            {preview === undefined ? NO_VALUE : formatDollars(fromMicros(preview.walletMicros))}
          </Fact>
          {order.takeProfit !== undefined && (
            <Fact label={t.words.takeProfit}>
              {formatFixed(order.takeProfit.price, priceDigits)}
            </Fact>
          )}
          {order.stopLoss !== undefined && (
            <Fact label={t.words.stopLoss}>{formatFixed(order.stopLoss.price, priceDigits)}</Fact>
          )}
          <Fact label={t.words.liquidationPrice} className="warn-text">
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
            {t.words.back}
          </button>
          <button
            type="button"
            className={`button ${form.side === "long" ? "buy" : "sell"}`}
            disabled={why !== undefined}
            onClick={onConfirm}
          >
            {why ?? (form.side === "long" ? t.form.confirmBuyNow : t.form.confirmSellNow)}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
