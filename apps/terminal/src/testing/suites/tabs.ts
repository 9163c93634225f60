/** Two tabs of one browser with the same session. */

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
    await second.page.getByRole("button", { name: "Cancel all" }).click();
    await first.page.getByText("No open orders.").waitFor();
    await first.page.getByRole("button", { name: "Sign out" }).click();
    const isOut = () => second.page.getByRole("button", { name: "Sign in to trade" }).isVisible();
    await expect.poll(isOut, POLL).toBe(true);
    // A request of the other tab that was in flight when the session ended.
    for (const tab of tabs) tab.expectClean(/status of 401/);
  });
}
