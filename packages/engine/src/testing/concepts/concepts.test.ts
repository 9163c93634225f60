/**
 * docs/concepts.md: every table of it is what the engine computes, to the last digit. After a change
 * of the rules, `npm run docs:concepts` writes the figures into the page; the words are up to you.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Table } from "./worked-examples.js";
import * as examples from "./worked-examples.js";

const PAGE = new URL("../../../../../docs/concepts.md", import.meta.url);

const TABLES: Readonly<Record<string, () => Table>> = {
  preconfirm: examples.preconfirm,
  size: examples.size,
  opening: examples.opening,
  tiers: examples.tiers,
  "liquidation prices": examples.liquidationPrices,
  liquidations: examples.liquidations,
  funding: examples.funding,
};

function markdown([headings = [], ...rows]: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [headings, headings.map(() => "---"), ...rows].map(line).join("\n");
}

const MARK = /<!-- worked: (.*) -->\n\n(?:\|.*\n)+/g;

test("docs/concepts.md: every table has the engine's figures, and every example is shown", () => {
  const page = readFileSync(PAGE, "utf8");
  const shown: string[] = [];
  const filled = page.replaceAll(MARK, (_block, name: string) => {
    shown.push(name);
    return `<!-- worked: ${name} -->\n\n${markdown(TABLES[name]?.() ?? [])}\n`;
  });
  if (process.env.UPDATE_DOCS === "1") writeFileSync(PAGE, filled);
  else expect(page).toBe(filled);
  expect(shown.sort()).toEqual(Object.keys(TABLES).sort());
});
