/** Market data without a session, and the layout. */

import { expect } from "vitest";
import { measureFrames } from "../frames.js";
import type { PageTest } from "../page-test.js";
import { POLL } from "../trading-page.js";

export function marketTests(test: PageTest): void {
  test("market: switcher, figures, chart, depth, book and trades are shown", async ({ open }) => {
    const opened = await open();
    const { page } = opened;
    await page.getByRole("row").filter({ hasText: "0." }).first().waitFor();
    await page.locator(".tape-row.by-long").first().waitFor();
    await page.getByText(/^Spread \d/).waitFor();
    expect(await page.title()).toMatch(/BTCUSD · Perpgate/);
    await opened.inspect("visitor-1440-dark");
    await page.getByRole("tab", { name: "Depth" }).click();
    await page.getByRole("img", { name: /Depth chart\. .+ bid down to/ }).waitFor();
    await opened.inspect("visitor-depth");
    await page.getByRole("button", { name: /Market: BTCUSD/ }).click();
    await opened.inspect("visitor-markets");
    await page.getByRole("button", { name: /^ETHUSD/ }).click();
    await page.getByRole("button", { name: /Market: ETHUSD/ }).waitFor();
    opened.expectClean();
  });

  test("market: light and dark, from a phone to 4K: all views pass axe", async ({ open }) => {
    const opened = await open({ colours: "light" });
    const { page } = opened;
    await page.locator(".tape-row.by-long").first().waitFor();
    await opened.inspect("visitor-1440-light");
    await page.getByRole("button", { name: "Switch to dark colours" }).click();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    for (const [width, height] of [
      [3840, 2160],
      [1024, 768],
    ] as const) {
      await page.setViewportSize({ width, height });
      await opened.inspect(`visitor-${width}`);
    }
    await page.setViewportSize({ width: 380, height: 760 });
    for (const view of ["Chart", "Book", "Trade", "Portfolio"]) {
      const bar = page.getByRole("navigation", { name: "Views" });
      await bar.getByRole("button", { name: view }).click();
      if (view === "Book") {
        await page.locator(".ladder-row.bid").filter({ hasText: /\d/ }).first().waitFor();
      }
      await opened.inspect(`visitor-380-${view.toLowerCase()}`);
      const overflow =
        "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate(overflow), `${view} scrolls sideways`).toBe(0);
    }
    opened.expectClean();
  });

  test("keyboard only: market, ladder, tabs and order", async ({ open }) => {
    const opened = await open();
    const { page } = opened;
    await opened.signInWithBurner();
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
    await page.keyboard.press("Enter");
    await opened.result().waitFor();
    opened.expectClean();
  });

  test("frames: the book changes and the page stays responsive", async ({ open }) => {
    const opened = await open();
    const { page } = opened;
    await page.getByText(/^Spread \d/).waitFor();
    const frames = await measureFrames(page, 3_000, 5, 6);
    console.info(
      `frames with running bots: ${frames.perSecond.toFixed(1)} a second, median ${frames.medianMs.toFixed(1)} ms, ` +
        `p95 ${frames.p95Ms.toFixed(1)} ms, longest task ${frames.longestTaskMs.toFixed(0)} ms, ` +
        `${frames.bookChanges} ladder updates`,
    );
    await opened.screenshot("bots");
    // Bounds for a busy machine; the figures above are for an idle one.
    expect(frames.count).toBeGreaterThan(5);
    expect(frames.bookChanges).toBeGreaterThanOrEqual(5);
    // No task is longer than 300 frames take on this machine: five seconds at 60 frames a second.
    expect(frames.longestTaskMs).toBeLessThan(300 * Math.max(frames.medianMs, 1_000 / 60));
    opened.expectClean();
  });
}
