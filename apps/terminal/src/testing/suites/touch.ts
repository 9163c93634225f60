/** The page on a phone, used with a finger. */

import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { Finger, middleOf } from "../finger.js";
import type { PageTest } from "../page-test.js";
import { injectWallet } from "../test-wallet.js";
import { POLL } from "../trading-page.js";
import { sellTo } from "../venue-reads.js";

const PHONE = { width: 390, height: 844 };

export function touchTests(test: PageTest): void {
  test("touch: an order by taps alone; every target is large enough, no field zooms the page", async ({
    enter,
  }) => {
    const { opened, page } = await enter(PHONE);
    const finger = await Finger.on(page);
    const views = page.getByRole("navigation", { name: "Views" });
    const form = page.getByRole("form", { name: "Order" });
    await finger.tap(views.getByRole("button", { name: "Trade" }));
    await finger.tap(form.getByText("Sell / Short", { exact: true }).first());
    await finger.tap(form.getByText("Limit", { exact: true }));
    await finger.tap(form.getByRole("button", { name: "Price from ask" }));
    await expect.poll(() => form.getByRole("textbox", { name: "Price" }).inputValue()).not.toBe("");
    const margin = form.getByRole("textbox", { name: "Margin" });
    await finger.tap(margin);
    await expect.poll(() => margin.evaluate(IS_FOCUSED), POLL).toBe(true);
    await page.keyboard.type("100");
    for (const name of ["Chart", "Book", "Portfolio", "Trade"]) {
      await finger.tap(views.getByRole("button", { name }));
      expect(await page.evaluate<readonly string[]>(SMALL_TARGETS), name).toEqual([]);
      expect(await page.evaluate<readonly string[]>(ZOOMING_FIELDS), name).toEqual([]);
      await opened.inspect(`touch-${name.toLowerCase()}`);
    }
    await expect.poll(() => form.locator("button[type=submit]").isEnabled(), POLL).toBe(true);
    await finger.tap(form.locator("button[type=submit]"));
    // The answer is where the finger is, not below the fold.
    const answer = form.getByRole("status").filter({ hasText: /^Sell limit / });
    await answer.waitFor();
    const { y } = await middleOf(answer);
    const submit = await middleOf(form.locator("button[type=submit]"));
    expect(submit.y).toBeLessThan(PHONE.height);
    expect(submit.y - y).toBeLessThan(60);
    expect((await answer.boundingBox())?.height).toBeGreaterThan(10);

    await finger.tap(views.getByRole("button", { name: "Chart" }));
    const wrong: string[] = [];
    for (const name of ["Alerts", "Studies", /^Market:/, /^Account/, "Deposit"]) {
      await finger.tap(page.getByRole("button", { name, exact: true }));
      const opening = page.locator("dialog, .market-list").first();
      await opening.waitFor();
      for (const look of [SMALL_TARGETS, ZOOMING_FIELDS]) {
        const found = await page.evaluate<readonly string[]>(look);
        wrong.push(...found.map((each) => `${name}: ${each}`));
      }
      const width = await page.evaluate("document.documentElement.scrollWidth");
      if (width !== PHONE.width) wrong.push(`${name}: ${width} wide`);
      await page.keyboard.press("Escape");
      await opening.waitFor({ state: "hidden" });
    }
    expect(wrong).toEqual([]);
    opened.expectClean();
  });

  test("touch: the chart is panned, the page stays; a swipe over book, tabs and tables scrolls and presses nothing", async ({
    open,
    quiet,
    onTestFinished,
  }) => {
    const client = new PerpgateClient({ url: quiet.url });
    onTestFinished(() => client.close());
    const account = privateKeyAccount(newPrivateKey());
    const session = await client.signIn({ account });
    for (let price = 64_890; price <= 65_000; price += 10) {
      const order = { symbol: "BTCUSD", side: "long", type: "limit", size: 0.002 } as const;
      await session.placeOrder({ ...order, leverage: 5, price });
    }
    await sellTo(quiet.url, onTestFinished);
    const prepare = (page: Page) => injectWallet(page, account);
    const opened = await open({ ...PHONE, url: quiet.url, prepare });
    const { page } = opened;
    const views = page.getByRole("navigation", { name: "Views" });
    await opened.signInWithWallet(account.address);
    const finger = await Finger.on(page);

    await finger.tap(views.getByRole("button", { name: "Chart" }));
    const isWhole = await page.getByRole("tablist", { name: "Chart" }).evaluate(IS_WHOLE);
    expect(isWhole).toBe(true);
    const candles = page.locator(".candles");
    await expect.poll(() => page.getByTestId("legend").innerText(), POLL).toContain("Vol");
    const drawn = () => candles.evaluate(DRAWN);
    // Nothing changes in this market: what moves was moved.
    let before = "";
    const hasSettled = async () => {
      const [earlier, now] = [before, await drawn()];
      before = now;
      return now === earlier;
    };
    await expect.poll(hasSettled, POLL).toBe(true);
    await finger.drag(await middleOf(candles), { x: 120 });
    await expect.poll(drawn, POLL).not.toBe(before);
    await finger.drag(await middleOf(candles), { y: -200 });
    expect(await page.evaluate("scrollY")).toBe(0);

    // A swipe over the book takes no price, a tap does.
    await finger.tap(views.getByRole("button", { name: "Trade" }));
    const form = page.locator("form[aria-label=Order]");
    await finger.tap(form.getByText("Limit", { exact: true }));
    const price = form.getByLabel("Price", { exact: true });
    const typed = await price.inputValue();
    await finger.tap(views.getByRole("button", { name: "Book" }));
    const level = page.locator(".ladder-row.bid").filter({ hasText: "64,980" });
    await level.waitFor();
    await finger.drag(await middleOf(level), { y: -150 });
    expect(await price.inputValue()).toBe(typed);
    await finger.tap(level);
    await expect.poll(() => price.inputValue(), POLL).toMatch(/^64980/);

    await finger.tap(views.getByRole("button", { name: "Portfolio" }));
    const tabs = page.getByRole("tablist", { name: "Portfolio" });
    await finger.tap(tabs.getByRole("tab", { name: /Open orders/ }));
    const last = tabs.getByRole("tab").last();
    await swipeTo(page, finger, tabs, last);
    await finger.tap(last);
    await expect.poll(() => last.getAttribute("aria-selected"), POLL).toBe("true");
    await swipeTo(page, finger, tabs, tabs.getByRole("tab", { name: /Open orders/ }), 1);
    await finger.tap(tabs.getByRole("tab", { name: /Open orders/ }));
    const rows = page.locator(".data tbody tr");
    const count = await rows.count();
    expect(count).toBeGreaterThan(8);
    // It begins on a button.
    const cancel = rows.nth(3).getByRole("button", { name: /^Cancel order/ });
    const { y } = await middleOf(cancel);
    await finger.drag(await middleOf(cancel), { y: -250 });
    await expect.poll(async () => (await middleOf(cancel)).y, POLL).toBeLessThan(y - 100);
    expect(await rows.count()).toBe(count);
    await finger.tap(rows.nth(5).getByRole("button", { name: /^Cancel order/ }));
    await expect.poll(() => rows.count(), POLL).toBe(count - 1);
    await session.cancelAll();
    opened.expectClean();
  });
}

