/** The order form: amounts, Max, slippage, confirmation, problems of fields. */

import type { Page } from "playwright-core";
import { expect } from "vitest";
import { GatewayProcess } from "../gateway-process.js";
import type { PageTest } from "../page-test.js";
import { OFFLINE, POLL, type TradingPage } from "../trading-page.js";
import { offerTo, tickerOf } from "../venue-reads.js";

export function orderFormTests(test: PageTest): void {
  test("market order: shows its slippage and ends at the trader's worst price", async ({
    enter,
  }) => {
    const { opened, page } = await enter();
    await page.getByRole("textbox", { name: "Leverage ×" }).fill("50");
    await page.getByRole("textbox", { name: "Margin" }).fill("9000");
    const slippage = page.getByTestId("preview-slippage");
    await expect.poll(() => slippage.innerText(), POLL).toMatch(/^\+0\.\d{3}% · \d/);
    await page.getByTestId("order-note").getByText("High slippage").waitFor();
    await page.getByText("More options").click();
    await page.getByRole("textbox", { name: "Max. slippage" }).fill("x");
    await page.getByText("Enter a percentage up to 50").waitFor();
    await page.getByRole("button", { name: "Correct the max. slippage", disabled: true }).waitFor();
    await opened.inspect("form-market-options", "section.trade");
    await expectSubmitInView(opened);
    await page.setViewportSize({ width: 1280, height: 720 });
    await expectSubmitInView(opened);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("textbox", { name: "Max. slippage" }).fill("0.01");
    await page.getByTestId("order-note").getByText("within 0.01% of the mark").waitFor();
    await page.getByRole("textbox", { name: "Confirm orders above" }).fill("");
    // No empty band where results will be.
    expect(await page.locator(".results").isVisible()).toBe(false);
    await submit(opened);
    await opened.result().getByText("beyond the worst price you allowed").waitFor();
    // The limit is kept.
    await page.reload();
    await opened.untilLive();
    await page.getByText("slippage up to 0.01%").waitFor();
    opened.expectClean();
  });

  test("form: marks what is no number or between two steps; asks above the trader's threshold", async ({
    enter,
  }) => {
    const { opened, page } = await enter();
    const button = page.getByRole("form", { name: "Order" }).locator("button[type=submit]");
    const margin = page.getByRole("textbox", { name: "Margin" });
    await margin.fill("abc");
    await page.getByText("Enter a positive number").waitFor();
    expect(await margin.getAttribute("aria-invalid")).toBe("true");
    expect(await button.isDisabled()).toBe(true);
    // No number takes the form away, however long it is.
    for (const digits of [30, 400]) {
      await margin.fill("9".repeat(digits));
      await page.getByText("Too large").waitFor();
    }
    await page.getByRole("combobox", { name: "Amount in" }).selectOption("size");
    await page.getByRole("textbox", { name: "Size" }).fill("999999999");
    expect(await button.isVisible()).toBe(true);
    await page.getByRole("combobox", { name: "Amount in" }).selectOption("margin");
    await margin.fill("100");
    await page.getByText("Limit", { exact: true }).click();
    await page.getByRole("textbox", { name: "Price" }).fill("50000.05");
    await page.getByText("Use a multiple of 0.1").waitFor();
    expect(await button.isDisabled()).toBe(true);
    expect(await button.innerText()).toBe("Correct the price");
    await page.getByRole("textbox", { name: "Price" }).fill("50000");
    await page.getByRole("textbox", { name: "Leverage ×" }).fill("2.5");
    await page.getByText("A whole number, 1 to 50").waitFor();
    await opened.inspect("form-problems", "section.trade");
    await page.getByRole("textbox", { name: "Leverage ×" }).fill("3");
    expect(await page.getByRole("slider", { name: "Leverage", exact: true }).inputValue()).toBe(
      "3",
    );
    const reduceOnly = page.getByText("Reduce-only", { exact: true });
    await reduceOnly.click();
    const note = page.getByTestId("order-note");
    await note.getByText("there is no short position to reduce").waitFor();
    expect(await page.getByText("Less than one lot").count()).toBe(0);
    expect(await button.innerText()).toBe("Nothing to reduce");
    await reduceOnly.click();

    await page.getByText("More options").click();
    await page.getByRole("textbox", { name: "Confirm orders above" }).fill("500");
    await opened.order("Market", "Buy / Long", { margin: "200" });
    const dialog = page.getByRole("dialog", { name: "Confirm the order" });
    await dialog.getByText("Worst price").waitFor();
    await opened.inspect("form-confirm", "dialog");
    await dialog.getByRole("button", { name: "Back" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await opened.result().count()).toBe(0);
    await submit(opened);
    const worst = dialog.locator("div", { hasText: "Worst price" }).last();
    const asked = await worst.innerText();
    await expect.poll(() => worst.innerText(), POLL).not.toBe(asked);
    await page.context().setOffline(true);
    await dialog.getByRole("button", { name: "Offline", disabled: true }).waitFor();
    await page.context().setOffline(false);
    await dialog.getByRole("button", { name: "Buy now" }).click();
    await opened.result().getByText("Buy market filled").waitFor();
    opened.expectClean(OFFLINE);
  });

  test("change of an open order: asks above the trader's threshold; a cancel that was pressed is no notice", async ({
    enter,
  }) => {
    const { opened, page } = await enter();
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "50000" });
    await opened.tab(/Open orders \(1\)/);
    await page.getByText("More options").click();
    await page.getByRole("textbox", { name: "Confirm orders above" }).fill("500");
    const change = async (price: string) => {
      await page.getByRole("button", { name: /^Amend order/ }).click();
      await page.getByRole("textbox", { name: /New price of order/ }).fill(price);
      await opened.press(page.getByRole("button", { name: /^Save order/ }));
    };
    const row = page.getByRole("row").filter({ hasText: "Buy limit" });
    // 0.01 BTC.
    await change("49000");
    await row.getByText("49,000.0").waitFor();
    await change("55000");
    const question = page.getByRole("dialog", { name: "Change the order" });
    await question.getByText("550.00").waitFor();
    await opened.inspect("amend-confirm", "dialog");
    await question.getByRole("button", { name: "Back" }).click();
    await opened.press(page.getByRole("button", { name: /^Save order/ }));
    await opened.press(question.getByRole("button", { name: "Change" }));
    await row.getByText("55,000.0").waitFor();
    await opened.cancelAll();
    await page.getByText("No open orders.").waitFor();
    await page.locator(".toast", { hasText: "1 order canceled" }).waitFor();
    expect(await page.locator(".toast", { hasText: "Canceled: BTCUSD" }).count()).toBe(0);
    opened.expectClean();
  });

  test("price buttons, exits in percent and scale orders: what is shown is what the venue has", async ({
    enter,
    venueUrl,
  }) => {
    const { opened, page } = await enter();
    const form = page.getByRole("form", { name: "Order" });
    await form.getByText("Limit", { exact: true }).click();
    const price = form.getByRole("textbox", { name: "Price", exact: true });
    for (const source of ["bid", "mid", "ask", "last", "mark"]) {
      await price.fill("");
      await form.getByRole("button", { name: `Price from ${source}` }).click();
      expect(Number(await price.inputValue()), source).toBeGreaterThan(0);
    }
    const { mark } = await tickerOf(venueUrl);
    const at = Math.round(mark * 0.9);
    await price.fill(String(at));
    const share = form.getByRole("slider", { name: "Share of the largest order" });
    await share.fill("10");
    await expect
      .poll(() => form.getByRole("textbox", { name: "Margin" }).inputValue())
      .toMatch(/^99\d\./);
    await form.getByText("TP / SL").click();
    await form.getByText("ROI %", { exact: true }).click();
    await form.getByRole("textbox", { name: "Take profit" }).fill("50");
    await form.getByRole("textbox", { name: "Stop loss" }).fill("25");
    await opened.inspect("form-exits-percent", "section.trade");
    await opened.press(form.locator("button[type=submit]"));
    await opened.result().getByText("Buy limit resting").waitFor();
    await opened.tab(/Open orders \(3\)/);
    const rowOf = (text: string) => page.getByRole("row").filter({ hasText: text });
    const priceIn = async (text: string) => {
      const shown = await rowOf(text).locator('[data-title="Price"]').innerText();
      return Number(shown.replaceAll(/[^\d.]/g, ""));
    };
    // With 5×, half of the margin is a tenth of the price.
    expect(Math.abs((await priceIn("Sell take profit")) - at * 1.1)).toBeLessThan(0.2);
    expect(Math.abs((await priceIn("Sell stop loss")) - at * 0.95)).toBeLessThan(0.2);

    await form.getByText("More options").click();
    await form.getByRole("button", { name: "Scale orders…" }).click();
    const dialog = page.getByRole("dialog", { name: "Scale orders" });
    await dialog.getByRole("textbox", { name: "First price" }).fill(String(at - 100));
    await dialog.getByRole("textbox", { name: "Last price" }).fill(String(at - 500));
    await dialog.getByRole("textbox", { name: "Together" }).fill("500");
    const rows = dialog.getByRole("list", { name: "Orders" }).getByRole("listitem");
    const planned = await rows.allInnerTexts();
    expect(planned).toHaveLength(5);
    await opened.inspect("scale-orders", "dialog");
    await dialog.getByRole("button", { name: "Place 5 orders" }).click();
    await page.locator(".toast", { hasText: "5 of 5 orders placed" }).waitFor();
    await opened.tab(/Open orders \(8\)/);
    const shown: string[] = [];
    for (const row of await rowOf("Post").all()) {
      const cell = (title: string) => row.locator(`[data-title="${title}"]`).innerText();
      const [, size = ""] = (await cell("Filled / size")).split(" / ");
      shown.push(`${await cell("Price")} ${size}`);
    }
    expect(shown.sort()).toEqual(planned.map((text) => text.replace(/\s+/, " ")).sort());
    opened.expectClean();
  });

  test("limit order with expiry, take profit and stop loss: exits of its own; refused while another market is shown: a toast says so", async ({
    enter,
    venueUrl,
  }) => {
    let isHeld = false;
    let release: () => void = () => undefined;
    const prepare = (prepared: Page) =>
      prepared.routeWebSocket(/\/ws\//, (socket) => {
        const server = socket.connectToServer();
        socket.onMessage((message) => {
          const send = () => server.send(message);
          if (isHeld && String(message).includes('"op":"order"')) release = send;
          else send();
        });
      });
    const { opened, page } = await enter({ prepare });
    // An expiry counts from the venue's time, not from a clock that the user may set.
    await page.evaluate("{ const now = Date.now; Date.now = () => now() - 172_800_000; }");
    const { mark } = await tickerOf(venueUrl);
    const price = Math.round(mark * 0.95);
    await page.getByText("Limit", { exact: true }).click();
    await page.getByText("TP / SL").click();
    await page.getByRole("textbox", { name: "Take profit" }).fill(String(price + 500));
    await page.getByText("More options").click();
    await page.getByRole("combobox", { name: "Expires" }).selectOption({ label: "In 1 day" });
    await page.getByRole("textbox", { name: "Price" }).fill(String(price));
    await page.getByRole("textbox", { name: "Stop loss" }).fill(String(price + 10));
    await page.getByText("Must be below the price").waitFor();
    await opened.inspect("form-exits", "section.trade");
    await page.getByRole("textbox", { name: "Stop loss" }).fill(String(price - 500));
    const confirmAbove = page.getByRole("textbox", { name: "Confirm orders above" });
    await confirmAbove.fill("100");
    await opened.order("Limit", "Buy / Long", { margin: "100" });
    const dialog = page.getByRole("dialog", { name: "Confirm the order" });
    const fact = (label: string) => dialog.locator("div", { hasText: label }).last().innerText();
    expect(await fact("Take profit")).toContain((price + 500).toLocaleString("en-US"));
    expect(await fact("Stop loss")).toContain((price - 500).toLocaleString("en-US"));
    await dialog.getByRole("button", { name: "Buy now" }).click();
    await confirmAbove.fill("");
    await opened.result().getByText("Buy limit resting").waitFor();
    await opened.tab(/Open orders \(3\)/);
    const rowOf = (text: string) => page.getByRole("row").filter({ hasText: text });
    await rowOf("Sell take profit").getByText("mark ≥").waitFor();
    await rowOf("Sell stop loss").getByText("mark ≤").waitFor();
    await rowOf("Sell stop loss")
      .getByText(/^Exit of \d+$/)
      .waitFor();
    expect(await rowOf("Buy limit").locator('[data-title="Expires"]').innerText()).toMatch(/\d:/);
    // All or none, at a price that nobody offers.
    await page.getByText("All or none").click();
    await page.getByText("TP / SL").click();
    await opened.order("Limit", "Buy / Long", { margin: "100" });
    await opened.result().getByText("Buy limit canceled").waitFor();
    // A take-profit order with a limit.
    await page.getByText("Stop", { exact: true }).click();
    await page.getByText("As a take profit").click();
    await page.getByRole("textbox", { name: "Limit once triggered" }).fill(String(price + 10));
    await opened.inspect("form-stop-options", "section.trade");
    await opened.order("Stop", "Buy / Long", { margin: "100" });
    await rowOf("Buy take profit").getByText("mark ≤").waitFor();
    const limit = `Limit ${(price + 10).toLocaleString("en-US")}.0`;
    await rowOf("Buy take profit").getByText(limit, { exact: true }).waitFor();
    // The form whose order is refused is gone when the answer arrives.
    const form = page.getByRole("form", { name: "Order" });
    await form.getByText("Limit", { exact: true }).click();
    await form.getByText("Until canceled").click();
    isHeld = true;
    await opened.order("Limit", "Buy / Long", { margin: "15000" });
    await page.getByRole("button", { name: /Market: BTCUSD/ }).click();
    await page.getByRole("button", { name: /^ETHUSD/ }).click();
    await page.getByRole("button", { name: /Market: ETHUSD/ }).waitFor();
    release();
    await page.locator(".toast", { hasText: "Not enough funds" }).waitFor();
    opened.expectClean();
  });
}

