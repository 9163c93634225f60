/**
 * The page in a browser. Records console errors, exceptions and requests to other hosts;
 * `expectClean` asserts that there were none.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BrowserContext, Locator, Page, Route } from "playwright-core";
import { expect } from "vitest";
import { expectAccessible } from "./axe.js";

/** Not under version control; taken only if the environment asks for them. */
const SHOTS = fileURLToPath(new URL("../../../../test-results/terminal", import.meta.url));
const HAS_SHOTS = process.env.PERPGATE_SCREENSHOTS === "1";

/** Logged by the browser while the server is down. */
export const OFFLINE = /net::ERR_|WebSocket connection to|Failed to load resource/;

export interface PageOptions {
  readonly url: string;
  readonly width?: number;
  readonly height?: number;
  readonly colours?: "light" | "dark";
  /** Other gateways that the page may use. */
  readonly gateways?: readonly string[];
  /** Opens another tab of this visit, with what it stored. */
  readonly tabOf?: TradingPage;
  /** Runs before the page's scripts. */
  readonly prepare?: (page: Page) => Promise<void>;
}

export class TradingPage {
  private readonly problems: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly origins: readonly string[],
  ) {}

  static async open(context: BrowserContext, options: PageOptions): Promise<TradingPage> {
    const { url, gateways = [], width = 1440, height = 900, colours = "dark", prepare } = options;
    context.setDefaultTimeout(POLL.timeout);
    const page = await context.newPage();
    const opened = new TradingPage(context, page, [new URL(url).origin, ...gateways]);
    try {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: colours, reducedMotion: "reduce" });
      if (options.tabOf === undefined) await forgetStored(page, new URL(url).origin);
      opened.watch();
      await prepare?.(page);
      await page.goto(url);
      await opened.untilLive();
    } catch (error) {
      console.error(await opened.describe());
      throw error;
    }
    return opened;
  }

  async untilLive(): Promise<void> {
    await this.untilLine("live");
  }

  async untilLine(state: "live" | "stale" | "reconnecting" | "offline"): Promise<void> {
    await this.page.locator(`.connection[data-state="${state}"]`).waitFor();
  }

  /** `allowed` are messages that the test provokes. */
  expectClean(allowed?: RegExp): void {
    expect(this.problems.filter((problem) => allowed?.test(problem) !== true)).toEqual([]);
  }

  /** What a user sees and what the browser logged, for the report of a failed test. */
  async describe(): Promise<string> {
    const seen = await Promise.race([
      this.page.evaluate<string>(DESCRIBE).catch((error: Error) => error.message),
      new Promise<string>((resolve) => setTimeout(resolve, 10_000, "the page does not answer")),
    ]);
    return [`page ${this.page.url()}`, seen, "logged:", ...this.problems].join("\n");
  }

  /** Asserts that axe finds nothing at any level, in the whole page or in the part that is new. */
  async inspect(name: string, part?: string): Promise<void> {
    if (part !== undefined) await this.page.locator(part).first().waitFor();
    await this.screenshot(name);
    await expectAccessible(this.page, name, part);
  }

  async screenshot(name: string): Promise<void> {
    if (!HAS_SHOTS) return;
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

  /** With the private key of a burner wallet. */
  async signInWithKey(key: string): Promise<void> {
    const { page } = this;
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByLabel("Private key").fill(key);
    await page.getByRole("button", { name: "Sign in with this key" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  }

  /** With the wallet that `injectWallet` announced. */
  async signInWithWallet(address: string): Promise<void> {
    const { page } = this;
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Use Test Wallet" }).click();
    await page.getByTitle(address).waitFor();
    await this.untilAvailable((dollars) => dollars > 0);
  }

  /** Signs out, also where the page asks first because it does not know yet that nothing is open. */
  async signOut(): Promise<void> {
    const { page } = this;
    await page.getByRole("button", { name: "Sign out" }).click();
    const question = page.getByRole("button", { name: "Sign out now" });
    await question
      .or(page.getByRole("button", { name: "Sign in to trade" }))
      .first()
      .waitFor();
    if (await question.isVisible()) await question.click();
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
    await this.press(form.locator("button[type=submit]"));
  }

  /**
   * Presses a button once, when it can be reached and is enabled. Buttons are disabled while the line is
   * down, which it may be for moments on a busy machine: the last look and the press are one task of the
   * page, so that nothing comes between.
   */
  async press(button: Locator): Promise<void> {
    await button.click({ trial: true });
    const isPressed = () => button.evaluate(pressIfEnabled);
    await expect.poll(isPressed, POLL).toBe(true);
  }

  /** Presses *Cancel all*, and yes. */
  async cancelAll(): Promise<void> {
    await this.press(this.page.getByRole("button", { name: "Cancel all" }));
    await this.page.getByRole("button", { name: /^Cancel \d+ orders?$/ }).click();
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
    this.page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (!this.origins.includes(origin) && protocol !== "data:" && protocol !== "blob:") {
        this.problems.push(`request to ${request.url()}`);
      }
    });
    this.page.on("websocket", (socket) => {
      if (!this.origins.includes(new URL(socket.url()).origin.replace(/^ws/, "http"))) {
        this.problems.push(`socket to ${socket.url()}`);
      }
    });
  }
}

/**
 * Handles these requests until the returned function is called. One that is being handled then has gone
 * on to the venue, and what its handler still does with it fails.
 */
export async function intercept(
  page: Page,
  path: string,
  handle: (route: Route) => Promise<void>,
): Promise<() => Promise<void>> {
  let isOver = false;
  const handler = (route: Route): Promise<void> =>
    handle(route).catch((error: unknown) => {
      if (!isOver) throw error;
    });
  await page.route(path, handler);
  return async () => {
    isOver = true;
    await page.unroute(path, handler);
  };
}

async function forgetStored(page: Page, origin: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const storageTypes = "cookies,local_storage,indexeddb,cache_storage,service_workers";
  await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes });
  await devtools.detach();
}

/** Long, because tests share a busy machine. */
export const POLL = { timeout: 60_000, interval: 100, message: "too late" };

/** Runs inside the page. */
export function pressIfEnabled(button: HTMLElement | SVGElement): boolean {
  if (!(button instanceof HTMLButtonElement) || button.disabled) return false;
  button.click();
  return true;
}

/** Runs inside the page: the line's state, toasts, dialogs and the text of every region. */
const DESCRIBE = `[
  "line: " + document.querySelector(".connection")?.dataset.state,
  ...[...document.querySelectorAll(".toasts, dialog, header, main > *, footer")]
    .filter((each) => each.checkVisibility())
    .map((each) => (each.getAttribute("aria-label") ?? each.className ?? each.tagName) + ": " +
      each.innerText.replaceAll(/\\s+/g, " ").slice(0, 1500) +
      [...each.querySelectorAll("input:not([type=radio]):not([type=checkbox])")]
        .map((input) => " [" + (input.ariaLabel ?? input.name) + "=" + input.value + "]").join("")),
].join("\\n")`;
