/** Two tabs of one browser with the same session. */

import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { PageTest } from "../page-test.js";
import { POLL } from "../trading-page.js";

export function tabTests(test: PageTest): void {
  test("two tabs: one session, orders of both at the same time, one sign-out", async ({
    open,
    quiet,
  }) => {
    const first = await open({ url: quiet.url });
    await first.signInWithBurner();
    const second = await open({ url: quiet.url, tabOf: first });
    const address = (await first.page.locator(".who").getAttribute("title")) ?? "";
    await second.page.getByTitle(address).waitFor();
    const tabs = [first, second];
    // Both use the same key, and so the same row of nonces.
    for (const price of ["60000", "59000"]) {
      await Promise.all(
        tabs.map((tab, at) =>
          tab.order("Limit", "Buy / Long", { margin: "100", price: `${Number(price) + 10 * at}` }),
        ),
      );
    }
    for (const tab of tabs) {
      await tab.tab(/Open orders \(4\)/);
      await tab.result().locator('[data-seal="proven"]').waitFor();
    }
    await second.cancelAll();
    await first.page.getByText("No open orders.").waitFor();
    await first.signOut();
    const isOut = () => second.page.getByRole("button", { name: "Sign in to trade" }).isVisible();
    await expect.poll(isOut, POLL).toBe(true);
    // A request of the other tab that was in flight when the session ended.
    for (const tab of tabs) tab.expectClean(/status of 401/);
  });

  test("two tabs: neither replaces nor forgets the burner key that the other keeps, nor deletes its session", async ({
    open,
    quiet,
  }) => {
    const first = await open({ url: quiet.url });
    const second = await open({ url: quiet.url, tabOf: first });
    await first.signInWithBurner();
    const address = (await first.page.locator(".who").getAttribute("title")) ?? "";
    const { page } = second;
    await page.getByRole("button", { name: "Sign in to trade" }).click();
    await page.getByRole("button", { name: "Create a burner key" }).click();
    await page.getByRole("alert").getByText("This browser keeps a burner key already").waitFor();
    await page.getByRole("button", { name: "Use burner" }).click();
    await page.getByTitle(address).waitFor();
    // The session that is kept now is the second tab's.
    await first.signOut();
    await first.page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    const notes = "Object.keys(localStorage).filter((name) => name.includes('forget'))";
    await expect.poll(() => first.page.evaluate(notes), POLL).toEqual([]);
    await page.reload();
    await second.untilLive();
    await page.getByTitle(address).waitFor();

    await second.signOut();
    await page.getByRole("button", { name: "Sign in to trade" }).click();
    await forgetBurner(page);
    await page.getByRole("button", { name: "Create a burner key" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    const other = (await page.locator(".who").getAttribute("title")) ?? "";
    // The first tab still has the wallet that was forgotten.
    await first.page.getByRole("button", { name: "Sign in to trade" }).click();
    await first.page.getByRole("button", { name: "Use burner" }).click();
    await first.page.getByTitle(address).waitFor();
    await first.signOut();
    await first.page.getByRole("button", { name: "Sign in to trade" }).click();
    await forgetBurner(first.page);
    await first.page.getByRole("button", { name: "Create a burner key" }).click();
    await first.page.getByRole("button", { name: "Use burner" }).click();
    await first.page.getByTitle(other).waitFor();
    for (const tab of [first, second]) tab.expectClean(/status of 401/);
  });
}

async function forgetBurner(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Forget it" }).click();
  await page.getByRole("button", { name: "Forget it for good" }).click();
}
