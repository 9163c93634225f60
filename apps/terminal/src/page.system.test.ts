/** The page in Chromium against a real gateway with its bots, as `npm start` runs it. */

import { afterAll, describe } from "vitest";
import { isWithoutChromium } from "./testing/chromium.js";
import { createPageTest } from "./testing/page-test.js";
import { accountTests, chainTests } from "./testing/suites/account.js";
import { chartTests } from "./testing/suites/chart.js";
import { checkPageTests } from "./testing/suites/check-page.js";
import { figureTests } from "./testing/suites/figures.js";
import { frameTests } from "./testing/suites/frames.js";
import { gatewayTests } from "./testing/suites/gateways.js";
import { lineTests } from "./testing/suites/line.js";
import { marketTests } from "./testing/suites/market.js";
import { orderFormTests } from "./testing/suites/order-form.js";
import { positionTests } from "./testing/suites/positions.js";
import { receiptTests } from "./testing/suites/receipts.js";
import { recoveryTests } from "./testing/suites/recovery.js";
import { shellTests } from "./testing/suites/shell.js";
import { tabTests } from "./testing/suites/tabs.js";
import { tradingTests } from "./testing/suites/trading.js";

/** To look for tests that fail now and then: with `-t name`, on a busy machine. */
const repeats = Number(process.env.PERPGATE_PAGE_REPEATS ?? 0);

/** How long frames and memory are measured, by `npm test -- --long page` only: figures depend on the machine. */
const minutes = Number(process.env.PERPGATE_PAGE_MINUTES ?? 0);

describe.skipIf(isWithoutChromium())("trading page", { timeout: 240_000, repeats }, () => {
  const { test, endVenues } = createPageTest();

  describe("a quiet venue", () => {
    afterAll(endVenues);
    recoveryTests(test);
    lineTests(test);
    receiptTests(test);
    checkPageTests(test);
    tabTests(test);
  });

  describe("a venue with bots", () => {
    afterAll(endVenues);
    accountTests(test);
    tradingTests(test);
    orderFormTests(test);
    figureTests(test);
    positionTests(test);
    chartTests(test);
    marketTests(test);
    shellTests(test);
  });

  describe("venues of their own", () => {
    chainTests(test);
    gatewayTests(test);
    if (minutes > 0) frameTests(test, minutes);
  });
});
