/** A gateway that crashes while the page is open. */

import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { PageTest } from "../page-test.js";
import { OFFLINE, POLL } from "../trading-page.js";

export function recoveryTests(test: PageTest): void {
  test("gateway killed and restarted: the page recovers and the session continues", async ({
    open,
    quiet: own,
  }) => {
    const opened = await open({ url: own.url });
    const { page } = opened;
    await page.getByText("The book is empty").waitFor();
    await page.getByText("Trades", { exact: true }).first().click();
    await page.getByText("No trades yet.", { exact: true }).waitFor();
    await page.getByText("Book", { exact: true }).first().click();
    await opened.inspect("empty-market");
    await opened.signInWithBurner();
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await opened.result().getByText("Buy limit resting").waitFor();
    await opened.tab(/Open orders \(1\)/);
    await page.getByRole("button", { name: /^Amend order/ }).click();
    await page.getByRole("textbox", { name: /New price of order/ }).fill("60500");
    // The kill meets the amendment somewhere between the browser and the log.
    const sent = page.waitForRequest("**/amend");
    const save = page.getByRole("button", { name: /^Save order/ });
    await save.click();
    await sent;
    await own.kill();
    await page.locator('.connection[data-state="reconnecting"]').waitFor();
    await page.getByRole("button", { name: "Reconnecting…", disabled: true }).waitFor();
    await opened.screenshot("reconnecting");
    await own.start();
    await opened.untilLive();
    // Its outcome becomes known, and then the row shows what another tab reads from the venue.
    const busy = page.getByRole("button", { name: /^Save order/, disabled: true });
    const isDecided = async () => (await busy.count()) === 0;
    await expect.poll(isDecided, POLL).toBe(true);
    await expect.poll(() => page.getByTestId("unsettled").count(), POLL).toBe(0);
    const discard = page.getByRole("button", { name: "Discard" });
    if (await discard.isVisible()) await discard.click();
    const second = await open({ url: own.url, tabOf: opened });
    await second.tab(/Open orders \(1\)/);
    const kept = await priceIn(second.page);
    await second.page.close();
    expect(["60,000.0", "60,500.0"]).toContain(kept);
    await expect.poll(() => priceIn(page), POLL).toBe(kept);
    const markBefore = await markOf(page);
    await expect.poll(() => markOf(page), POLL).not.toBe(markBefore);
    await opened.tab(/Open orders \(1\)/);
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "59000" });
    await opened.tab(/Open orders \(2\)/);
    await opened.result().locator('[data-seal="proven"]').waitFor();
    opened.expectClean(OFFLINE);
  });
}

function priceIn(page: Page): Promise<string> {
  return page.locator('td[data-title="Price"]').innerText();
}

function markOf(page: Page): Promise<string> {
  return page.locator(".figure", { hasText: "Mark" }).first().innerText();
}
