/**
 * docs/api.md: every example of it is what a real gateway answers. After a change of the interface,
 * `npm run docs -- api` writes the answers into the page.
 */
import { readFileSync, writeFileSync } from "node:fs";
import {
  ACKNOWLEDGED_FIELDS,
  END_REASONS,
  ORDER_STATUSES,
  ORDER_TYPES,
} from "@perpgate/protocol/core";
import { OPERATIONS } from "@perpgate/protocol/operations";
import { expect, test } from "vitest";
import { walk } from "./testing/api-examples.js";

const PAGE = new URL("../../../../docs/api.md", import.meta.url);
const MARK = /<!-- example: (.*) -->\n\n```\n[\s\S]*?\n```(?=\n)/g;

test("docs/api.md: every example is the gateway's answer", async () => {
  const examples = await walk();
  const page = readFileSync(PAGE, "utf8");
  const shown: string[] = [];
  const filled = page.replaceAll(MARK, (_block, name: string) => {
    shown.push(name);
    return `<!-- example: ${name} -->\n\n${examples.get(name) ?? "no such example"}`;
  });
  if (process.env.UPDATE_DOCS === "1") writeFileSync(PAGE, filled);
  else expect(page).toBe(filled);
  expect(shown.sort()).toEqual([...examples.keys()].sort());
});

test("docs/api.md: names every operation of the interface", () => {
  const page = readFileSync(PAGE, "utf8");
  const missing = OPERATIONS.map(({ method, path }) => `${method} ${path}`).filter(
    (operation) => !page.includes(`\`${operation}\``),
  );
  expect(missing).toEqual([]);
});

test("docs/api.md: the leaf's fields are in order, with the numbers of their values", () => {
  const page = readFileSync(PAGE, "utf8");
  const [, table = ""] = page.split("| fields of the leaf | on the wire |");
  const rows = (table.split("\n\n")[0] ?? "").split("\n").slice(2);
  const names = rows.flatMap((row) => row.split("|")[1]?.match(/\w+/g) ?? []);
  expect(names).toEqual([...ACKNOWLEDGED_FIELDS]);
  const numbered = (words: readonly string[]) => words.map((word, i) => `${i} ${word}`).join(", ");
  expect(table).toContain(numbered(ORDER_TYPES));
  expect(table).toContain(numbered(ORDER_STATUSES));
  expect(table).toContain(numbered(END_REASONS.map((word, i) => (i === 0 ? "null" : word))));
});
