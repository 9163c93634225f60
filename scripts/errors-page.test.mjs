/** docs/errors.md says what the code says. */
import { readFileSync } from "node:fs";
import { ERROR_TABLE } from "@perpgate/protocol/core";
import { describe, expect, it } from "vitest";
import { errorsPage } from "./errors-page.mjs";

describe("docs/errors.md", () => {
  it("is up to date with the error table; if not: npm run docs -- errors", () => {
    const page = readFileSync(new URL("../docs/errors.md", import.meta.url), "utf8");
    expect(page).toBe(errorsPage(ERROR_TABLE));
  });

  it("has every code once, with something to do", () => {
    const page = errorsPage(ERROR_TABLE);
    for (const code of Object.keys(ERROR_TABLE)) {
      const rows = page.split("\n").filter((line) => line.startsWith(`| \`${code}\` |`));
      expect(rows, code).toHaveLength(1);
      expect(rows[0], code).toMatch(/\| [^|]{5,} \|$/);
    }
  });

  it("advice on a code that the table has not: refused, so that none outlives its code", () => {
    const { rate_limited: _gone, ...rest } = ERROR_TABLE;
    expect(() => errorsPage(rest)).toThrow("rate_limited");
  });
});
