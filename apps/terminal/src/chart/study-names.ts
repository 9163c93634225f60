/** What a chart can show besides candles and volume, without the chart's library. */

import { INDICATORS } from "./indicators.js";

/** The venue's own prices, which candles of trades do not show. */
export const REFERENCES = [
  { name: "mark", label: "Mark", title: "Mark price", tone: "text" },
  { name: "index", label: "Index", title: "Index price", tone: "text-faint" },
] as const;
export type Reference = (typeof REFERENCES)[number]["name"];

export const STUDIES: readonly { readonly name: string; readonly title: string }[] = [
  ...INDICATORS,
  ...REFERENCES,
];
