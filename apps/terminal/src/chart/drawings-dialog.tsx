/** The drawings of a market: placed on the chart with a pointer, or by their figures. */

import { type FormEvent, useState } from "react";
import { numberIn } from "../order/order-form-state.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
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
    <Dialog title={`Drawings of ${symbol}`} onClose={onClose}>
      <div className="dialog-body">
        <NewDrawing view={view} backMs={backMs} onPlace={onPlace} />
        {list.length === 0 && <p className="notice">No drawings.</p>}
        <ul className="alerts" aria-label="Drawings">
          {list.map((drawing) => (
            <DrawingRow key={drawing.id} view={view} drawing={drawing} />
          ))}
        </ul>
        {list.length > 1 && (
          <button type="button" className="button" onClick={() => drawings.clear(symbol)}>
            Remove all
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
  const name = DRAWING_KINDS.find(([each]) => each === kind)?.[1] ?? "";
  const prices = points.map(({ price }) => priceText(view, price)).join(" – ");
  const title = [name, text, prices].filter((part) => part !== "").join(" ");
  return (
    <li>
      <span>{title}</span>
      <button
        type="button"
        className="button bare small"
        aria-label={`Remove the drawing: ${title}`}
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
    if (!hasText) setRefusal("Enter a text");
    else if (points.length < places.length) setRefusal("Enter a price");
    else if (!drawings.add({ symbol, kind, points, text: isText ? text.trim() : "" }))
      setRefusal(`There are ${MOST_DRAWINGS} drawings already. Remove one first`);
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
    <form className="choice-card" onSubmit={submit} aria-label="New drawing">
      <Segments
        legend="Kind"
        name="drawing-kind"
        options={DRAWING_KINDS}
        selected={kind}
        onSelect={setKind}
      />
      {isText && (
        <label className="field">
          <span className="label">Text</span>
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
        Place on the chart
      </button>
      {places.map((at) => (
        <div className="pair" key={at}>
          <NumberField
            label={at === 0 ? "Price" : "Second price"}
            value={prices[at] ?? ""}
            unit={view.market.quote}
            problem={at === 0 ? refusal : undefined}
            onChange={(price) => changePrice(at, price)}
          />
          {kind !== "level" && (
            <label className="field">
              <span className="label">{at === 0 ? "Time" : "Second time"}</span>
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
        Add at {places.length === 1 ? "this price" : "these prices"}
      </button>
    </form>
  );
}

/** As the browser's field for a time takes it. */
function localText(time: number): string {
  const local = time - new Date(time).getTimezoneOffset() * 60_000;
  return new Date(local).toISOString().slice(0, 16);
}
