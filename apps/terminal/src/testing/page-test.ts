/** `test` with the built page, one venue with running bots and one browser, shared by all suites. */

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { buildPage } from "./built-page.js";
import { launchChromium } from "./chromium.js";
import { GatewayProcess } from "./gateway-process.js";
import { type PageOptions, TradingPage } from "./trading-page.js";
import { untilTraded } from "./venue-reads.js";

interface PageFixtures {
  /** Opens the page in a browser context that is closed after the test. */
  readonly open: (options?: Partial<PageOptions>) => Promise<TradingPage>;
  readonly venueUrl: string;
  readonly pageFolder: string;
}

export type PageTest = ReturnType<typeof createPageTest>;

export function createPageTest() {
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

  return test.extend<PageFixtures>({
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the used fixtures from the pattern
    venueUrl: ({}, use) => use(gateway.url),
    // biome-ignore lint/correctness/noEmptyPattern: as above
    pageFolder: ({}, use) => use(built.folder),
    open: async ({ venueUrl }, use) => {
      const pages: TradingPage[] = [];
      await use(async (options = {}) => {
        const page = await TradingPage.open(browser, { url: venueUrl, ...options });
        pages.push(page);
        return page;
      });
      await Promise.all(pages.map((page) => page.close()));
    },
  });
}
