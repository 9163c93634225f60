/** The page in Chromium: new keys and key files, price alerts, fingers, German. */

import { describe } from "vitest";
import { isWithoutChromium } from "./testing/chromium.js";
import { createPageTest, PAGE_TESTS } from "./testing/page-test.js";
import { alertTests } from "./testing/suites/alerts.js";
import { germanTests } from "./testing/suites/german.js";
import { keyTests } from "./testing/suites/keys.js";
import { touchTests } from "./testing/suites/touch.js";

describe.skipIf(isWithoutChromium())(
  "trading page, keys, alerts, fingers and German",
  PAGE_TESTS,
  () => {
    const { test } = createPageTest();
    keyTests(test);
    alertTests(test);
    touchTests(test);
    germanTests(test);
  },
);
