/** The page in Chromium: new keys and key files, price alerts, fingers. */

import { describe } from "vitest";
import { isWithoutChromium } from "./testing/chromium.js";
import { createPageTest, PAGE_TESTS } from "./testing/page-test.js";
import { alertTests } from "./testing/suites/alerts.js";
import { keyTests } from "./testing/suites/keys.js";
import { touchTests } from "./testing/suites/touch.js";

describe.skipIf(isWithoutChromium())("trading page, keys, alerts and fingers", PAGE_TESTS, () => {
  const { test } = createPageTest();
  keyTests(test);
  alertTests(test);
  touchTests(test);
});
