/** `test` with the built page, one venue with running bots and one browser, shared by all suites. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { StubWitness } from "@perpgate/venue/testing";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { launchChromium } from "./chromium.js";
import { GatewayProcess } from "./gateway-process.js";
import { type PageOptions, TradingPage } from "./trading-page.js";
import { untilTraded } from "./venue-reads.js";

const SCRIPT = fileURLToPath(new URL("../../../../scripts/build-page.mjs", import.meta.url));
/** Not where the compiler and `npm start` write. */
const PAGE = fileURLToPath(new URL("../../node_modules/test-page", import.meta.url));

/**
 * The folder of the page, built from the current sources as `npm start` does, unless it is already. With
 * `PERPGATE_PAGE` the tests run against that folder, to see which of them fail on another page.
 */
async function builtPage(): Promise<string> {
  const given = process.env.PERPGATE_PAGE;
  if (given !== undefined) return given;
  await promisify(execFile)(process.execPath, [SCRIPT, PAGE]);
  return PAGE;
}

interface PageFixtures {
  /** Opens the page as a first visit. */
  readonly open: (options?: Partial<PageOptions>) => Promise<TradingPage>;
  /** The same, signed in with a new burner wallet. */
  readonly enter: (
    options?: Partial<PageOptions>,
  ) => Promise<{ readonly opened: TradingPage; readonly page: Page }>;
  readonly browser: Browser;
  readonly venueUrl: string;
  readonly pageFolder: string;
  /** A venue with a witness and without bots, which tests may stop and break; runs when a test gets it. */
  readonly quiet: GatewayProcess;
}

export type PageTest = PageSuites["test"];
type PageSuites = ReturnType<typeof createPageTest>;

/** Calmer than by default: most tests need a market that moves, none but the frames' a busy one. */
const CALM = { levels: 200, refreshMs: 1_000, actionsPerSecond: 80, gamblers: 1 };

/**
 * Options of a group of page tests. PERPGATE_PAGE_REPEATS: to look for tests that fail now and then, with
 * `-t name`, on a busy machine.
 */
export const PAGE_TESTS = {
  timeout: 240_000,
  repeats: Number(process.env.PERPGATE_PAGE_REPEATS ?? 0),
};

export function createPageTest() {
  let folder: string;
  let browser: Browser;
  let visits: Visits;
  let venues: Venues;

  beforeAll(async () => {
    [folder, browser] = await Promise.all([builtPage(), launchChromium()]);
    visits = new Visits(browser);
    venues = new Venues(folder);
  }, 240_000);

  afterAll(async () => {
    await browser?.close();
    await venues?.end();
  });

  const extended = test.extend<PageFixtures>({
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the used fixtures from the pattern
    browser: ({}, use) => use(browser),
    // biome-ignore lint/correctness/noEmptyPattern: as above
    venueUrl: async ({}, use) => use(await venues.withBots()),
    // biome-ignore lint/correctness/noEmptyPattern: as above
    pageFolder: ({}, use) => use(folder),
    quiet: async ({ task }, use) => {
      const quiet = await venues.withoutBots();
      await use(quiet);
      // The next test must not meet the orders of this one.
      if (task.result?.state === "fail") return venues.endQuiet();
      quiet.thaw();
      if (!quiet.isRunning) await quiet.start();
    },
    open: async ({ task }, use) => {
      const pages: TradingPage[] = [];
      await use(async (options = {}) => {
        const url = options.url ?? (await venues.withBots());
        const page = await TradingPage.open(await visits.begin(options), { ...options, url });
        pages.push(page);
        return page;
      });
      if (task.result?.state === "fail") {
        for (const error of task.result.errors ?? []) {
          // A wait of the browser's library.
          if (error.name === "TimeoutError") error.message = `too late: ${error.message}`;
        }
        for (const page of pages) console.error(`${task.name}\n${await page.describe()}`);
      }
      await visits.end();
    },
    enter: ({ open }, use) =>
      use(async (options) => {
        const opened = await open(options);
        await opened.signInWithBurner();
        return { opened, page: opened.page };
      }),
  });
  return { test: extended };
}

/** The shared venues. Each runs from the first test that needs it to the end of its group. */
class Venues {
  private bots: Promise<GatewayProcess> | undefined;
  private quiet: Promise<GatewayProcess> | undefined;
  private witness: StubWitness | undefined;

  constructor(private readonly page: string) {}

  async withBots(): Promise<string> {
    this.bots ??= this.startBots();
    return (await this.bots).url;
  }

  withoutBots(): Promise<GatewayProcess> {
    this.quiet ??= this.startQuiet();
    return this.quiet;
  }

  async end(): Promise<void> {
    const bots = this.bots;
    this.bots = undefined;
    await removed(bots);
    await this.endQuiet();
  }

  async endQuiet(): Promise<void> {
    const quiet = this.quiet;
    this.quiet = undefined;
    await removed(quiet);
    this.witness?.close();
  }

  private async startBots(): Promise<GatewayProcess> {
    const gateway = new GatewayProcess({ page: this.page, bots: CALM });
    await gateway.start();
    try {
      await untilTraded(gateway.url);
    } catch (error) {
      await gateway.remove();
      throw error;
    }
    return gateway;
  }

  private async startQuiet(): Promise<GatewayProcess> {
    this.witness = await StubWitness.start();
    const settings = { receipts: { witnesses: [this.witness.setting] } };
    const gateway = new GatewayProcess({ page: this.page, settings });
    await gateway.start();
    return gateway;
  }
}

/** What failed to start has nothing to remove. */
async function removed(gateway: Promise<GatewayProcess> | undefined): Promise<void> {
  await (await gateway?.catch(() => undefined))?.remove();
}

/**
 * Browser contexts. The first visit of each test uses the same one, with what the page stored removed:
 * its cache holds the compiled page, and a blank tab keeps its window open. Opening the page then takes a
 * third of the processor time. Further visits of a test get their own.
 */
class Visits {
  private shared: BrowserContext | undefined;
  private blank: Page | undefined;
  private readonly others: BrowserContext[] = [];

  constructor(private readonly browser: Browser) {}

  async begin({ tabOf }: Partial<PageOptions>): Promise<BrowserContext> {
    if (tabOf !== undefined) return tabOf.context;
    if (this.shared === undefined) {
      this.shared = await this.browser.newContext();
      this.blank = await this.shared.newPage();
    }
    if (this.openTabs().length === 0) return this.shared;
    const other = await this.browser.newContext();
    this.others.push(other);
    return other;
  }

  async end(): Promise<void> {
    const others = this.others.splice(0);
    const pages = [...this.openTabs(), ...others.flatMap((context) => context.pages())];
    // A request may be held by a test's handler, which fails when its page closes.
    await Promise.all(pages.map((page) => page.unrouteAll({ behavior: "ignoreErrors" })));
    await Promise.all(others.map((context) => context.close()));
    await this.shared?.setOffline(false);
    await Promise.all(this.openTabs().map((page) => page.close()));
  }

  private openTabs(): readonly Page[] {
    return (this.shared?.pages() ?? []).filter((page) => page !== this.blank);
  }
}
