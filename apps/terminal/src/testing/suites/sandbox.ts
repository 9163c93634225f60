/** The page of a sandbox, which moves its time. */

import { startVenue } from "@perpgate/sandbox";
import { newPrivateKey, privateKeyAccount } from "@perpgate/sdk";
import { expect } from "vitest";
import { formatDollars, formatSigned } from "../../format/numbers.js";
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

  test("sandbox: PnL and equity over time end at the figures of the interface, and begin with the account", async ({
    open,
    pageFolder,
    onTestFinished,
  }) => {
    const venue = await startVenue({ control: 0, page: pageFolder, until: onTestFinished });
    const key = newPrivateKey();
    const account = privateKeyAccount(key);
    const own = await venue.client().signIn({ account });
    await venue.fund(account.address, 5_000);
    const order = { symbol: "BTCUSD", type: "market", leverage: 10 } as const;
    await own.placeOrder({ ...order, side: "long", margin: 1_000 });
    await venue.price("BTCUSD", 66_000, { within: "30m" });
    await venue.advance("40m");
    await own.placeOrder({ ...order, side: "short", margin: 300 });
    await venue.advance("25m");
    const opened = await open({ url: venue.url, gateways: [venue.control ?? ""] });
    const { page } = opened;
    await opened.signInWithKey(key);
    await opened.tab(/History/);
    const portfolio = page.getByRole("region", { name: "Portfolio" });
    await portfolio.getByText("PnL", { exact: true }).first().click();
    const figures = async () => [
      await page.getByTestId("equity-now").innerText(),
      await page.getByTestId("equity-pnl").innerText(),
    ];
    const expected = async () => {
      const { equity } = await own.account();
      return [formatDollars(equity), formatSigned(equity - 5_000, 2)];
    };
    const first = await expected();
    await expect.poll(figures, POLL).toEqual(first);
    const chart = portfolio.getByRole("img", { name: /^PnL over time, from/ });
    await chart.locator("canvas").first().waitFor();
    await opened.inspect("equity", "section.portfolio");
    // What the account does is read again.
    await own.placeOrder({ ...order, side: "short", size: 0.05 });
    await venue.advance("1m");
    const second = await expected();
    expect(second).not.toEqual(first);
    await expect.poll(figures, POLL).toEqual(second);
    await portfolio.getByText("Equity", { exact: true }).first().click();
    await portfolio.getByRole("img", { name: /^Equity over time, from 0\.00 to/ }).waitFor();
    for (const [width, height] of [
      [1280, 720],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      if (width === 390) {
        const views = page.getByRole("navigation", { name: "Views" });
        await views.getByRole("button", { name: "Portfolio" }).click();
      }
      await opened.inspect(`equity-${width}`);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
    opened.expectClean();
  });
}