/** Until the element is within the list, with `sign` 1 to its left. */
async function swipeTo(
  page: Page,
  finger: Finger,
  list: Locator,
  target: Locator,
  sign: 1 | -1 = -1,
): Promise<void> {
  const isIn = async () => {
    const { x } = await middleOf(target);
    return x > 0 && x < PHONE.width;
  };
  for (let swipes = 0; swipes < 8 && !(await isIn()); swipes++) {
    const { y } = await middleOf(list);
    await finger.drag({ x: PHONE.width / 2 - sign * 120, y }, { x: sign * 240 });
    await page.waitForFunction("new Promise(requestAnimationFrame)");
  }
  expect(await isIn()).toBe(true);
}

/** These run inside the page. */
const IS_FOCUSED = (element: Element) => element === element.ownerDocument.activeElement;
const IS_WHOLE = (list: Element) => list.scrollWidth <= list.clientWidth;
const DRAWN = (chart: Element) =>
  [...chart.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()).join();

/** Of what is pressed: at least 32 pixels high, as a finger needs. Links in a text are as the text. */
const SMALL_TARGETS = `[...document.querySelectorAll("button, [role=tab], summary, select, input, label:has(input)")]
  .filter((each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
  .filter((each) => each.matches("label") || each.closest("label:has(input)") === null)
  .map((each) => [each, each.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 1 && height > 0 && (width < 24 || height < 32))
  .map(([each, { width, height }]) =>
    (each.ariaLabel ?? each.innerText ?? each.name) + " <" + each.className + "> " +
      Math.round(width) + " × " + Math.round(height))`;

/** iOS zooms a page whose focused field has smaller letters. */
const ZOOMING_FIELDS = `[...document.querySelectorAll("input:not([type=radio]):not([type=checkbox]):not([type=range]), select")]
  .filter((each) => each.checkVisibility() && parseFloat(getComputedStyle(each).fontSize) < 16)
  .map((each) => each.ariaLabel ?? each.labels?.[0]?.innerText ?? each.name)`;
