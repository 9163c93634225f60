/** The page in Chromium against venues that tests start for themselves. */

import { describe } from "vitest";
import { isWithoutChromium } from "./testing/chromium.js";
import { createPageTest, PAGE_TESTS } from "./testing/page-test.js";
import { chainTests, withdrawalTests } from "./testing/suites/account.js";
import { frameTests } from "./testing/suites/frames.js";
import { gatewayTests } from "./testing/suites/gateways.js";
import { largestOrderTests } from "./testing/suites/order-form.js";
import { randomUseTests } from "./testing/suites/random-use.js";

/** How long frames and memory are measured, by `npm test -- --long page` only: figures depend on the machine. */
const minutes = Number(process.env.PERPGATE_PAGE_MINUTES ?? 0);

describe.skipIf(isWithoutChromium())("trading page, venues of their own", PAGE_TESTS, () => {
  const { test } = createPageTest();
  chainTests(test);
  withdrawalTests(test);
  gatewayTests(test);
  largestOrderTests(test);
  randomUseTests(test);
  if (minutes > 0) frameTests(test, minutes);
});
