/** The drawings of a market: placed on the chart with a pointer, or by their figures. */

import { type FormEvent, useState } from "react";
import { numberIn } from "../order/order-form-state.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";
import { Icon } from "../ui/icons.js";
import { NumberField } from "../ui/number-field.js";
import { Segments } from "../ui/segments.js";
import { type MarketView, priceText } from "../venue/market-view.js";
import type { Placing } from "./candles.js";
import {
  DRAWING_KINDS,
  type Drawing,
  type DrawingKind,
  type DrawnPoint,
  LONGEST_TEXT,
  MOST_DRAWINGS,
  pointsOf,
} from "./drawings.js";
import "../market/alerts-dialog.css";

interface Props {
  readonly view: MarketView;
  /** A line begins that many milliseconds ago, unless another time is typed. */
  readonly backMs: number;
  readonly onPlace: (placing: Placing) => void;
  readonly onClose: () => void;
}

export default function DrawingsDialog({ view, backMs, onPlace, onClose }: Props) {
  const { drawings } = useTerminal();
  const { symbol } = view.market;
  const list = useStore(drawings.list).filter((drawing) => drawing.symbol === symbol);
  return (
    <Dialog title={t.chart.drawingsOf(symbol)} onClose={onClose}>
      <div className="dialog-body">
        <NewDrawing view={view} backMs={backMs} onPlace={onPlace} />
        {list.length === 0 && <p className="notice">{t.chart.noDrawings}</p>}
        <ul className="alerts" aria-label={t.chart.drawings}>
          {list.map((drawing) => (
            <DrawingRow key={drawing.id} view={view} drawing={drawing} />
          ))}
        </ul>
        {list.length > 1 && (
          <button type="button" className="button" onClick={() => drawings.clear(symbol)}>
            {t.chart.removeAll}
          </button>
        )}
      </div>
    </Dialog>
  );
}

interface RowProps {
  readonly view: MarketView;
  readonly drawing: Drawing;
}

function DrawingRow({ view, drawing: { id, kind, points, text } }: RowProps) {
  const { drawings } = useTerminal();
  const prices = points.map(({ price }) => priceText(view, price)).join(" – ");
  const title = [t.chart.kinds[kind], text, prices].filter((part) => part !== "").join(" ");
  return (
    <li>
      <span>{title}</span>
      <button
        type="button"
        className="button bare small"
        aria-label={t.chart.removeDrawing(title)}
        onClick={() => drawings.remove(id)}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}

interface NewProps {
  readonly view: MarketView;
  readonly backMs: number;
  readonly onPlace: (placing: Placing) => void;
}

function NewDrawing({ view, backMs, onPlace }: NewProps) {
  const { clock, drawings } = useTerminal();
  const { symbol } = view.market;
  const [now] = useState(() => clock.now() ?? Date.now());
  const [kind, setKind] = useState<DrawingKind>("level");
  const [text, setText] = useState("");
  const [prices, setPrices] = useState(["", ""]);
  const [times, setTimes] = useState([now - backMs, now]);
  const [refusal, setRefusal] = useState<string>();
  const isText = kind === "text";
  const places = [0, 1].slice(0, pointsOf(kind));
  const hasText = !isText || text.trim() !== "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const points = places.flatMap((at): DrawnPoint[] => {
      const [price, time] = [numberIn(prices[at] ?? ""), times[at]];
      return price === undefined || time === undefined ? [] : [{ price, time }];
    });
    if (!hasText) setRefusal(t.problems.enterText);
    else if (points.length < places.length) setRefusal(t.problems.enterPrice);
    else if (!drawings.add({ symbol, kind, points, text: isText ? text.trim() : "" }))
      setRefusal(t.chart.tooMany(MOST_DRAWINGS));
    else setPrices(["", ""]);
  };
  const change = <Value,>(set: (change: (known: Value[]) => Value[]) => void) => {
    return (at: number, value: Value) => {
      setRefusal(undefined);
      set((known) => known.with(at, value));
    };
  };
  const [changePrice, changeTime] = [change(setPrices), change(setTimes)];
  return (
    <form className="choice-card" onSubmit={submit} aria-label={t.chart.newDrawing}>
      <Segments
        legend={t.chart.kind}
        name="drawing-kind"
        options={DRAWING_KINDS}
        labels={t.chart.kinds}
        selected={kind}
        onSelect={setKind}
      />
      {isText && (
        <label className="field">
          <span className="label">{t.words.text}</span>
          <span className="box">
            <input
              value={text}
              maxLength={LONGEST_TEXT}
              onChange={({ target }) => setText(target.value)}
            />
          </span>
        </label>
      )}
      <button
        type="button"
        className="button primary"
        disabled={!hasText}
        onClick={() => onPlace({ kind, text: isText ? text.trim() : "" })}
      >
        {t.chart.place}
      </button>
      {places.map((at) => (
        <div className="pair" key={at}>
          <NumberField
            label={at === 0 ? t.words.price : t.chart.secondPrice}
            value={prices[at] ?? ""}
            unit={view.market.quote}
            problem={at === 0 ? refusal : undefined}
            onChange={(price) => changePrice(at, price)}
          />
          {kind !== "level" && (
            <label className="field">
              <span className="label">{at === 0 ? t.words.time : t.chart.secondTime}</span>
              <span className="box">
                <input
                  type="datetime-local"
                  value={localText(times[at] ?? now)}
                  onChange={({ target }) => {
                    const time = new Date(target.value).getTime();
                    if (Number.isFinite(time)) changeTime(at, time);
                  }}
                />
              </span>
            </label>
          )}
        </div>
      ))}
      <button type="submit" className="button">
        {places.length === 1 ? t.chart.addOne : t.chart.addTwo}
      </button>
    </form>
  );
}

/** As the browser's field for a time takes it. */
function localText(time: number): string {
  const local = time - new Date(time).getTimezoneOffset() * 60_000;
  return new Date(local).toISOString().slice(0, 16);
}
