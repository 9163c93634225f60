/**
 * The best that rings take in an hour from the fund and from honest accounts, by scheme, before (version 2)
 * and after (version 3). Asserted for every scheme of version 3: the fund loses at most its budget, whatever
 * the index does; and the ring takes less than before. What honest winners lose in a gap is their part of
 * what bankrupt positions lack, by profit: docs/adr/0231 says why no rule can make that nothing, and which
 * tiers do.
 * docs/lab/collusion.md has the table. PERPGATE_SCHEMES=n tries n plans of each (`npm test -- --long collusion`).
 */
import { describe, expect, test } from "vitest";
import { type Found, FUND, type Rules, rulesOf, SCHEMES, search, taken } from "./bystanders.js";

const TRIES = Number(process.env.PERPGATE_SCHEMES ?? 30);
const HONEST = 10_000_000;
/** The budget of the hour, 2 % of the fund; what it gained first by fees and takeovers it may lose, too. */
const BUDGET = 0.02 * FUND;
/** The bar of what a ring may take. */
const BAR = 0.02 * FUND + 0.01 * HONEST;
/** Tiers under which a position has a fifth of its value when it is liquidated, or nearly. */
const SOLID: Rules = {
  version: 3,
  tiers: [{ upToMicros: 2e14, maxLeverage: 4, maintenancePpm: 180_000 }],
};

const percent = (part: number): string => `${(100 * part).toFixed(2)} %`;

function row(name: string, rules: string, byFund: Found, byAll: Found): string {
  const { fund, honest } = byAll.outcome;
  const cells = [
    percent(byFund.outcome.fund / FUND),
    percent(taken(byAll.outcome) / FUND),
    percent(Math.max(0, fund) / FUND),
    percent(Math.max(0, honest) / HONEST),
  ];
  return `| ${name} | ${rules} | ${cells.join(" | ")} |`;
}

describe("what rings take next to honest accounts, in an hour of moves of up to 20 %", () => {
  const rows: string[] = [];
  for (const name of Object.keys(SCHEMES)) {
    test(`${name}: the fund within its budget, less than before`, { timeout: 3_600_000 }, () => {
      const [before, after] = [2, 3].map((version) => {
        const byFund = search(name, "fund", HONEST, rulesOf(version), TRIES);
        const byAll = search(name, "all", HONEST, rulesOf(version), TRIES);
        rows.push(row(name, `${version}`, byFund, byAll));
        return { byFund, byAll };
      });
      expect(after!.byFund.outcome.fund, JSON.stringify(after!.byFund.plan)).toBeLessThanOrEqual(
        BUDGET,
      );
      expect(taken(after!.byAll.outcome)).toBeLessThan(taken(before!.byAll.outcome));
    });
  }

  for (const name of Object.keys(SCHEMES)) {
    test(`${name}, leverage 4 and 18 % of maintenance: the bar holds`, {
      timeout: 3_600_000,
    }, () => {
      const byFund = search(name, "fund", HONEST, SOLID, TRIES);
      const byAll = search(name, "all", HONEST, SOLID, TRIES);
      rows.push(row(name, "3, solid tiers", byFund, byAll));
      expect(byFund.outcome.fund).toBeLessThanOrEqual(BUDGET);
      expect(taken(byAll.outcome), JSON.stringify(byAll.plan)).toBeLessThanOrEqual(BAR);
    });
  }

  test("the table; a search that takes nothing would prove nothing", () => {
    console.log(rows.join("\n"));
    expect(rows).toHaveLength(3 * Object.keys(SCHEMES).length);
  });
});
