/**
 * docs/concepts.md and docs/orders.md: every table of them is what the engine computes, to the last
 * digit. After a change of the rules, `npm run docs -- concepts` writes the figures into the pages; the
 * words are up to you.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Table } from "./worked-examples.js";
import * as examples from "./worked-examples.js";
import * as orders from "./worked-orders.js";

type Tables = Readonly<Record<string, () => Table>>;

const CONCEPTS: Tables = {
  preconfirm: examples.preconfirm,
  size: examples.size,
  opening: examples.opening,
  tiers: examples.tiers,
  "liquidation prices": examples.liquidationPrices,
  liquidations: examples.liquidations,
  funding: examples.funding,
};
const ORDERS: Tables = { ...orders };

function markdown([headings = [], ...rows]: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [headings, headings.map(() => "---"), ...rows].map(line).join("\n");
}

const MARK = /<!-- worked: (.*) -->\n\n(?:\|.*\n)+/g;

test.each([
  ["concepts", CONCEPTS],
  ["orders", ORDERS],
])(
  "docs/%s.md: every table has the engine's figures, and every example is shown",
  (name, tables) => {
    const file = new URL(`../../../../../docs/${name}.md`, import.meta.url);
    const page = readFileSync(file, "utf8");
    const shown: string[] = [];
    const filled = page.replaceAll(MARK, (_block, example: string) => {
      shown.push(example);
      return `<!-- worked: ${example} -->\n\n${markdown(tables[example]?.() ?? [])}\n`;
    });
    if (process.env.UPDATE_DOCS === "1") writeFileSync(file, filled);
    else expect(page).toBe(filled);
    expect(shown.sort()).toEqual(Object.keys(tables).sort());
  },
);
