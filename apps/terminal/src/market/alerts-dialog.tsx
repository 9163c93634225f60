/** The price alerts of all markets, and a new one for the shown market. */

import { type FormEvent, useState } from "react";
import { numberIn } from "../order/order-form-state.js";
import { stepProblem, stepsIn } from "../order/typed-steps.js";
import { NoticeChoices } from "../shell/settings-dialog.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Dialog } from "../ui/dialog.js";
import { Icon } from "../ui/icons.js";
import { NumberField } from "../ui/number-field.js";
import { Segments } from "../ui/segments.js";
import { type MarketView, priceText } from "../venue/market-view.js";
import {
  type AlertSource,
  alertText,
  MOST_ALERTS,
  type PriceAlert,
} from "../venue/price-alerts.js";
import "./alerts-dialog.css";

const SOURCES = [
  ["mark", "Mark"],
  ["index", "Index"],
  ["last", "Last"],
] as const;

export default function AlertsDialog() {
  const { alerts, dialog, marketFeed } = useTerminal();
  const view = useStore(marketFeed.current);
  const list = useStore(alerts.list);
  const shown = view?.market.symbol;
  const isShown = ({ symbol }: PriceAlert) => symbol === shown;
  const sorted = [...list.filter(isShown), ...list.filter((alert) => !isShown(alert))];
  return (
    <Dialog title="Price alerts" onClose={() => dialog.set("none")}>
      <div className="dialog-body">
        {view !== undefined && <NewAlert key={shown} view={view} />}
        {sorted.length === 0 && <p className="notice">No alerts.</p>}
        <ul className="alerts" aria-label="Price alerts">
          {sorted.map((alert) => (
            <AlertRow key={alert.id} alert={alert} />
          ))}
        </ul>
        <NoticeChoices />
        <p className="notice">
          An alert fires once. This browser watches the prices while the page is open, also in the
          background.
        </p>
      </div>
    </Dialog>
  );
}

function AlertRow({ alert }: { readonly alert: PriceAlert }) {
  const { alerts, marketFeed } = useTerminal();
  const text = alertText(alert, marketFeed.view(alert.symbol));
  return (
    <li>
      <span>{text}</span>
      <button
        type="button"
        className="button bare small"
        aria-label={`Remove the alert: ${text}`}
        onClick={() => alerts.remove(alert.id)}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}

function NewAlert({ view }: { readonly view: MarketView }) {
  const { alerts, marketFeed } = useTerminal();
  const { symbol, quote } = view.market;
  const [source, setSource] = useState<AlertSource>("mark");
  const [text, setText] = useState("");
  const [refusal, setRefusal] = useState<string>();
  const now = useStore(marketFeed.ticker(symbol), (ticker) => ticker?.[source]);
  const { tick } = view.units;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const price = stepsIn(text, tick) === undefined ? undefined : numberIn(text);
    if (price === undefined) setRefusal("Enter a price");
    else if (now === undefined || now === null) setRefusal(`There is no ${source} price now`);
    else if (now === price) setRefusal(`The ${source} price is there now`);
    else if (alerts.add({ symbol, source, price, direction: now < price ? "up" : "down" })) {
      setText("");
    } else setRefusal(`There are ${MOST_ALERTS} alerts already. Remove one first`);
  };
  const change = (next: string) => {
    setRefusal(undefined);
    setText(next);
  };
  return (
    <form className="choice-card" onSubmit={submit}>
      <h3>{symbol}</h3>
      <Segments
        legend="Price"
        name="alert-source"
        options={SOURCES}
        selected={source}
        onSelect={setSource}
      />
      <NumberField
        label="Price of the alert"
        aside={<span className="faint">Now {priceText(view, now)}</span>}
        value={text}
        unit={quote}
        problem={refusal ?? stepProblem(text, tick)}
        onChange={change}
      />
      <button type="submit" className="button">
        Add the alert
      </button>
    </form>
  );
}
