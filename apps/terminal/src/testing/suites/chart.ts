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
    const question = page.getByRole("dialog", { name: "Change the order" });
    await question.getByText("New price").waitFor();
    await opened.inspect("chart-move", "dialog");
    await question.getByRole("button", { name: "Back" }).click();
    expect([await priceNow(), amendments]).toEqual([moved, 0]);
    const again = await lineOfOrder(page);
    await finger.drag(again, { y: handle.y + 20 - again.y });
    await question.getByRole("button", { name: "Change" }).click();
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

  test("chart: drawings are placed with the mouse and by figures, and found again by market; other candle lengths", async ({
    open,
    venueUrl,
  }) => {
    const opened = await open();
    const { page } = opened;
    await page.getByTestId("legend").getByText(/^O /).first().waitFor();
    const levels = () => page.evaluate<number>(DRAWN_LEVELS);
    expect(await levels()).toBe(0);
    await page.getByRole("button", { name: "Draw", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Drawings of BTCUSD" });
    const kind = (name: string) => dialog.getByText(name, { exact: true }).first().click();
    const { mark } = await tickerOf(venueUrl);
    await dialog.getByRole("button", { name: "Add at this price" }).click();
    await dialog.getByText("Enter a price").waitFor();
    await dialog.getByRole("textbox", { name: "Price" }).fill(String(Math.round(mark)));
    await dialog.getByRole("button", { name: "Add at this price" }).click();
    const rows = dialog.getByRole("list", { name: "Drawings" }).getByRole("listitem");
    await expect.poll(() => rows.count(), POLL).toBe(1);
    await kind("Fib");
    await dialog.getByRole("textbox", { name: "Price", exact: true }).fill("60000");
    await dialog.getByRole("textbox", { name: "Second price" }).fill("61000");
    await dialog.getByRole("button", { name: "Add at these prices" }).click();
    await dialog.getByText("Fib 60,000.0 – 61,000.0").waitFor();
    await opened.inspect("drawings", "dialog");
    await kind("Text");
    expect(await dialog.getByRole("button", { name: "Place on the chart" }).isDisabled()).toBe(
      true,
    );
    await dialog.getByRole("textbox", { name: "Text" }).fill("here it turned");
    await dialog.getByRole("button", { name: "Place on the chart" }).click();
    const hint = page.getByText("Press on the chart.");
    await hint.waitFor();
    await page.keyboard.press("Escape");
    await hint.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Draw (2)" }).click();
    await kind("Line");
    await dialog.getByRole("button", { name: "Place on the chart" }).click();
    await page.getByText("Press on the chart twice.").waitFor();
    const box = await page.locator(".candles").boundingBox();
    const at = (x: number, y: number): readonly [number, number] => [
      (box?.x ?? 0) + x * (box?.width ?? 0),
      (box?.y ?? 0) + y * (box?.height ?? 0),
    ];
    await page.mouse.click(...at(0.2, 0.3));
    await page.mouse.move(...at(0.4, 0.4));
    await opened.inspect("drawings-placing", "section.chart");
    await page.mouse.click(...at(0.6, 0.5));
    await page.getByRole("button", { name: "Draw (3)" }).waitFor();
    expect(await hint.count()).toBe(0);

    await page.reload();
    await opened.untilLive();
    await page.getByRole("button", { name: "Draw (3)" }).waitFor();
    await expect.poll(levels, POLL).toBe(1);
    await page.getByRole("combobox", { name: "Other candle lengths" }).selectOption("3m");
    await page.getByRole("img", { name: "BTCUSD candles of 3m" }).waitFor();
    await page.getByTestId("legend").getByText(/^O /).first().waitFor();
    await expect.poll(levels, POLL).toBe(1);
    await page.getByText("5m", { exact: true }).click();
    await page.getByRole("img", { name: "BTCUSD candles of 5m" }).waitFor();

    // Another market has its own.
    await page.evaluate("location.hash = 'ETHUSD'");
    await page.getByRole("img", { name: "ETHUSD candles of 5m" }).waitFor();
    await page.getByRole("button", { name: "Draw", exact: true }).waitFor();
    await page.evaluate("location.hash = 'BTCUSD'");
    await page.getByRole("button", { name: "Draw (3)" }).click();
    await dialog.getByRole("button", { name: /^Remove the drawing: Level/ }).click();
    await expect.poll(() => rows.count(), POLL).toBe(2);
    await dialog.getByRole("button", { name: "Remove all" }).click();
    await dialog.getByText("No drawings.").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(levels, POLL).toBe(0);
    opened.expectClean();
  });
}

/** Runs inside the page: whether a whole line of the canvas has the colour of drawings, at the level's height. */
const DRAWN_LEVELS = `(() => {
  const probe = document.createElement("span");
  probe.style.color = "var(--accent)";
  document.body.append(probe);
  const [red, green, blue] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  const canvas = document.querySelector(".candles canvas");
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  let lines = 0;
  for (let y = 0; y < height; y++) {
    let count = 0;
    for (let at = 4 * y * width; at < 4 * (y + 1) * width; at += 4) {
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) count++;
    }
    if (count > 0.8 * width) lines++;
  }
  return lines;
})()`;

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
