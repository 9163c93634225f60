/** The page around the panels: layout, theme, links, shortcuts, what is loaded first. */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { PageTest } from "../page-test.js";
import { POLL } from "../trading-page.js";

/** Bytes, compressed. */
const FIRST_PAINT_BYTES = 200_000;
const FIRST_TRADE_BYTES = 260_000;

export function shellTests(test: PageTest): void {
  test("markets: a link opens one; search, favourites and the layout are remembered", async ({
    open,
    venueUrl,
  }) => {
    const opened = await open({ url: `${venueUrl}/#ETHUSD` });
    const { page } = opened;
    const switcher = page.getByRole("button", { name: /^Market:/ });
    await page.getByRole("button", { name: /Market: ETHUSD/ }).waitFor();
    await page.evaluate("location.hash = 'BTCUSD'");
    await page.getByRole("button", { name: /Market: BTCUSD/ }).waitFor();
    await switcher.click();
    await page.getByRole("button", { name: "Favourite ETHUSD" }).click();
    const first = page.locator(".market-item").first();
    await expect.poll(() => first.innerText(), POLL).toMatch(/^ETHUSD/);
    await opened.inspect("market-search");
    // Sorted by name from A, then from Z; the favourite stays first.
    const names = async () =>
      (await page.locator(".market-item .name").allInnerTexts()).map((name) => name.split(/\s/)[0]);
    const sort = page.getByRole("button", { name: "Sort by market" });
    await sort.click();
    const ascending = await names();
    await sort.click();
    const descending = await names();
    expect(ascending[0]).toBe("ETHUSD");
    expect(descending).toEqual(["ETHUSD", ...ascending.slice(1).toReversed()]);
    await page.getByRole("button", { name: "Sort by open interest" }).click();
    await expect
      .poll(() => page.locator(".market-item").first().innerText(), POLL)
      .toMatch(/USD\s.*USD/s);
    await page.getByRole("searchbox", { name: "Search markets" }).fill("zzz");
    await page.getByText("No market has this name.").waitFor();
    await page.getByRole("searchbox", { name: "Search markets" }).fill("et");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /Market: ETHUSD/ }).waitFor();
    expect(new URL(page.url()).hash).toBe("#ETHUSD");

    await page.getByRole("tab", { name: "Fills" }).click();
    const splitter = page.getByRole("separator", { name: "Height of the portfolio" });
    const portfolio = page.getByRole("region", { name: "Portfolio" });
    const heightOf = async () => Math.round((await portfolio.boundingBox())?.height ?? 0);
    const before = await heightOf();
    await splitter.focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(heightOf, POLL).toBeLessThan(before);
    const chosen = await heightOf();
    await page.goto(venueUrl);
    await opened.untilLive();
    await page.getByRole("button", { name: /Market: ETHUSD/ }).waitFor();
    expect(await page.getByRole("tab", { name: "Fills" }).getAttribute("aria-selected")).toBe(
      "true",
    );
    expect(await heightOf()).toBe(chosen);
    opened.expectClean();
  });

  test("shortcuts: listed by ?, off while typing; live regions: silent while prices change", async ({
    open,
  }) => {
    const opened = await open();
    const { page } = opened;
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Search markets").waitFor();
    await opened.inspect("shortcuts", "dialog");
    await page.keyboard.press("s");
    await page.keyboard.press("Escape");
    const sell = page.getByRole("radio", { name: "Sell / Short" });
    expect(await sell.isChecked()).toBe(false);
    await page.keyboard.press("s");
    await expect.poll(() => sell.isChecked(), POLL).toBe(true);
    await page.keyboard.press("l");
    await page.getByRole("textbox", { name: "Price" }).waitFor();
    await page.keyboard.press("2");
    const orders = page.getByRole("tab", { name: "Open orders" });
    await expect.poll(() => orders.getAttribute("aria-selected"), POLL).toBe("true");
    await page.keyboard.press("n");
    await page.keyboard.type("b1");
    expect(await sell.isChecked()).toBe(true);
    await page.locator("body").click({ position: { x: 1, y: 1 } });
    await page.keyboard.press("/");
    await page.getByRole("searchbox", { name: "Search markets" }).waitFor();
    await page.keyboard.press("Escape");

    const spoken: string[] = await page.evaluate(SPOKEN);
    expect(spoken).toEqual([]);
    opened.expectClean();
  });

  test("phone: the account is in reach, an order is placed and its position closed, nothing scrolls sideways", async ({
    enter,
  }) => {
    const { opened, page } = await enter({ width: 390, height: 844 });
    await page.getByRole("button", { name: /^Account/ }).click();
    const account = page.getByRole("dialog", { name: "Account" });
    await account.getByText("Session ends").waitFor();
    await opened.inspect("phone-account");
    await account.getByRole("button", { name: "Close" }).click();
    const views = page.getByRole("navigation", { name: "Views" });
    await views.getByRole("button", { name: "Trade" }).click();
    await opened.order("Market", "Buy / Long", { margin: "100" });
    await opened.result().getByText("Buy market filled").waitFor();
    await opened.inspect("phone-trade");
    await views.getByRole("button", { name: "Portfolio" }).click();
    await opened.press(page.getByRole("button", { name: "Close BTCUSD at the market" }));
    await opened.inspect("phone-close");
    await page.getByRole("button", { name: "Close 1 position" }).click();
    await page.getByText("No open positions.").waitFor();
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width).toBe(390);
    opened.expectClean();
  });

  test("first paint: at most 200 KB compressed, by Brotli, and 260 KB to the first trade; the stored theme is there before the script", async ({
    open,
    pageFolder,
    venueUrl,
  }) => {
    const index = readFileSync(join(pageFolder, "index.html"), "utf8");
    const first = [...index.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(
      ([, path]) => path,
    );
    expect(first.length).toBeGreaterThan(1);
    const bytesOf = (path: string | undefined) => {
      const file = join(pageFolder, path ?? "");
      const packed = statSync(`${file}.br`, { throwIfNoEntry: false });
      return (packed ?? statSync(file)).size;
    };
    const bytes = first.map(bytesOf).reduce((sum, each) => sum + each, 0);
    console.info(`first paint: ${(bytes / 1_000).toFixed(1)} KB compressed`);
    expect(bytes).toBeLessThanOrEqual(FIRST_PAINT_BYTES);

    const encodings = new Map<string, string>();
    const opened = await open({
      url: venueUrl,
      prepare: async (page) => {
        // Without what is loaded while the page has nothing else to do.
        await page.addInitScript("window.requestIdleCallback = () => 0");
        page.on("response", (response) => {
          const { pathname } = new URL(response.url());
          const encoding = response.headers()["content-encoding"] ?? "";
          if (pathname.startsWith("/assets/")) encodings.set(pathname, encoding);
        });
      },
    });
    await opened.page.getByRole("tab", { name: "Depth" }).waitFor();
    const script = [...encodings].find(([path]) => /index-.*\.js$/.test(path));
    expect(script?.[1]).toBe("br");
    expect([...encodings.keys()].some((path) => path.includes("chart-panel"))).toBe(true);

    const { page } = opened;
    await opened.signInWithBurner();
    await opened.order("Market", "Buy / Long", { margin: "100" });
    await opened.result().getByText("Buy market filled").waitFor();
    const traded = [...encodings.keys()].map(bytesOf).reduce((sum, each) => sum + each, 0);
    console.info(`first trade: ${(traded / 1_000).toFixed(1)} KB compressed`);
    expect(traded).toBeLessThanOrEqual(FIRST_TRADE_BYTES);
    await page.getByRole("button", { name: "Switch to light colours" }).click();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/assets/index-*.js", async (route) => {
      await held;
      await route.continue();
    });
    await page.reload({ waitUntil: "commit" });
    await page.locator("#root").waitFor({ state: "attached" });
    expect(await page.locator("html").getAttribute("data-theme")).toBe("light");
    expect(await page.locator("#root > *").count()).toBe(0);
    release();
    await opened.untilLive();
    opened.expectClean();
  });
}

/** Runs inside the page: what live regions said while the last price changed three times. */
const SPOKEN = `new Promise((resolve) => {
  const regions = "output, [role=status], [role=alert], [role=log], [aria-live]:not([aria-live=off])";
  const spoken = [];
  let changes = 0;
  const options = { subtree: true, childList: true, characterData: true };
  new MutationObserver((list) => {
    for (const { target } of list) {
      const element = target instanceof Element ? target : target.parentElement;
      const region = element?.closest(regions);
      if (region != null) spoken.push(region.className + ": " + region.textContent);
      if (element?.closest(".last-price") != null && ++changes === 3) resolve(spoken);
    }
  }).observe(document.body, options);
})`;
