/** The page in Chromium against a venue with a witness and without bots, which tests stop and break. */

import { describe } from "vitest";
import { isWithoutChromium } from "./testing/chromium.js";
import { createPageTest, PAGE_TESTS } from "./testing/page-test.js";
import { checkPageTests } from "./testing/suites/check-page.js";
import { lineTests } from "./testing/suites/line.js";
import { receiptTests } from "./testing/suites/receipts.js";
import { recoveryTests } from "./testing/suites/recovery.js";
import { sandboxTests } from "./testing/suites/sandbox.js";
import { tabTests } from "./testing/suites/tabs.js";

describe.skipIf(isWithoutChromium())("trading page, a quiet venue", PAGE_TESTS, () => {
  const { test } = createPageTest();
  recoveryTests(test);
  lineTests(test);
  receiptTests(test);
  checkPageTests(test);
  tabTests(test);
  sandboxTests(test);
});
