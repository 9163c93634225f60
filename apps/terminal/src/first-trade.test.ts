/** One test of the page in Chromium against a real gateway with its bots; the others are system tests. */

import { describe } from "vitest";
import { isWithoutChromium } from "./testing/chromium.js";
import { createPageTest, PAGE_TESTS } from "./testing/page-test.js";
import { firstTradeTests } from "./testing/suites/first-trade.js";

describe.skipIf(isWithoutChromium())("trading page", PAGE_TESTS, () => {
  firstTradeTests(createPageTest().test);
});
