/** The page in Chromium against a real gateway with its bots, as `npm start` runs it. */

import { describe } from "vitest";
import { accountTests } from "./page-tests/account.js";
import { marketTests } from "./page-tests/market.js";
import { recoveryTests } from "./page-tests/recovery.js";
import { tradingTests } from "./page-tests/trading.js";
import { isWithoutChromium } from "./testing/chromium.js";
import { createPageTest } from "./testing/page-test.js";

// Concurrent: each test has a browser context and an account of its own, and mostly waits.
describe.skipIf(isWithoutChromium()).concurrent("trading page", { timeout: 240_000 }, () => {
  const test = createPageTest();
  recoveryTests(test);
  accountTests(test);
  tradingTests(test);
  marketTests(test);
});
