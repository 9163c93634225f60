/** The page in Chromium against a real gateway with its bots, as `npm start` runs it. */

import { describe } from "vitest";
import { isWithoutChromium } from "./testing/chromium.js";
import { createPageTest } from "./testing/page-test.js";
import { accountTests } from "./testing/suites/account.js";
import { marketTests } from "./testing/suites/market.js";
import { recoveryTests } from "./testing/suites/recovery.js";
import { tradingTests } from "./testing/suites/trading.js";

describe.skipIf(isWithoutChromium())("trading page", { timeout: 240_000 }, () => {
  const test = createPageTest();
  recoveryTests(test);
  accountTests(test);
  tradingTests(test);
  marketTests(test);
});
