import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NOTICES, REFUSAL_TYPE, REQUESTS } from "./frames.js";
import { linkReference } from "./reference.js";

const PAGE = new URL("../../../docs/link.md", import.meta.url);

test("docs/link.md is what the table of frames says", () => {
  if (process.env.UPDATE_DOCS === "1") writeFileSync(PAGE, linkReference());
  expect(readFileSync(PAGE, "utf8")).toBe(linkReference());
});

test("the table: every type once, requests even and with room for their answers", () => {
  const requests = Object.values(REQUESTS).map(({ type }) => type);
  const types = [
    ...Object.values(NOTICES).map(({ type }) => type),
    REFUSAL_TYPE,
    ...requests.flatMap((type) => [type, type + 1]),
  ];
  expect(new Set(types).size).toBe(types.length);
  expect(requests.filter((type) => type % 2 === 1)).toEqual([]);
});
