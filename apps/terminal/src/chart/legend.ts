/** The figures of the candle under the crosshair, or of the last one: written without React. */

import type { Candle } from "@perpgate/protocol";
import { formatCompact, formatFixed, formatPercent, percentTone } from "../format/numbers.js";
import { t } from "../text/texts.js";
import type { MarketView } from "../venue/market-view.js";

export interface LegendValue {
  readonly label: string;
  readonly value: number | undefined;
  readonly colour: string;
}

export class Legend {
  private shown = "";

  constructor(
    private readonly box: HTMLElement,
    private readonly view: MarketView,
  ) {}

  show(candle: Candle | undefined, studies: readonly LegendValue[]): void {
    const key = JSON.stringify([candle, studies]);
    if (key === this.shown) return;
    this.shown = key;
    if (candle === undefined) {
      this.box.replaceChildren();
      return;
    }
    const { open, high, low, close, volume } = candle;
    const price = (value: number) => formatFixed(value, this.view.priceDigits);
    const change = close / open - 1;
    const tone = percentTone(change);
    const { base } = this.view.market;
    this.box.replaceChildren(
      figure("O", price(open), tone),
      figure("H", price(high), tone),
      figure("L", price(low), tone),
      figure("C", price(close), tone),
      figure("", formatPercent(change), tone),
      figure(t.chart.volume, `${formatCompact(volume)} ${base}`),
      ...studies.map(({ label, value, colour }) =>
        figure(label, value === undefined ? "—" : price(value), "", colour),
      ),
    );
  }
}

function figure(label: string, text: string, className = "", colour = ""): HTMLElement {
  const element = document.createElement("span");
  const value = document.createElement("b");
  value.textContent = text;
  value.className = className;
  // Set on the object: the content security policy forbids style attributes in markup only.
  value.style.color = colour;
  element.append(label === "" ? "" : `${label} `, value);
  return element;
}
