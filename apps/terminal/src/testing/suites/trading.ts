/** Orders and their results. */

import { expect } from "vitest";
import type { PageTest } from "../page-test.js";
import { tickerOf } from "../venue-reads.js";

export function tradingTests(test: PageTest): void {
  test("estimate: equals the placed order; a rejected one: a button applies the correction", async ({
    enter,
    venueUrl,
  }) => {
    const { opened, page } = await enter();
    const { mark } = await tickerOf(venueUrl);
    // Far from the market it rests completely, so nothing changes between estimate and order.
    const price = (Math.round(mark * 0.9) - 0.5).toFixed(1);
    await opened.order("Limit", "Buy / Long", { margin: "321.99", price });
    const waiting = opened
      .result()
      .locator("div", { hasText: /^Waiting/ })
      .last();
    const size = await page.getByTestId("preview-size").innerText();
    expect(await waiting.innerText()).toContain(size);
    const lots = Math.floor((321.99 * 5) / Number(price) / 0.00001 + 1e-9);
    expect(size).toBe(`${(lots / 100_000).toFixed(5)} BTC`);
    await opened.tab(/Open orders \(1\)/);
    await opened.cancelAll();
    await page.getByText("No open orders.").waitFor();
    await opened.untilAvailable((dollars) => dollars === 10_000);

    const alert = page.getByRole("form", { name: "Order" }).getByRole("alert");
    await opened.order("Limit", "Buy / Long", { margin: "15000", price: "50000" });
    await alert.getByText("Not enough funds").waitFor();
    await opened.inspect("refusal", "section.trade");
    // It is gone with its cause.
    const margin = page.getByRole("textbox", { name: "Margin" });
    await margin.fill("14000");
    await alert.waitFor({ state: "detached" });
    await margin.fill("15000");
    await alert.getByText("Not enough funds").waitFor();
    await page.getByRole("banner").getByRole("button", { name: "Deposit" }).click();
    await page.getByRole("button", { name: "Get 10,000 test dollars" }).click();
    await opened.untilAvailable((dollars) => dollars === 20_000);
    await alert.waitFor({ state: "detached" });
    await opened.order("Limit", "Buy / Long", { margin: "20000", price: "50000" });
    await alert.getByRole("button", { name: /^Use / }).click();
    expect(await page.getByRole("textbox", { name: "Margin" }).inputValue()).toBe("19950.12");
    await page.getByRole("button", { name: "Buy / Long BTC" }).click();
    await opened.tab(/Open orders \(1\)/);
    opened.expectClean();
  });
}
