/** Asserts that axe finds nothing at any level, in the whole page or in a part. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function expectAccessible(page: Page, name: string, part?: string): Promise<void> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
  const where = part === undefined ? "document" : JSON.stringify(part);
  const results: AxeResults = await page.evaluate(
    `axe.run(${where}, { resultTypes: ["violations"] })`,
  );
  const found = results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}\n${failureSummary}`),
  );
  expect(found, name).toEqual([]);
}
