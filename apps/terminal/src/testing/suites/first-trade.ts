/** What the page is for: from a first visit to a closed position. `npm test` runs it alone. */

import { expect } from "vitest";
import type { PageTest } from "../page-test.js";

export function firstTradeTests(test: PageTest): void {
  test("burner key: sign in, deposit, market order, limit and cancel, stop, close", async ({
    open,
  }) => {
    const opened = await open();
    const { page } = opened;
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await opened.inspect("sign-in", "dialog");
    await page.keyboard.press("Escape");
    await opened.signInWithBurner();
    expect(await opened.available()).toBe(10_000);

    await page.getByRole("banner").getByRole("button", { name: "Deposit" }).click();
    await opened.inspect("deposit", "dialog");
    await page.getByRole("button", { name: "Get 10,000 test dollars" }).click();
    await opened.untilAvailable((dollars) => dollars === 20_000);
    await opened.tab(/Deposits/);
    await page.getByText("credited", { exact: true }).waitFor();

    await opened.order("Market", "Buy / Long", { margin: "200" });
    await opened.result().getByText("Buy market filled").waitFor();
    expect(await page.getByTestId("result-server-ms").innerText()).toMatch(/^[\d.,]+ ms$/);
    expect(await page.getByTestId("result-browser-ms").innerText()).toMatch(/^[\d.,]+ ms$/);
    const tick = opened.result().locator('[data-seal="proven"]');
    await tick.waitFor();
    expect(await tick.getAttribute("title")).toMatch(/^Verified in this page/);
    // This venue has no witness.
    await opened.result().locator('[data-witness="logged"]').waitFor();
    await opened.tab(/Positions \(1\)/);
    const position = page.getByRole("row").filter({ hasText: "Long 5.0×" });
    await position.waitFor();

    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await opened.result().getByText("Buy limit resting").waitFor();
    await opened.tab(/Open orders \(1\)/);
    await opened.order("Stop", "Sell / Short", { margin: "100", price: "55000" });
    await opened.result().getByText("Sell stop waiting for its trigger").waitFor();
    await opened.tab(/Open orders \(2\)/);
    await page.getByText("mark ≤ 55,000.0").waitFor();
    await opened.inspect("trading-1440-dark");
    await page.emulateMedia({ colorScheme: "light" });
    await opened.inspect("trading-1440-light");

    const limit = page.getByRole("row").filter({ hasText: "Buy limit" });
    await limit.getByRole("button", { name: /Cancel order/ }).click();
    await opened.tab(/Open orders \(1\)/);
    await opened.cancelAll();
    await page.getByText("1 order canceled").waitFor();
    await page.getByText("No open orders.").waitFor();

    await opened.tab(/Positions \(1\)/);
    await page.getByRole("button", { name: "Close BTCUSD at the market" }).click();
    await opened.press(page.getByRole("button", { name: "Close 1 position" }));
    await page.getByText("No open positions.").waitFor();
    await opened.result().getByText("Sell market filled").waitFor();
    await opened.tab(/Fills/);
    await page.getByRole("row").filter({ hasText: "taker" }).nth(1).waitFor();
    await page.setViewportSize({ width: 380, height: 760 });
    await page.getByRole("navigation", { name: "Views" }).getByText("Portfolio").click();
    await opened.inspect("trading-380-fills");
    opened.expectClean();
  });
}
