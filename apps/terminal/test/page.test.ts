/** The page in a real browser, against a real gateway with its bots, as `npm start` runs it. */

import type { Browser, Page } from "playwright-core";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { buildPage } from "./support/built-page.js";
import { CHAINS, ChainGateway } from "./support/chain-gateway.js";
import { isWithoutChromium, launchChromium } from "./support/chromium.js";
import { measureFrames } from "./support/frames.js";
import { GatewayProcess } from "./support/gateway-process.js";
import { type PageOptions, POLL, TradingPage } from "./support/trading-page.js";

describe.skipIf(isWithoutChromium())("the trading page", { timeout: 240_000 }, () => {
  let built: Awaited<ReturnType<typeof buildPage>>;
  let gateway: GatewayProcess;
  let browser: Browser;

  beforeAll(async () => {
    [built, browser] = await Promise.all([buildPage(), launchChromium()]);
    gateway = new GatewayProcess({ page: built.folder, hasBots: true });
    await gateway.start();
    await untilTraded(gateway.url);
  }, 240_000);

  afterAll(async () => {
    await browser?.close();
    await gateway?.remove();
    built?.remove();
  });

  async function open(options: Partial<PageOptions> = {}): Promise<TradingPage> {
    const opened = await TradingPage.open(browser, { url: gateway.url, ...options });
    onTestFinished(() => opened.close());
    return opened;
  }

  test("a visitor sees the market: switcher, figures, chart, depth, book, tape", async () => {
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

  test("light, dark, from a phone to 4K: all views pass axe", async () => {
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

  test("preconfirm: one bit of the sealed bytes is changed on the way, and the tick is not given", async () => {
    const prepare = async (page: Page) => {
      await page.route("**/v1/preconfirms/*", async (route) => {
        const response = await route.fetch();
        const proof: unknown = await response.json();
        if (!hasLeaf(proof)) return route.fulfill({ response });
        return route.fulfill({ response, json: { ...proof, leaf: withOtherAccount(proof.leaf) } });
      });
    };
    const opened = await open({ prepare });
    await opened.signInWithBurner();
    await opened.order("Market", "Buy / Long", { margin: "200" });
    const chip = opened.answer().locator('[data-seal="differs"]');
    await chip.waitFor();
    expect(await chip.getAttribute("title")).toMatch(/: leaf and path lead to another root[^;]+$/);
    await opened.answer().getByText("leaf and path lead to another root").waitFor();
    await opened.inspect("answer-differs");
    opened.expectClean();
  });

  test("burner key: sign in, deposit, market order, limit and cancel, stop, close", async () => {
    const opened = await open();
    const { page } = opened;
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await opened.inspect("sign-in");
    await page.keyboard.press("Escape");
    await opened.signInWithBurner();
    expect(await opened.available()).toBe(10_000);

    await page.getByRole("banner").getByRole("button", { name: "Deposit" }).click();
    await opened.inspect("deposit");
    await page.getByRole("button", { name: "Get 10,000 test dollars" }).click();
    await opened.untilAvailable((dollars) => dollars === 20_000);
    await opened.tab(/Deposits/);
    await page.getByText("credited", { exact: true }).waitFor();

    await opened.order("Market", "Buy / Long", { margin: "200" });
    await opened.answer().getByText("Buy market filled").waitFor();
    expect(await page.getByTestId("answer-server-ms").innerText()).toMatch(/^[\d.,]+ ms$/);
    expect(await page.getByTestId("answer-browser-ms").innerText()).toMatch(/^[\d.,]+ ms$/);
    const tick = opened.answer().locator('[data-seal="proven"]');
    await tick.waitFor();
    expect(await tick.getAttribute("title")).toMatch(/^Checked here/);
    await opened.tab(/Positions \(1\)/);
    const position = page.getByRole("row").filter({ hasText: "Long 5.0×" });
    await position.waitFor();

    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await opened.answer().getByText("Buy limit resting").waitFor();
    await opened.tab(/Open orders \(1\)/);
    await opened.order("Stop", "Sell / Short", { margin: "100", price: "55000" });
    await opened.answer().getByText("Sell stop waiting for its trigger").waitFor();
    await opened.tab(/Open orders \(2\)/);
    await page.getByText("mark ≤ 55,000.0").waitFor();
    await opened.inspect("trading-1440-dark");
    await page.emulateMedia({ colorScheme: "light" });
    await opened.inspect("trading-1440-light");

    const limit = page.getByRole("row").filter({ hasText: "Buy limit" });
    await limit.getByRole("button", { name: /Cancel order/ }).click();
    await opened.tab(/Open orders \(1\)/);
    await page.getByRole("button", { name: "Cancel all" }).click();
    await page.getByText("1 order canceled").waitFor();
    await page.getByText("No open order.").waitFor();

    await opened.tab(/Positions \(1\)/);
    await page.getByRole("button", { name: "Close BTCUSD at the market" }).click();
    await page.getByText("No open position.").waitFor();
    await opened.answer().getByText("Sell market filled").waitFor();
    await opened.tab(/Fills/);
    await page.getByRole("row").filter({ hasText: "taker" }).nth(1).waitFor();
    await page.setViewportSize({ width: 380, height: 760 });
    await page.getByRole("navigation", { name: "Views" }).getByText("Portfolio").click();
    await opened.inspect("trading-380-fills");
    opened.expectClean();
  });

  test("the preview: what the form promises is what the order does", async () => {
    const opened = await open();
    const { page } = opened;
    await opened.signInWithBurner();
    const { mark } = await tickerOf(gateway.url);
    // Far from the market it rests whole, so nothing moves between promise and answer.
    const price = (Math.round(mark * 0.9) - 0.5).toFixed(1);
    await opened.order("Limit", "Buy / Long", { margin: "321.99", price });
    const waiting = opened
      .answer()
      .locator("div", { hasText: /^Waiting/ })
      .last();
    const size = await page.getByTestId("preview-size").innerText();
    expect(await waiting.innerText()).toContain(size);
    const lots = Math.floor((321.99 * 5) / Number(price) / 0.00001 + 1e-9);
    expect(size).toBe(`${(lots / 100_000).toFixed(5)} BTC`);
    opened.expectClean();
  });

  test("refusals say what to do, and a press does it", async () => {
    const opened = await open();
    const { page } = opened;
    await opened.signInWithBurner();
    const alert = page.getByRole("form", { name: "Order" }).getByRole("alert");
    await opened.order("Limit", "Buy / Long", { margin: "50000", price: "50000" });
    await alert.getByText("Not enough funds").waitFor();
    await opened.inspect("refusal");
    await alert.getByRole("button", { name: "Use 9,975.06" }).click();
    expect(await page.getByRole("textbox", { name: "Margin" }).inputValue()).toBe("9975.06");
    await page.getByRole("button", { name: "Buy / Long BTC" }).click();
    await opened.answer().getByText("Buy limit resting").waitFor();

    await page.getByRole("textbox", { name: "Price" }).fill("50000.05");
    await page.getByText("Use a multiple of 0.1").waitFor();
    await page.getByText("Reduce-only").click();
    await opened.order("Market", "Sell / Short", { margin: "10" });
    await alert.getByText("Nothing to reduce").waitFor();
    await alert.getByRole("button", { name: "Turn reduce-only off" }).click();
    expect(await page.getByLabel("Reduce-only").isChecked()).toBe(false);
    opened.expectClean();
  });

  test("injected wallet: announced by EIP-6963, signs once; a no in it is told", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    let isWilling = false;
    const opened = await open({
      prepare: (page) =>
        injectWallet(page, async (method, params) => {
          if (method === "eth_requestAccounts") return [account.address];
          if (method === "eth_chainId") return "0xa4b1";
          if (method !== "personal_sign") throw new Error(`not expected: ${method}`);
          if (!isWilling) return { rejected: 4001 };
          const [message] = params;
          return account.signMessage({ message: { raw: hexOf(message) } });
        }),
    });
    const { page } = opened;
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Use Test Wallet" }).click();
    await page.getByRole("alert").getByText("Not signed").waitFor();
    isWilling = true;
    await page.getByRole("button", { name: "Use Test Wallet" }).click();
    await page.getByTitle(account.address).waitFor();
    await opened.order("Market", "Sell / Short", { margin: "50" });
    await opened.answer().getByText("Sell market filled").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    opened.expectClean();
  });

  test("reload: signed out, and nothing secret was kept", async () => {
    const opened = await open();
    const { page, context } = opened;
    await opened.signInWithBurner();
    await page.getByRole("button", { name: "Switch to light colours" }).click();
    await page.reload();
    await opened.untilLive();
    await page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    expect(await context.cookies()).toEqual([]);
    const kept = await page.evaluate(`(async () => ({
      local: Object.entries(localStorage),
      session: Object.entries(sessionStorage),
      databases: (await indexedDB.databases()).map(({ name }) => name),
      caches: await caches.keys(),
    }))()`);
    expect(kept).toEqual({
      local: [["perpgate.theme", "light"]],
      session: [],
      databases: [],
      caches: [],
    });
    opened.expectClean();
  });

  test("session ended elsewhere: the page says so and signs out", async () => {
    const opened = await open();
    const { page } = opened;
    const asked = page.waitForRequest((request) => request.url().endsWith("/v1/account"));
    await opened.signInWithBurner();
    const authorization = (await (await asked).allHeaders()).authorization ?? "";
    await fetch(`${gateway.url}/v1/auth/session`, {
      method: "DELETE",
      headers: { authorization },
    });
    await page.getByText("The session has ended").waitFor();
    await page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    opened.expectClean();
  });

  test("the account's first answers fail: asked again until there is one, nothing else changing", async () => {
    const opened = await open();
    const { page } = opened;
    let failures = 0;
    await page.route("**/v1/account", (route) => {
      failures++;
      return route.abort();
    });
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Make a testnet burner key" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    // One question at the beginning and one for each stream's first frame would come anyway.
    await expect.poll(() => failures, POLL).toBeGreaterThan(4);
    await page.unroute("**/v1/account");
    await opened.untilAvailable((dollars) => dollars === 10_000);
    opened.expectClean({ isServerAway: true });
  });

  test("keyboard alone: market, ladder, tabs, order", async () => {
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
    await page.getByText("No open order.").waitFor();
    await page.getByRole("textbox", { name: "Margin" }).focus();
    await page.keyboard.type("25");
    await page.keyboard.press("Enter");
    await opened.answer().waitFor();
    opened.expectClean();
  });

  test("frames with the bots running: the book moves and the page stays alive", async () => {
    const opened = await open();
    const { page } = opened;
    await page.getByText(/^Spread \d/).waitFor();
    const frames = await measureFrames(page, 3_000, 5, 6);
    console.info(
      `frames with the bots running: ${frames.perSecond.toFixed(1)} a second, median ${frames.medianMs.toFixed(1)} ms, ` +
        `p95 ${frames.p95Ms.toFixed(1)} ms, longest task ${frames.longestTaskMs.toFixed(0)} ms, ` +
        `${frames.bookChanges} changes of the ladder`,
    );
    await opened.picture("bots");
    // What any machine can hold; the figures above tell how it runs on an idle one.
    expect(frames.count).toBeGreaterThan(5);
    expect(frames.bookChanges).toBeGreaterThanOrEqual(5);
    // No task stands in the way of more than 300 frames, as long as those take on this machine: five
    // seconds on one that draws 60 a second.
    expect(frames.longestTaskMs).toBeLessThan(300 * Math.max(frames.medianMs, 1_000 / 60));
    opened.expectClean();
  });

  test("a venue with chains: no test dollars; where to send tokens, and the hash to register", async () => {
    const venue = await ChainGateway.start(built.folder);
    onTestFinished(() => venue.remove());
    const opened = await open({ url: venue.url });
    const { page } = opened;
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Make a testnet burner key" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await opened.tab(/Deposits/);
    const table = page.getByRole("region", { name: "Portfolio" });
    await table.getByText("No deposits yet.").waitFor();

    await page.getByRole("banner").getByRole("button", { name: "Deposit" }).click();
    const dialog = page.getByRole("dialog", { name: "Deposit" });
    const vault = dialog.getByTestId("vault");
    await vault.waitFor();
    expect((await vault.innerText()).toLowerCase()).toBe(CHAINS.ethereum.vault);
    await dialog.getByText(/credited after 64 confirmations, to whoever sent it/).waitFor();
    await dialog.getByText("You are signed in with a burner key").waitFor();
    expect(await page.getByText(/test (dollars|funds)/i).count()).toBe(0);
    const token = dialog.getByRole("combobox", { name: "Token" });
    expect(await token.getByRole("option").allInnerTexts()).toEqual(["USDC"]);
    const chain = dialog.getByRole("combobox", { name: "Chain" });
    expect(await chain.getByRole("option").allInnerTexts()).toEqual(["ethereum", "arbitrum"]);
    await chain.selectOption("arbitrum");
    expect((await vault.innerText()).toLowerCase()).toBe(CHAINS.arbitrum.vault);
    expect(await token.getByRole("option").allInnerTexts()).toEqual(["USDT"]);
    await opened.inspect("deposit-from-a-chain");

    await dialog.getByRole("textbox", { name: "Transaction hash" }).fill(`0x${"7".repeat(64)}`);
    await dialog.getByRole("button", { name: "Register the transfer" }).click();
    const row = table.getByRole("row").filter({ hasText: "arbitrum" });
    await row.filter({ hasText: "USDT" }).getByText("queued").waitFor();
    opened.expectClean();
  });

  test("server killed and started again: the page heals, the session goes on", async () => {
    const own = new GatewayProcess({ page: built.folder });
    onTestFinished(() => own.remove());
    await own.start();
    const opened = await open({ url: own.url });
    const { page } = opened;
    await page.getByText("The book is empty: be the first to quote").waitFor();
    await page.getByText("No trades yet").waitFor();
    await opened.inspect("empty-market");
    await opened.signInWithBurner();
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await opened.answer().getByText("Buy limit resting").waitFor();
    await own.kill();
    await page.locator('.connection[data-state="waiting"]').waitFor();
    await page.getByRole("button", { name: "Reconnecting…", disabled: true }).waitFor();
    await opened.picture("reconnecting");
    await own.start();
    await opened.untilLive();
    const markBefore = await markOf(page);
    await expect.poll(() => markOf(page), POLL).not.toBe(markBefore);
    await opened.tab(/Open orders \(1\)/);
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "59000" });
    await opened.tab(/Open orders \(2\)/);
    await opened.answer().locator('[data-seal="proven"]').waitFor();
    opened.expectClean({ isServerAway: true });
  });
});

function hasLeaf(value: unknown): value is { readonly leaf: string } {
  return typeof value === "object" && value !== null && "leaf" in value;
}

/** One bit of the account's number, which no field of the acknowledgement shows. */
function withOtherAccount(leaf: string): string {
  const bytes = Buffer.from(leaf.slice(2), "hex");
  bytes[22] = (bytes[22] ?? 0) ^ 8;
  return `0x${bytes.toString("hex")}`;
}

interface TickerFacts {
  readonly mark: number;
  readonly last: number | null;
}

async function tickerOf(url: string): Promise<TickerFacts> {
  const answer = await fetch(`${url}/v1/markets/BTCUSD/ticker`);
  const ticker: TickerFacts = JSON.parse(await answer.text());
  return ticker;
}

/** The bots have quoted on both sides, and traded. */
async function untilTraded(url: string): Promise<void> {
  const depthOf = async () => {
    const answer = await fetch(`${url}/v1/markets/BTCUSD/book?depth=100`);
    const { bids, asks }: { bids: unknown[]; asks: unknown[] } = JSON.parse(await answer.text());
    return Math.min(bids.length, asks.length);
  };
  const isTrading = async () => (await depthOf()) === 100 && (await tickerOf(url)).last !== null;
  await vi.waitUntil(isTrading, { timeout: 100_000, interval: 100 });
}

function markOf(page: Page): Promise<string> {
  return page.locator(".figure", { hasText: "Mark" }).first().innerText();
}

function hexOf(value: unknown): `0x${string}` {
  if (typeof value !== "string" || !/^0x[0-9a-f]*$/i.test(value)) throw new Error("not hex");
  return `0x${value.slice(2)}`;
}

type WalletAnswer = string | readonly string[] | { readonly rejected: number };

/** A wallet in the page that asks the test, as an extension asks its user. */
async function injectWallet(
  page: Page,
  answer: (method: string, params: readonly unknown[]) => Promise<WalletAnswer>,
): Promise<void> {
  await page.exposeFunction("askTestWallet", answer);
  await page.addInitScript(`
    const provider = {
      request: async ({ method, params = [] }) => {
        const answer = await window.askTestWallet(method, params);
        if (answer?.rejected === undefined) return answer;
        throw Object.assign(new Error("User rejected the request."), { code: answer.rejected });
      },
    };
    const announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", {
      detail: Object.freeze({ info: { uuid: "test", name: "Test Wallet", rdns: "test", icon: "data:," }, provider }),
    }));
    window.addEventListener("eip6963:requestProvider", announce);
    window.ethereum = provider;
    announce();
  `);
}
