/** What can be done with positions and open orders, and the account's history. */

import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { PageTest } from "../page-test.js";
import { injectWallet } from "../test-wallet.js";
import { POLL } from "../trading-page.js";
import { tickerOf } from "../venue-reads.js";

export function positionTests(test: PageTest): void {
  test("position at 1280 × 720: room for Close and eight rows of the book; limit and partial close, margin, take profit and stop loss, close all", async ({
    open,
    venueUrl,
    onTestFinished,
  }) => {
    const account = privateKeyAccount(newPrivateKey());
    const prepare = (page: Page) => injectWallet(page, account);
    const opened = await open({ width: 1280, height: 720, prepare });
    const { page } = opened;
    await opened.signInWithWallet(account.address);
    await opened.order("Market", "Buy / Long", { margin: "1000" });
    const close = page.getByRole("button", { name: "Close BTCUSD at the market" });
    await close.waitFor();
    const box = await close.boundingBox();
    const panel = await page.getByRole("region", { name: "Portfolio" }).boundingBox();
    const rightOf = (each: typeof box) => (each === null ? Number.NaN : each.x + each.width);
    expect(rightOf(box)).toBeLessThanOrEqual(rightOf(panel));
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(720);
    const rows = () => page.locator(".ladder-row.bid").filter({ hasText: /\d/ }).count();
    await expect.poll(rows, POLL).toBeGreaterThanOrEqual(8);
    await opened.inspect("compact-1280-book");
    await page.getByText("Trades", { exact: true }).first().click();
    await page.locator(".tape-row").filter({ hasText: /\d/ }).first().waitFor();
    expect(await page.locator(".ladder").isVisible()).toBe(false);
    await opened.inspect("compact-1280-trades", "main");
    // A ladder that was hidden is still one tab stop.
    await page.getByText("Book", { exact: true }).first().click();
    await page.locator('.ladder-row[tabindex="0"]').filter({ hasText: /\d/ }).waitFor();

    const { mark } = await tickerOf(venueUrl);
    const sizeOf = async () =>
      Number(await page.locator('td[data-title="Size"]').first().innerText());
    const size = await sizeOf();
    await page.getByRole("button", { name: "Manage BTCUSD" }).click();
    const dialog = page.getByRole("dialog", { name: "BTCUSD position" });
    await dialog.getByRole("button", { name: "50%" }).click();
    await opened.inspect("position-close", "dialog");
    await dialog.getByRole("button", { name: /^Close 0/ }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(sizeOf, POLL).toBeCloseTo(size / 2, 4);

    await page.getByRole("button", { name: "Manage BTCUSD" }).click();
    await dialog.getByText("Limit", { exact: true }).click();
    await dialog.getByRole("textbox", { name: "Price" }).fill(String(Math.round(mark * 1.05)));
    await dialog.getByRole("button", { name: /^Close 0/ }).click();
    await opened.tab(/Open orders \(1\)/);
    await page.getByRole("row").filter({ hasText: "Sell limit" }).getByText("Reduce").waitFor();

    await opened.tab(/Positions \(1\)/);
    const margin = async () =>
      Number((await page.locator('td[data-title="Margin"]').first().innerText()).replace(",", ""));
    const before = await margin();
    await page.getByRole("button", { name: "Manage BTCUSD" }).click();
    await dialog.getByRole("tab", { name: "Margin" }).click();
    await dialog.getByRole("textbox", { name: "Amount" }).fill("9".repeat(30));
    await dialog.getByText("Too large").waitFor();
    await dialog.getByRole("textbox", { name: "Amount" }).fill("250");
    await opened.inspect("position-margin", "dialog");
    await dialog.getByRole("button", { name: "Add margin" }).click();
    await expect.poll(margin, POLL).toBeCloseTo(before + 250, 0);
    await page.getByRole("button", { name: "Manage BTCUSD" }).click();
    await dialog.getByRole("tab", { name: "Margin" }).click();
    await dialog.getByText("Remove", { exact: true }).click();
    await dialog.getByRole("textbox", { name: "Amount" }).fill("99999");
    await dialog.getByText(/^At most/).waitFor();
    await dialog.getByRole("button", { name: "Max" }).click();
    await dialog.getByRole("button", { name: "Remove margin" }).click();
    await expect.poll(margin, POLL).toBeLessThan(before);

    await page.getByRole("button", { name: "Manage BTCUSD" }).click();
    await dialog.getByRole("tab", { name: /Take profit/ }).click();
    const [profit, loss] = [Math.round(mark * 1.08), Math.round(mark * 0.99)];
    await dialog.getByRole("textbox", { name: "Take profit" }).fill(String(loss));
    await dialog.getByText("Must be above the mark").waitFor();
    await opened.inspect("position-protect", "dialog");
    await dialog.getByRole("textbox", { name: "Take profit" }).fill(String(profit));
    await dialog.getByRole("textbox", { name: "Stop loss" }).fill(String(Math.round(mark / 2)));
    await dialog.getByText("beyond the liquidation price").waitFor();
    await dialog.getByRole("textbox", { name: "Stop loss" }).fill(String(loss));
    await dialog.getByRole("button", { name: "Save" }).click();
    const exits = page.locator('td[data-title="TP / SL"]');
    const untilExits = (...prices: number[]) =>
      expect
        .poll(() => exits.innerText(), POLL)
        .toBe(prices.map((price) => `${price.toLocaleString("en-US")}.0`).join(" / "));
    await untilExits(profit, loss);

    // A stop that is changed elsewhere while the form is open is left as it is.
    await page.getByRole("button", { name: "Manage BTCUSD" }).click();
    await dialog.getByRole("tab", { name: /Take profit/ }).click();
    await dialog.getByRole("textbox", { name: "Stop loss" }).waitFor();
    const client = new PerpgateClient({ url: venueUrl });
    onTestFinished(() => client.close());
    const elsewhere = await client.signIn({ account });
    await elsewhere.protect({ symbol: "BTCUSD", side: "long", stopLoss: loss - 100 });
    await untilExits(profit, loss - 100);
    await dialog.getByRole("textbox", { name: "Take profit" }).fill(String(profit + 100));
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await untilExits(profit + 100, loss - 100);

    // The order that reduces is canceled, the exits stay.
    await opened.tab(/Open orders \(3\)/);
    await page.getByRole("button", { name: "Cancel all" }).click();
    await page.getByText("2 exits of your positions").waitFor();
    await opened.inspect("orders-cancel-all", "dialog");
    await page.getByRole("button", { name: "Cancel 1 order", exact: true }).click();
    await opened.tab(/Open orders \(2\)/);
    await opened.tab(/Positions \(1\)/);
    await page.getByRole("button", { name: "Close all" }).click();
    await page.getByRole("dialog").getByText("Unrealised PnL").waitFor();
    await opened.inspect("positions-close-all", "dialog");
    await page.getByRole("button", { name: "Close 1 position" }).click();
    await page.getByText("No open positions.").waitFor();
    // The exits end with the position.
    await opened.tab(/^Open orders$/);
    await page.getByText("No open orders.").waitFor();
    opened.expectClean();
  });

  test("orders: amended in place; orders, funding and ledger in the history", async ({ enter }) => {
    const { opened, page } = await enter();
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await opened.tab(/Open orders \(1\)/);
    await page.getByRole("button", { name: /Amend order/ }).click();
    const price = page.getByRole("textbox", { name: /New price of order/ });
    await price.fill("9".repeat(30));
    expect(await price.getAttribute("title")).toBe("Too large");
    await price.fill("60000.05");
    expect(await price.getAttribute("aria-invalid")).toBe("true");
    await opened.inspect("orders-amend", "section.portfolio");
    await price.fill("59000");
    const size = page.getByRole("textbox", { name: /New size of order/ });
    await size.fill("");
    expect(await page.getByRole("button", { name: /Save order/ }).isDisabled()).toBe(true);
    await size.fill("0.01");
    const save = page.getByRole("button", { name: /Save order/ });
    await expect.poll(() => save.isEnabled(), POLL).toBe(true);
    const row = page.getByRole("row").filter({ hasText: "Buy limit" });
    await size.press("Enter");
    await row.getByText("59,000.0").waitFor();
    await row.getByText("0.00000 / 0.01000").waitFor();
    // The keyboard goes on where it was.
    const focused = page.locator(":focus");
    await expect.poll(() => focused.getAttribute("aria-label"), POLL).toMatch(/^Amend order/);
    await page.getByText("More options").click();
    await page.getByRole("textbox", { name: "Confirm orders above" }).fill("");
    await page.getByRole("textbox", { name: "Leverage ×" }).fill("50");
    await opened.order("Market", "Buy / Long", { margin: "300" });
    await opened
      .result()
      .getByText(/Buy market (partly )?filled/)
      .waitFor();
    await opened.tab(/History/);
    await page.getByRole("row").filter({ hasText: "resting" }).waitFor();
    await page.getByRole("row").filter({ hasText: "Buy market" }).waitFor();
    await opened.inspect("history-orders", "section.portfolio");
    await page.getByText("Funding", { exact: true }).click();
    await page.getByText("No funding yet.").waitFor();
    await page.getByText("Ledger", { exact: true }).click();
    // However thin the book is: enough orders, and so fees, for a second page.
    const fees = page.getByRole("row").filter({ hasText: "Fee" });
    const isEnough = async () => {
      if ((await fees.count()) > 50) return true;
      await opened.order("Market", "Buy / Long", { margin: "150" });
      return false;
    };
    await expect.poll(isEnough, { ...POLL, interval: 700 }).toBe(true);
    await page.getByText("Funding", { exact: true }).click();
    await page.getByText("Ledger", { exact: true }).click();
    const older = page.getByRole("button", { name: "Older" });
    await older.waitFor();
    await opened.inspect("history-ledger", "section.portfolio");
    while ((await older.count()) > 0) {
      const before = await fees.count();
      await older.click();
      await expect
        .poll(async () => (await fees.count()) > before || (await older.count()) === 0, POLL)
        .toBe(true);
    }
    await page.getByRole("row").filter({ hasText: "Test dollars" }).waitFor();
    opened.expectClean();
  });
}
