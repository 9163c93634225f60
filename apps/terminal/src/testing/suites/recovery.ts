/** A gateway that crashes while the page is open. */

import type { Page } from "playwright-core";
import { expect } from "vitest";
import { GatewayProcess } from "../gateway-process.js";
import type { PageTest } from "../page-test.js";
import { OFFLINE, POLL } from "../trading-page.js";

export function recoveryTests(test: PageTest): void {
  test("gateway killed and restarted: the page recovers and the session continues", async ({
    open,
    pageFolder,
    onTestFinished,
  }) => {
    const own = new GatewayProcess({ page: pageFolder });
    onTestFinished(() => own.remove());
    await own.start();
    const opened = await open({ url: own.url });
    const { page } = opened;
    await page.getByText("The book is empty").waitFor();
    await page.getByText("No trades yet").waitFor();
    await opened.inspect("empty-market");
    await opened.signInWithBurner();
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await opened.result().getByText("Buy limit resting").waitFor();
    await own.kill();
    await page.locator('.connection[data-state="waiting"]').waitFor();
    await page.getByRole("button", { name: "Reconnecting…", disabled: true }).waitFor();
    await opened.screenshot("reconnecting");
    await own.start();
    await opened.untilLive();
    const markBefore = await markOf(page);
    await expect.poll(() => markOf(page), POLL).not.toBe(markBefore);
    await opened.tab(/Open orders \(1\)/);
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "59000" });
    await opened.tab(/Open orders \(2\)/);
    await opened.result().locator('[data-seal="proven"]').waitFor();
    opened.expectClean(OFFLINE);
  });
}

function markOf(page: Page): Promise<string> {
  return page.locator(".figure", { hasText: "Mark" }).first().innerText();
}
