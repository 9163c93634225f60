/** The price alerts of all markets, and a new one for the shown market. */

import { type FormEvent, useState } from "react";
import { numberIn } from "../order/order-form-state.js";
import { stepProblem, stepsIn } from "../order/typed-steps.js";
import { NoticeChoices } from "../shell/settings-dialog.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
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

const SOURCES = ["mark", "index", "last"] as const;

export default function AlertsDialog() {
  const { alerts, dialog, marketFeed } = useTerminal();
  const view = useStore(marketFeed.current);
  const list = useStore(alerts.list);
  const shown = view?.market.symbol;
  const isShown = ({ symbol }: PriceAlert) => symbol === shown;
  const sorted = [...list.filter(isShown), ...list.filter((alert) => !isShown(alert))];
  return (
    <Dialog title={t.alerts.title} onClose={() => dialog.set("none")}>
      <div className="dialog-body">
        {view !== undefined && <NewAlert key={shown} view={view} />}
        {sorted.length === 0 && <p className="notice">{t.alerts.none}</p>}
        <ul className="alerts" aria-label={t.alerts.title}>
          {sorted.map((alert) => (
            <AlertRow key={alert.id} alert={alert} />
          ))}
        </ul>
        <NoticeChoices />
        <p className="notice">{t.alerts.text}</p>
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
        aria-label={t.alerts.remove(text)}
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
    if (price === undefined) setRefusal(t.problems.enterPrice);
    else if (now === undefined || now === null)
      setRefusal(t.alerts.noPrice(t.words.sourcesInSentence[source]));
    else if (now === price) setRefusal(t.alerts.isThere(t.words.sourcesInSentence[source]));
    else if (alerts.add({ symbol, source, price, direction: now < price ? "up" : "down" })) {
      setText("");
    } else setRefusal(t.alerts.tooMany(MOST_ALERTS));
  };
  const change = (next: string) => {
    setRefusal(undefined);
    setText(next);
  };
  return (
    <form className="choice-card" onSubmit={submit}>
      <h3>{symbol}</h3>
      <Segments
        legend={t.words.price}
        name="alert-source"
        options={SOURCES}
        labels={t.words.sources}
        selected={source}
        onSelect={setSource}
      />
      <NumberField
        label={t.alerts.price}
        aside={<span className="faint">{t.alerts.now(priceText(view, now))}</span>}
        value={text}
        unit={quote}
        problem={refusal ?? stepProblem(text, tick)}
        onChange={change}
      />
      <button type="submit" className="button">
        {t.alerts.add}
      </button>
    </form>
  );
}
