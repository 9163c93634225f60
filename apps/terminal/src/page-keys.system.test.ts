/** The page in Chromium: new keys, key files. */

import { describe } from "vitest";
import { isWithoutChromium } from "./testing/chromium.js";
import { createPageTest, PAGE_TESTS } from "./testing/page-test.js";
import { keyTests } from "./testing/suites/keys.js";

describe.skipIf(isWithoutChromium())("trading page, keys", PAGE_TESTS, () => {
  const { test } = createPageTest();
  keyTests(test);
});
