/** Moves money between the wallet and the margin of a position. */

import { fromMicros, fromSteps, toMicrosFloor } from "@perpgate/protocol/core";
import { type FormEvent, useState } from "react";
import {
  floorToCents,
  formatAvailable,
  formatDollars,
  formatFixed,
  NO_VALUE,
} from "../format/numbers.js";
import { largestRemoval } from "../maths/margin-change.js";
import { liquidationTicks } from "../maths/position-maths.js";
import { holdingOf, markOf } from "../order/order-context.js";
import { numberIn } from "../order/order-form-state.js";
import { stepProblem } from "../order/typed-steps.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Fact } from "../ui/fact.js";
import { NumberField } from "../ui/number-field.js";
import { Segments } from "../ui/segments.js";
import { priceText } from "../venue/market-view.js";
import { useRefresh } from "./live-pnl.js";
import { Dollars, type PositionFormProps, SendButton, useSend } from "./send-button.js";

const WAYS = ["add", "remove"] as const;
/** Room for a move of the mark until the removal arrives: 0.05 %. */
const MOVE = 0.0005;

export function MarginForm({ view, position, onDone }: PositionFormProps) {
  const { account, marketFeed, orders } = useTerminal();
  const available = useStore(account.account, (value) => value?.available);
  const [way, setWay] = useState<"add" | "remove">("add");
  const [text, setText] = useState("");
  const { isSending, advice, send } = useSend(onDone);
  useRefresh();
  const { units, market, priceDigits } = view;
  const held = holdingOf(position, view);
  const markTicks = markOf(marketFeed, view) ?? 1;
  const removable = fromMicros(largestRemoval(units, held, markTicks));
  const room = Math.abs(position.size) * markTicks * units.tick.size * MOVE;
  const most = way === "add" ? available : Math.max(0, removable - room);
  const amount = numberIn(text) ?? 0;
  const limit = way === "add" ? available : removable;
  const isTooMuch = limit !== undefined && amount > limit;
  const problem =
    stepProblem(text) ?? (isTooMuch ? t.positions.atMost(formatAvailable(limit)) : undefined);
  const isReady = limit !== undefined && amount > 0 && problem === undefined;
  const sign = way === "add" ? 1 : -1;
  const marginMicros = held.marginMicros + sign * toMicrosFloor(amount);
  const after = isReady ? liquidationTicks(units, { ...held, marginMicros }) : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) void send((session) => orders.changeMargin(session, market.symbol, sign * amount));
  };
  return (
    <form className="stack" onSubmit={submit} noValidate aria-label={t.positions.marginForm}>
      <Segments
        legend={t.words.margin}
        name="margin-way"
        options={WAYS}
        labels={t.positions.ways}
        selected={way}
        onSelect={setWay}
      />
      <NumberField
        label={t.words.amount}
        aside={
          <span>
            {way === "add" ? t.words.available : t.positions.removable} <Dollars value={most} />
          </span>
        }
        value={text}
        placeholder="0.00"
        unit={market.quote}
        problem={problem}
        onChange={setText}
      >
        <button
          type="button"
          className="inside"
          disabled={most === undefined}
          onClick={() => setText(floorToCents(most ?? 0).toFixed(2))}
        >
          {t.words.max}
        </button>
      </NumberField>
      <dl className="facts">
        <Fact label={t.words.margin}>
          {formatDollars(position.margin)}
          {isReady && ` → ${formatDollars(fromMicros(marginMicros))}`}
        </Fact>
        <Fact label={t.words.liquidationPrice} className="warn-text">
          {priceText(view, position.liquidationPrice)}
          {isReady &&
            ` → ${after === null ? NO_VALUE : formatFixed(fromSteps(after, units.tick), priceDigits)}`}
        </Fact>
      </dl>
      <SendButton isReady={isReady} isSending={isSending} advice={advice}>
        {way === "add" ? t.positions.addMargin : t.positions.removeMargin}
      </SendButton>
    </form>
  );
}
