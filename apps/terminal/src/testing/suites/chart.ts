/** The candle chart: figures, studies, and orders that are dragged. */

import type { Page } from "playwright-core";
import { expect } from "vitest";
import { Finger, type Point } from "../finger.js";
import type { PageTest } from "../page-test.js";
import { intercept, POLL } from "../trading-page.js";
import { tickerOf } from "../venue-reads.js";

export function chartTests(test: PageTest): void {
  test("chart: shows the candle's figures; an order is amended by dragging its line", async ({
    enter,
    venueUrl,
  }) => {
    const { opened, page } = await enter();
    const legend = page.getByTestId("legend");
    await expect.poll(() => legend.innerText(), POLL).toMatch(/^O [\d,.]+\s+H .+L .+C .+Vol /s);
    await page.getByRole("button", { name: "Studies", exact: true }).click();
    for (const name of [/^Moving averages/, /RSI/, "Mark price"]) {
      await page.getByRole("checkbox", { name }).check();
    }
    await opened.inspect("studies", "dialog");
    await page.getByRole("button", { name: "Close", exact: true }).click();
    const chosen = /MA 7 .+MA 25 .+RSI 14 .+Mark [\d,.]+/s;
    await expect.poll(() => legend.innerText(), POLL).toMatch(chosen);
    await page.getByRole("button", { name: "Studies (3)" }).click();
    await page.getByRole("checkbox", { name: /RSI/ }).uncheck();
    await page.keyboard.press("Escape");
    await expect.poll(() => legend.innerText(), POLL).not.toContain("RSI");
    await page
      .getByTestId("chart-begin")
      .getByText(/^From the first trade, \d/)
      .waitFor();
    const { mark } = await tickerOf(venueUrl);
    const price = Math.round(mark * 0.996);
    await opened.order("Limit", "Buy / Long", { margin: "100", price: String(price) });
    await opened.tab(/Open orders \(1\)/);
    const shown = page.locator('td[data-title="Price"]');
    const priceNow = async () => Number((await shown.innerText()).replace(",", ""));
    expect(await priceNow()).toBe(price);
    await opened.inspect("chart-order", "section.chart");

    const { x, y } = await lineOfOrder(page);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y + 20, { steps: 4 });
    await page.keyboard.press("Escape");
    await page.mouse.up();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let amendments = 0;
    const endHolding = await intercept(page, "**/amend", async (route) => {
      amendments++;
      await held;
      await route.continue();
    });
    await drag(page, { x, y }, y + 20);
    await expect.poll(() => amendments, POLL).toBe(1);
    // Dropped at another price before the first answer: nothing is sent, nothing overtakes.
    await drag(page, await lineOfOrder(page), y + 30);
    await page.getByText("Still waiting for an answer").waitFor();
    release();
    await expect.poll(priceNow, POLL).toBeLessThan(price);
    expect(await priceNow()).toBeGreaterThan(price * 0.98);
    expect(amendments).toBe(1);
    await endHolding();

    // A finger on the line scrolls; one on its handle moves it, and is asked.
    const moved = await priceNow();
    amendments = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/amend")) amendments++;
    });
    const finger = await Finger.on(page);
    const scrolled = await lineOfOrder(page);
    await finger.drag({ ...scrolled, x: scrolled.x - 200 }, { y: 20 });
    const handle = await lineOfOrder(page);
    await finger.drag(handle, { y: 20 });
    const question = page.getByRole("dialog", { name: "Move the order" });
    await question.getByText("New price").waitFor();
    await opened.inspect("chart-move", "dialog");
    await question.getByRole("button", { name: "Back" }).click();
    expect([await priceNow(), amendments]).toEqual([moved, 0]);
    const again = await lineOfOrder(page);
    await finger.drag(again, { y: handle.y + 20 - again.y });
    await question.getByRole("button", { name: "Move" }).click();
    await expect.poll(priceNow, POLL).toBeLessThan(moved);
    expect(amendments).toBe(1);
    await finger.lift();

    // Beyond the best ask it would fill: it stays where it is.
    const movedAgain = await priceNow();
    const line = await lineOfOrder(page);
    const top = (await page.locator(".candles").boundingBox())?.y ?? 0;
    await drag(page, line, top + 2);
    await page.getByText("it would fill immediately").waitFor();
    expect(await priceNow()).toBe(movedAgain);
    opened.expectClean();
  });
}

async function drag(page: Page, from: Point, toY: number): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x, toY, { steps: 4 });
  await page.mouse.up();
}

/** Runs inside the page: the chart is a canvas, so the cursor says where a line can be taken. */
const FIND_LINE = `(chart) => {
  const { top, height } = chart.getBoundingClientRect();
  const x = chart.querySelectorAll("td")[1].getBoundingClientRect().right - 20;
  for (let y = top + 4; y < top + height; y += 2) {
    const event = { clientX: x, clientY: y, bubbles: true, pointerType: "mouse" };
    chart.dispatchEvent(new PointerEvent("pointermove", event));
    if (chart.style.cursor === "ns-resize") return { x, y: y + 2 };
  }
}`;

async function lineOfOrder(page: Page): Promise<Point> {
  const find = () =>
    page.evaluate<Point | undefined>(`(${FIND_LINE})(document.querySelector(".candles"))`);
  await expect.poll(find, POLL).toBeDefined();
  const found = await find();
  if (found === undefined) throw new Error("the line is gone");
  return found;
}
