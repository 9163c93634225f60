/**
 * Chromium for the tests of the page: the path in `CHROMIUM`, or one of the usual places. Without one
 * the tests are skipped with a warning; with `REQUIRE_CHROMIUM=1`, as in continuous integration, they
 * fail.
 */

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const USUAL_PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

export const chromiumPath = [process.env.CHROMIUM ?? "", ...USUAL_PLACES].find(
  (path) => path !== "" && existsSync(path),
);

const isRequired = process.env.REQUIRE_CHROMIUM === "1";

/** Whether the tests that need a browser are skipped; prints the reason. */
export function isWithoutChromium(): boolean {
  if (chromiumPath !== undefined) return false;
  if (isRequired) throw new Error("REQUIRE_CHROMIUM is set, but Chromium was not found");
  console.warn(
    "SKIPPED: the tests of the trading page need Chromium, which was not found. " +
      "Install it (Debian: apt-get install chromium) or set CHROMIUM=/path.",
  );
  return true;
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath ?? "",
    // Continuous integration runs as root in a container: no sandbox, little shared memory.
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
}
