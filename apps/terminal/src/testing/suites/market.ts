/** Market data without a session, and the layout. */

import { expect } from "vitest";
import type { PageTest } from "../page-test.js";
import { POLL } from "../trading-page.js";

/** Runs inside the page. */
const OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** Runs inside the page: the height below the last row of the tape, and that of a row. */
const FREE_IN_TAPE = `(() => {
  const box = document.querySelector(".tape-rows").getBoundingClientRect();
  const row = document.querySelector(".tape-row:last-child").getBoundingClientRect();
  return [box.bottom - row.bottom, row.height];
})()`;

export function marketTests(test: PageTest): void {
  test("market: switcher, figures, chart, depth, book and trades are shown; each has its own price step", async ({
    open,
  }) => {
    const opened = await open();
    const { page } = opened;
    await page.getByRole("row").filter({ hasText: "0." }).first().waitFor();
    await page.getByText("Trades", { exact: true }).first().click();
    await page.locator(".tape-row.by-long").first().waitFor();
    // Rows fill the panel, whatever the height of a row is in this layout.
    const [free, row] = await page.evaluate<readonly [number, number]>(FREE_IN_TAPE);
    expect(free).toBeGreaterThanOrEqual(0);
    expect(free).toBeLessThan(row);
    await page.getByText("Book", { exact: true }).first().click();
    // The design's size has room for this many levels of a side.
    const levels = () => page.locator(".ladder-row.bid").filter({ hasText: /\d/ }).count();
    await expect.poll(levels, POLL).toBeGreaterThanOrEqual(11);
    await page.getByText(/^Spread \d/).waitFor();
    expect(await page.title()).toMatch(/BTCUSD · Perpgate/);
    await opened.inspect("visitor-1440-dark");
    await page.getByRole("tab", { name: "Depth" }).click();
    await page.getByRole("img", { name: /Depth chart\. .+ bid down to/ }).waitFor();
    await opened.inspect("visitor-depth", "section.chart");
    const step = page.getByRole("combobox", { name: "Price step" });
    await step.selectOption({ label: "200" });
    await page.getByRole("button", { name: /Market: BTCUSD/ }).click();
    await opened.inspect("visitor-markets");
    await page.getByRole("button", { name: /^SOLUSD/ }).click();
    await page.getByRole("button", { name: /Market: SOLUSD/ }).waitFor();
    const rows = page.locator(".ladder-row.bid > [role=gridcell]:nth-of-type(2)");
    const prices = async () => {
      const texts = await rows.allInnerTexts();
      return texts.filter((text) => text !== "").map(Number);
    };
    await expect.poll(async () => (await prices()).length, POLL).toBeGreaterThan(2);
    const shown = Number(await step.locator("option:checked").innerText());
    const [first = 0, second = 0] = await prices();
    expect(shown).toBe(0.01);
    expect(first - second).toBeLessThan(20 * shown);
    opened.expectClean();
  });

  test("market: light and dark, from a phone to 4K: all views pass axe", async ({ open }) => {
    const opened = await open({ colours: "light" });
    const { page } = opened;
    await page.locator(".ladder-row.bid").filter({ hasText: /\d/ }).first().waitFor();
    await opened.inspect("visitor-1440-light");
    await page.getByRole("button", { name: "Switch to dark colours" }).click();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    for (const [width, height] of [
      [3840, 2160],
      [1024, 768],
      // 1280 × 720 at a zoom of 200 %.
      [640, 360],
    ] as const) {
      await page.setViewportSize({ width, height });
      await opened.inspect(`visitor-${width}`);
      expect(await page.evaluate(OVERFLOW), `${width} scrolls sideways`).toBe(0);
    }
    await page.setViewportSize({ width: 380, height: 760 });
    for (const view of ["Chart", "Book", "Trade", "Portfolio"]) {
      const bar = page.getByRole("navigation", { name: "Views" });
      await bar.getByRole("button", { name: view }).click();
      if (view === "Book") {
        await page.locator(".ladder-row.bid").filter({ hasText: /\d/ }).first().waitFor();
      }
      await opened.inspect(`visitor-380-${view.toLowerCase()}`);
      expect(await page.evaluate(OVERFLOW), `${view} scrolls sideways`).toBe(0);
    }
    opened.expectClean();
  });

  test("keyboard only: market, ladder, tabs and order", async ({ enter }) => {
    const { opened, page } = await enter();
    await page.getByRole("button", { name: /Market: BTCUSD/ }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.locator('.ladder-row.bid[tabindex="0"]').focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const price = page.getByRole("textbox", { name: "Price" });
    await expect.poll(() => price.inputValue(), POLL).toMatch(/^\d{5}$/);
    await page.getByRole("tab", { name: /Positions/ }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("No open orders.").waitFor();
    await page.getByRole("textbox", { name: "Margin" }).focus();
    await page.keyboard.type("25");
    await page
      .getByRole("form", { name: "Order" })
      .locator("button[type=submit]:enabled")
      .waitFor();
    await page.keyboard.press("Enter");
    await opened.result().waitFor();
    opened.expectClean();
  });
}