/** In a market that stands still: in one that moves, a part of the largest order may find no funds. */
export function largestOrderTests(test: PageTest): void {
  test("Max: fills as promised, in dollars and in coins", async ({
    open,
    pageFolder,
    onTestFinished,
  }) => {
    const settings = { markets: { BTCUSD: { index: { annualVolatility: 0 } } } };
    const venue = new GatewayProcess({ page: pageFolder, settings });
    onTestFinished(() => venue.remove());
    await venue.start();
    for (const [leverage, unit] of [
      ["5", "value"],
      ["50", "size"],
    ] as const) {
      await offerTo(venue.url, onTestFinished);
      const opened = await open({ url: venue.url });
      const { page } = opened;
      await opened.signInWithBurner();
      await page.getByText("More options").click();
      await page.getByRole("textbox", { name: "Confirm orders above" }).fill("");
      await page.getByRole("textbox", { name: "Leverage ×" }).fill(leverage);
      await page.getByRole("combobox", { name: "Amount in" }).selectOption(unit);
      await page.getByRole("button", { name: "Max", exact: true }).click();
      await page.locator("button[type=submit]:enabled").waitFor();
      const left = Number.parseFloat(
        (await page.getByTestId("preview-left").innerText()).replace(",", ""),
      );
      await submit(opened);
      await opened.result().getByText("Buy market filled", { exact: true }).waitFor();
      await opened.untilAvailable((dollars) => dollars === left);
      opened.expectClean();
      await page.close();
    }
  });
}

/** With all options open, without scrolling. */
async function expectSubmitInView({ page }: TradingPage): Promise<void> {
  const button = page.getByRole("form", { name: "Order" }).locator("button[type=submit]");
  const isInView = async () => {
    const box = await button.boundingBox();
    const bottom = box === null ? Number.NaN : box.y + box.height;
    return bottom <= (page.viewportSize()?.height ?? 0);
  };
  await expect.poll(isInView, POLL).toBe(true);
}

async function submit(opened: TradingPage): Promise<void> {
  await opened.page.getByRole("form", { name: "Order" }).locator("button[type=submit]").click();
}
