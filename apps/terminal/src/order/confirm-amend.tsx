/** Asks before an open order is changed. */

import type { Order } from "@perpgate/protocol";
import type { OrderAmendment } from "@perpgate/sdk";
import { OrderTitle } from "../account/order-title.js";
import { formatDollars } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";
import { Fact } from "../ui/fact.js";
import { type MarketView, priceText, sizeText } from "../venue/market-view.js";
import { amendedTerms, isAmendedBeyondLiquidation, priceOfOrder } from "./amendment.js";
import { blockedText } from "./order-terms.js";

interface Props {
  readonly view: MarketView;
  readonly order: Order;
  readonly amendment: OrderAmendment;
  readonly onAnswer: (isConfirmed: boolean) => void;
}

export function ConfirmAmend({ view, order, amendment, onAnswer }: Props) {
  const { account, line } = useTerminal();
  const position = useStore(account.positions, (all) => all?.get(order.symbol));
  const why = blockedText(useStore(line.state), undefined);
  const { price, size, dollars } = amendedTerms(order, amendment, position);
  const refuse = () => onAnswer(false);
  return (
    <Dialog title={t.orders.changeTitle} onClose={refuse}>
      <div className="dialog-body">
        <p>
          <OrderTitle order={order} />
        </p>
        <dl className="facts">
          <Fact label={t.orders.priceNow}>{priceText(view, priceOfOrder(order))}</Fact>
          <Fact label={t.orders.newPriceLabel}>{priceText(view, price)}</Fact>
          {amendment.size !== undefined && (
            <>
              <Fact label={t.orders.sizeNow}>{sizeText(view, order.size)}</Fact>
              <Fact label={t.orders.newSizeLabel}>{sizeText(view, size)}</Fact>
            </>
          )}
          <Fact label={t.words.orderValue}>{formatDollars(dollars)}</Fact>
        </dl>
        {isAmendedBeyondLiquidation(order, amendment, position) && (
          <p className="notice warn">{t.notes.beyondLiquidation}</p>
        )}
        <div className="pair">
          <button type="button" className="button" onClick={refuse}>
            {t.words.back}
          </button>
          <button
            type="button"
            className="button primary"
            disabled={why !== undefined}
            onClick={() => onAnswer(true)}
          >
            {why ?? t.orders.change}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
