/** Figures that must agree, and figures that must not be trusted. */

import { expect } from "vitest";
import type { PageTest } from "../page-test.js";
import { intercept, OFFLINE, POLL } from "../trading-page.js";

/** Runs inside the page: both figures of the PnL, in each frame, for a while. */
const WATCH_PNL = `async (frames) => {
  const table = () => document.querySelector('td[data-title="PnL"] > span')?.firstChild?.textContent?.trim();
  const summary = () => [...document.querySelectorAll(".summary div")]
    .find((each) => each.querySelector("dt")?.textContent === "Unrealised PnL")
    ?.querySelector("dd")?.textContent?.trim();
  const seen = new Set();
  const differences = [];
  for (let at = 0; at < frames || seen.size < 4; at++) {
    await new Promise(requestAnimationFrame);
    const pair = [table(), summary()];
    seen.add(pair[0]);
    if (pair[0] !== pair[1]) differences.push(pair.join(" | "));
  }
  return { differences, seen: [...seen] };
}`;

export function figureTests(test: PageTest): void {
  test("PnL: table and summary agree in every frame, zero has no sign; dimmed while the line is lost", async ({
    open,
  }) => {
    const opened = await open();
    const { page, context } = opened;
    await opened.signInWithBurner();
    await opened.order("Market", "Buy / Long", { margin: "500" });
    await page.getByRole("row").filter({ hasText: "Long 5.0×" }).waitFor();
    // Each time the table is drawn for the first time, and so at another time than the summary.
    for (let round = 0; round < 4; round++) {
      await opened.tab(/Fills/);
      await opened.tab(/Positions/);
      const watched: { differences: string[]; seen: string[] } = await page.evaluate(
        `(${WATCH_PNL})(30)`,
      );
      expect(watched.differences).toEqual([]);
      expect(watched.seen).not.toContain("−0.00");
    }

    // A panel that cannot draw what it got leaves the others: no date has this time.
    const endChanges = await intercept(page, "**/v1/fills*", async (route) => {
      const response = await route.fetch();
      const fills: readonly object[] = await response.json();
      await route.fulfill({ response, json: fills.map((fill) => ({ ...fill, time: 9e15 })) });
    });
    await opened.order("Market", "Buy / Long", { margin: "50" });
    await opened.tab(/Fills/);
    const failed = page.getByRole("region", { name: "The portfolio" });
    await failed.getByText("cannot be shown").waitFor();
    await opened.inspect("panel-failed");
    await opened.result().locator('[data-seal="proven"]').waitFor();
    await endChanges();
    await failed.getByRole("button", { name: "Reload" }).click();
    await opened.tab(/Positions \(1\)/);
    await opened.untilLive();

    const pnl = page.locator('td[data-title="PnL"] > span');
    const styleOf = () => pnl.evaluate((element) => getComputedStyle(element).fontStyle);
    await expect.poll(styleOf, POLL).toBe("normal");
    await context.setOffline(true);
    await expect.poll(styleOf, POLL).toBe("italic");
    await opened.inspect("positions-outdated");
    opened.expectClean(new RegExp(`${OFFLINE.source}|Invalid time value`));
  });
}
