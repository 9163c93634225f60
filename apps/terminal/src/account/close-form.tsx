/** Closes a part or all of a position, at the market or at a price. */

import { fromSteps } from "@perpgate/protocol/core";
import { type FormEvent, useState } from "react";
import { formatSigned, NO_VALUE, toneOf } from "../format/numbers.js";
import { closeSubject, limitClose, marketClose, sendClose } from "../order/closing.js";
import { numberIn } from "../order/order-form-state.js";
import { stepProblem, stepsIn } from "../order/typed-steps.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Fact } from "../ui/fact.js";
import { NumberField } from "../ui/number-field.js";
import { Segments } from "../ui/segments.js";
import { livePosition } from "../venue/live-position.js";
import { closedText, sizeText } from "../venue/market-view.js";
import { useRefresh } from "./live-pnl.js";
import { type PositionFormProps, SendButton, useSend } from "./send-button.js";

const TYPES = ["market", "limit"] as const;
const SHARES = [0.25, 0.5, 0.75, 1];

export function CloseForm({ view, position, onDone }: PositionFormProps) {
  const terminal = useTerminal();
  const { market, units, priceDigits, sizeDigits } = view;
  const held = Math.abs(Math.round(position.size / units.lot.size));
  const textOf = (share: number) =>
    fromSteps(Math.max(1, Math.floor(held * share)), units.lot).toFixed(sizeDigits);
  const [type, setType] = useState<"market" | "limit">("market");
  const [size, setSize] = useState(() => textOf(1));
  const [price, setPrice] = useState("");
  const { isSending, advice, send } = useSend(onDone);
  useRefresh();
  const lots = stepsIn(size, units.lot);
  const sizeProblem =
    stepProblem(size, units.lot) ??
    (lots !== undefined && lots > held ? t.positions.moreThanPosition : undefined);
  const priceProblem = type === "limit" ? stepProblem(price, units.tick) : undefined;
  const at = type === "limit" ? numberIn(price) : livePosition(terminal, position).mark;
  const isReady =
    lots !== undefined &&
    sizeProblem === undefined &&
    (type === "market" || (at !== undefined && at > 0 && priceProblem === undefined));
  const closed = lots === undefined ? 0 : fromSteps(lots, units.lot);
  const pnl =
    at === undefined ? undefined : Math.sign(position.size) * closed * (at - position.avgEntry);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isReady || at === undefined) return;
    const order =
      type === "limit"
        ? limitClose(position, closed, at)
        : marketClose(terminal, view, position, closed);
    const subject = type === "market" ? closeSubject(position, closed) : undefined;
    void send((session) => sendClose(terminal, session, order, subject));
  };
  return (
    <form className="stack" onSubmit={submit} noValidate aria-label={t.positions.closeForm}>
      <Segments
        legend={t.positions.howToClose}
        name="close-type"
        options={TYPES}
        labels={t.words.types}
        selected={type}
        onSelect={setType}
      />
      {type === "limit" && (
        <NumberField
          label={t.words.price}
          value={price}
          placeholder={(0).toFixed(priceDigits)}
          unit={market.quote}
          problem={priceProblem}
          onChange={setPrice}
        />
      )}
      <NumberField
        label={t.words.size}
        aside={<span>{t.positions.of(sizeText(view, Math.abs(position.size)))}</span>}
        value={size}
        unit={market.base}
        problem={sizeProblem}
        onChange={setSize}
      />
      <div className="shares">
        {SHARES.map((share) => (
          <button
            key={share}
            type="button"
            className="button small"
            onClick={() => setSize(textOf(share))}
          >
            {share === 1 ? t.positions.all : `${share * 100}%`}
          </button>
        ))}
      </div>
      <dl className="facts">
        <Fact label={t.positions.pnlOfPart} className={toneOf(pnl, 2)}>
          {isReady ? formatSigned(pnl, 2) : NO_VALUE}
        </Fact>
      </dl>
      <SendButton isReady={isReady} why={closedText(market)} isSending={isSending} advice={advice}>
        {t.positions.closeSize(sizeText(view, closed), market.base)}
      </SendButton>
    </form>
  );
}
