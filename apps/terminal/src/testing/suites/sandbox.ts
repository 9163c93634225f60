/** The page of a sandbox, which moves its time. */

import { startVenue } from "@perpgate/sandbox";
import { expect } from "vitest";
import type { PageTest } from "../page-test.js";
import { POLL } from "../trading-page.js";

const HOUR_MS = 3_600_000;

export function sandboxTests(test: PageTest): void {
  test("sandbox: the page says so, signs in at the venue's time, steps, runs and pauses it", async ({
    open,
    pageFolder,
    onTestFinished,
  }) => {
    const venue = await startVenue({
      control: 0,
      page: pageFolder,
      grant: 10_000,
      until: onTestFinished,
    });
    const opened = await open({ url: venue.url, gateways: [venue.control ?? ""] });
    const { page } = opened;
    await page.getByRole("banner").getByText("SANDBOX", { exact: true }).waitFor();
    await opened.signInWithBurner();
    await opened.order("Market", "Buy / Long", { margin: "100" });
    await opened.tab(/Positions \(1\)/);
    await opened.inspect("sandbox", ".sandbox-bar");

    const before = venue.time;
    await page.getByRole("button", { name: "Step by 1h" }).click();
    await expect.poll(() => venue.time, POLL).toBe(before + HOUR_MS);
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByLabel("Speed").selectOption("60");
    await expect.poll(() => venue.speed, POLL).toBe(60);
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await opened.tab(/Open orders \(1\)/);
    await page.getByRole("button", { name: "Pause" }).click();
    await expect.poll(() => venue.isManual, POLL).toBe(true);
    expect(venue.time).toBeGreaterThan(before + HOUR_MS);
    opened.expectClean();
  });
}
