/** What a chart can show besides candles and volume, without the chart's library. */

import { t } from "../text/texts.js";
import { INDICATORS } from "./indicators.js";

/** The venue's own prices, which candles of trades do not show. */
export const REFERENCES = [
  {
    name: "mark",
    get label() {
      return t.words.mark;
    },
    get title() {
      return t.chart.markPrice;
    },
    tone: "text",
  },
  {
    name: "index",
    get label() {
      return t.words.sources.index;
    },
    get title() {
      return t.chart.indexPrice;
    },
    tone: "text-faint",
  },
] as const;
export type Reference = (typeof REFERENCES)[number]["name"];

export const STUDIES: readonly { readonly name: string; readonly title: string }[] = [
  ...INDICATORS,
  ...REFERENCES,
];
