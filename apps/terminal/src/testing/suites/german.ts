/** The page in German, which the browser's language chooses: nothing of its own is left in English. */

import type { Page } from "playwright-core";
import { expect } from "vitest";
import { de } from "../../text/de.js";
import { en } from "../../text/en.js";
import type { PageTest } from "../page-test.js";
import type { TradingPage } from "../trading-page.js";

export function germanTests(test: PageTest): void {
  test("German browser: an order and its position, a notice of a fill elsewhere, settings; no English is left, no button is cut", async ({
    open,
  }) => {
    const opened = await open({ prepare: inGerman });
    const { page } = opened;
    expect(await page.locator("html").getAttribute("lang")).toBe("de");
    await expectGerman(opened, "signed out");
    await signIn(opened);
    await marketOrder(opened);
    await opened.result().getByText("Kauf (Market) ausgeführt").waitFor();
    await page.getByRole("tab", { name: "Positionen (1)" }).click();
    await page.getByRole("row").filter({ hasText: "Long 5.0×" }).waitFor();
    await opened.result().locator('[data-witness="logged"]').waitFor();

    const other = await open({ tabOf: opened, prepare: inGerman });
    await other.page.getByRole("button", { name: de.header.signOut }).waitFor();
    await marketOrder(other);
    await page.locator(".toast").getByText("Ausgeführt: BTCUSD").waitFor();
    await expectGerman(opened, "notice of a fill");
    await other.page.close();

    const form = page.getByRole("form", { name: de.form.label });
    await form.getByText(de.form.more).click();
    for (const type of ["limit", "stop", "market"] as const) {
      await form.getByText(de.words.types[type], { exact: true }).click();
      await form.getByText(de.words.sides.short, { exact: true }).first().click();
      await expectGerman(opened, type);
    }
    await form.getByText(de.words.exits, { exact: true }).click();
    const tabs = ["orders", "fills", "history", "deposits", "positions"] as const;
    for (const tab of tabs) {
      await page.getByRole("tab", { name: de.portfolio.tabs[tab] }).click();
      await expectGerman(opened, tab);
    }
    await page.getByRole("tab", { name: de.chart.tabs.depth }).click();
    await page.locator(".depth canvas").waitFor();
    await expectGerman(opened, "depth");
    await page.getByRole("tab", { name: de.chart.tabs.candles, exact: true }).click();
    await page.getByTestId("legend").getByText("Vol").waitFor();
    await page.getByRole("button", { name: /^Markt: / }).click();
    await page.getByRole("searchbox", { name: de.market.search }).waitFor();
    await expectGerman(opened, "markets");
    await page.keyboard.press("Escape");
    await opened.inspect("german-1440");
    for (const name of [de.header.shortcuts, de.header.settings, /Konto/]) {
      await page.getByRole("banner").getByRole("button", { name }).click();
      await opened.inspect(`german-${name}`, "dialog");
      await expectGerman(opened, `${name}`);
      await page.getByRole("dialog").getByRole("button", { name: de.words.close }).click();
    }
    for (const name of [de.positions.closeAtMarket("BTCUSD"), de.positions.manageOne("BTCUSD")]) {
      await opened.press(page.getByRole("button", { name }));
      await page.getByRole("dialog").waitFor();
      await expectGerman(opened, name);
      await page.getByRole("dialog").getByRole("button", { name: de.words.close }).first().click();
    }

    await page.setViewportSize({ width: 1280, height: 720 });
    await expectGerman(opened, "1280");
    await page.setViewportSize({ width: 390, height: 844 });
    for (const view of ["book", "trade", "portfolio", "chart"] as const) {
      await page
        .getByRole("navigation", { name: de.app.viewsLabel })
        .getByText(de.app.views[view])
        .click();
      await expectGerman(opened, `phone ${view}`);
      await opened.inspect(`german-390-${view}`);
    }
    opened.expectClean();
  });

  test("language: chosen in the settings, shown at once, kept; the amount in the order form stays", async ({
    enter,
  }) => {
    const { opened, page } = await enter();
    await page.getByRole("textbox", { name: "Margin" }).fill("123");
    await page.getByRole("button", { name: en.header.settings }).click();
    await page.getByRole("radio", { name: "Deutsch" }).click();
    await page.getByRole("dialog", { name: de.settings.title }).waitFor();
    await expectGerman(opened, "chosen");
    await page.keyboard.press("Escape");
    expect(await page.getByRole("textbox", { name: "Margin" }).inputValue()).toBe("123");
    expect(await page.locator("html").getAttribute("lang")).toBe("de");
    await page.reload();
    await opened.untilLive();
    await page.getByRole("button", { name: de.header.signOut }).waitFor();
    await page.getByRole("button", { name: de.header.settings }).click();
    await page.getByRole("radio", { name: "English" }).click();
    await page.getByRole("dialog", { name: en.settings.title }).waitFor();
    await page.getByRole("heading", { name: en.book.title }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    opened.expectClean();
  });
}

async function inGerman(page: Page): Promise<void> {
  await page.addInitScript(
    "Object.defineProperty(Navigator.prototype, 'language', { get: () => 'de-AT' })",
  );
}

async function signIn({ page }: TradingPage): Promise<void> {
  await page.getByRole("banner").getByRole("button", { name: de.words.signIn }).click();
  await expectAllGerman(page, "sign in");
  await page.getByRole("button", { name: de.signIn.create }).click();
  await page.getByRole("button", { name: de.header.signOut }).waitFor();
}

async function marketOrder(opened: TradingPage): Promise<void> {
  await opened.untilAvailable((dollars) => dollars > 0);
  const form = opened.page.getByRole("form", { name: de.form.label });
  await form.getByRole("textbox", { name: de.form.amounts.margin }).fill("100");
  await opened.press(form.locator("button[type=submit]"));
}

/** Nothing in English, nothing cut, and no window that scrolls sideways. */
async function expectGerman({ page }: TradingPage, name: string): Promise<void> {
  await expectAllGerman(page, name);
  expect(await page.evaluate<string[]>(CUT), `cut: ${name}`).toEqual([]);
}

async function expectAllGerman(page: Page, name: string): Promise<void> {
  const shown = await page.evaluate<string[]>(SHOWN);
  expect(shown.length, name).toBeGreaterThan(20);
  const left = shown.flatMap((text) =>
    ENGLISH.filter((english) => english.test(text)).map((english) => `${text} (${english})`),
  );
  expect(left, name).toEqual([]);
}

/** The fixed parts of every text of a table. */
function partsOf(table: object): string[] {
  return Object.values(table).flatMap((value: unknown): string[] => {
    if (typeof value === "string") return [value];
    if (typeof value === "function") {
      const text: unknown = Reflect.apply(value, undefined, new Array(value.length).fill("\n"));
      return String(text).split("\n");
    }
    return typeof value === "object" && value !== null ? partsOf(value) : [];
  });
}

/** Letters at its ends: what stands between two values has none worth looking for. */
function wordsOf(table: object): string[] {
  return partsOf(table)
    .map((part) => part.replaceAll(/^[^\p{L}\d]+|[^\p{L}\d]+$/gu, "").trim())
    .filter((words) => /\p{L}{3}/u.test(words));
}

function searchFor(words: string): RegExp {
  const plain = words.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<!\\p{L})${plain}(?!\\p{L})`, "u");
}

/** English texts that no German one contains. */
const ENGLISH = [...new Set(wordsOf(en))].map(searchFor).filter((english) => {
  return !wordsOf(de).some((german) => english.test(german));
});

/** Runs inside the page: every visible text, and what screen readers and tooltips say. */
const SHOWN = `(() => {
  const texts = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (element.closest("script, noscript") === null && element.checkVisibility()) {
      texts.push(node.data.trim());
    }
  }
  for (const element of document.body.querySelectorAll("[aria-label], [title], [placeholder], [aria-valuetext]")) {
    if (!element.checkVisibility()) continue;
    for (const name of ["aria-label", "title", "placeholder", "aria-valuetext"]) {
      texts.push(element.getAttribute(name) ?? "");
    }
  }
  return [...new Set(texts)].filter((text) => text !== "");
})()`;

/** Runs inside the page: controls whose text does not fit, and a window that scrolls sideways. */
const CUT = `(() => {
  const found = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push("the window");
  for (const element of document.querySelectorAll("button, select, .segments label, [role=tab], .chip, th, dt, h2")) {
    if (!element.checkVisibility() || element.closest(".unseen") !== null) continue;
    const name = element.textContent.trim().slice(0, 40);
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0) found.push(name);
    // What a list that scrolls sideways has beyond its edge can be reached.
    const scrolls = (parent) => parent !== null &&
      (/auto|scroll/.test(getComputedStyle(parent).overflowX) || scrolls(parent.parentElement));
    const box = element.closest(".panel, header, footer, dialog");
    if (box === null || scrolls(element.parentElement)) continue;
    const edge = Math.min(width, box.getBoundingClientRect().right);
    if (element.getBoundingClientRect().right > edge + 1) found.push(name + " beyond the edge");
  }
  return found;
})()`;
