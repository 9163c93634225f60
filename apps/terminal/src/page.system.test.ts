/** The page in Chromium against a real gateway with its bots, as `npm start` runs it. */

import { describe } from "vitest";
import { isWithoutChromium } from "./testing/chromium.js";
import { createPageTest, PAGE_TESTS } from "./testing/page-test.js";
import { accountTests } from "./testing/suites/account.js";
import { chartTests } from "./testing/suites/chart.js";
import { figureTests } from "./testing/suites/figures.js";
import { marketTests } from "./testing/suites/market.js";
import { orderFormTests } from "./testing/suites/order-form.js";
import { positionTests } from "./testing/suites/positions.js";
import { shellTests } from "./testing/suites/shell.js";
import { tradingTests } from "./testing/suites/trading.js";

describe.skipIf(isWithoutChromium())("trading page, a venue with bots", PAGE_TESTS, () => {
  const { test } = createPageTest();
  accountTests(test);
  tradingTests(test);
  orderFormTests(test);
  figureTests(test);
  positionTests(test);
  chartTests(test);
  marketTests(test);
  shellTests(test);
});
