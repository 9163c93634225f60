/** docs/concepts.md: every table of it is what the engine computes, to the last digit. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Table } from "./worked-examples.js";
import * as examples from "./worked-examples.js";

const page = readFileSync(new URL("../../../../docs/concepts.md", import.meta.url), "utf8");

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

/** The table below a mark of the page. */
function tableIn(name: string): string {
  const [, below = ""] = page.split(`<!-- worked: ${name} -->\n\n`);
  return below.split("\n\n", 1)[0] ?? "";
}

describe("docs/concepts.md", () => {
  for (const [name, work] of Object.entries(TABLES)) {
    test(`${name}: the page has the engine's figures`, () => {
      expect(tableIn(name)).toBe(markdown(work()));
    });
  }

  test("has no worked table that is not tested here", () => {
    const named = [...page.matchAll(/<!-- worked: (.*) -->/g)].map(([, name]) => name);
    expect(named.sort()).toEqual(Object.keys(TABLES).sort());
  });
});
