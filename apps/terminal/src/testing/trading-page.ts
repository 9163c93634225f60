/**
 * The page in a browser. Records console errors, exceptions and requests to other hosts;
 * `expectClean` asserts that there were none.
 */

import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Not under version control. */
const SHOTS = fileURLToPath(new URL("../../../../test-results/terminal", import.meta.url));

/** Logged by the browser while the server is down. */
export const OFFLINE = /net::ERR_|WebSocket connection to|Failed to load resource/;

export interface PageOptions {
  readonly url: string;
  readonly width?: number;
  readonly height?: number;
  readonly colours?: "light" | "dark";
  /** Runs before the page's scripts. */
  readonly prepare?: (page: Page) => Promise<void>;
}

export class TradingPage {
  private readonly problems: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly origin: string,
  ) {}

  static async open(browser: Browser, options: PageOptions): Promise<TradingPage> {
    const { url, width = 1440, height = 900, colours = "dark", prepare } = options;
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: colours,
      reducedMotion: "reduce",
    });
    context.setDefaultTimeout(POLL.timeout);
    const page = await context.newPage();
    const opened = new TradingPage(context, page, new URL(url).origin);
    opened.watch();
    await prepare?.(page);
    await page.goto(url);
    await opened.untilLive();
    return opened;
  }

  async untilLive(): Promise<void> {
    await this.page.locator('.connection[data-state="open"]').waitFor();
  }

  /** `allowed` are messages that the test provokes. */
  expectClean(allowed?: RegExp): void {
    expect(this.problems.filter((problem) => allowed?.test(problem) !== true)).toEqual([]);
  }

  async close(): Promise<void> {
    await this.context.close();
  }

  /** Takes a screenshot and asserts that axe finds nothing serious or critical. */
  async inspect(name: string): Promise<void> {
    await this.screenshot(name);
    await this.page.evaluate(AXE);
    const results: AxeResults = await this.page.evaluate(
      "axe.run({ resultTypes: ['violations'] })",
    );
    const serious = results.violations.filter(
      ({ impact }) => impact === "serious" || impact === "critical",
    );
    const found = serious.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}\n${failureSummary}`),
    );
    expect(found, name).toEqual([]);
  }

  async screenshot(name: string): Promise<void> {
    mkdirSync(SHOTS, { recursive: true });
    await this.page.screenshot({ path: join(SHOTS, `${name}.png`) });
  }

  async signInWithBurner(): Promise<void> {
    const { page } = this;
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Create a burner key" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await this.untilAvailable((dollars) => dollars > 0);
  }

  async untilAvailable(isReached: (dollars: number) => boolean): Promise<void> {
    await expect.poll(async () => isReached(await this.available()), POLL).toBe(true);
  }

  async available(): Promise<number> {
    const text = await this.page.getByTestId("available").innerText();
    return Number(text.replaceAll(/[^\d.]/g, ""));
  }

  /** Fills the order form and submits it. */
  async order(
    type: "Market" | "Limit" | "Stop",
    side: "Buy / Long" | "Sell / Short",
    fields: { readonly margin: string; readonly price?: string },
  ): Promise<void> {
    const form = this.page.getByRole("form", { name: "Order" });
    await form.getByText(side, { exact: true }).first().click();
    await form.getByText(type, { exact: true }).click();
    if (fields.price !== undefined) {
      await form.getByRole("textbox", { name: /price/i }).fill(fields.price);
    }
    await form.getByRole("textbox", { name: "Margin" }).fill(fields.margin);
    await form.locator("button[type=submit]").click();
  }

  result() {
    return this.page.getByTestId("result");
  }

  async tab(name: RegExp): Promise<void> {
    await this.page.getByRole("tab", { name }).click();
  }

  private watch(): void {
    this.page.on("console", (message) => {
      if (message.type() === "error") this.problems.push(`console: ${message.text()}`);
    });
    this.page.on("pageerror", (error) => {
      this.problems.push(`exception: ${error.stack ?? error.message}`);
    });
    this.context.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== this.origin && protocol !== "data:") {
        this.problems.push(`request to ${request.url()}`);
      }
    });
    this.page.on("websocket", (socket) => {
      if (new URL(socket.url()).host !== new URL(this.origin).host) {
        this.problems.push(`socket to ${socket.url()}`);
      }
    });
  }
}

/** Long, because tests share a busy machine. */
export const POLL = { timeout: 60_000, interval: 50 };
