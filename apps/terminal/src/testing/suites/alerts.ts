/** Alerts on prices. */

import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { HEARD_NOTIFICATIONS } from "../heard.js";
import type { PageTest } from "../page-test.js";
import { POLL } from "../trading-page.js";

export function alertTests(test: PageTest): void {
  test("price alerts: on the chart and in the list, kept, shared by tabs; one fires once, in a hidden page, too", async ({
    open,
    quiet,
    onTestFinished,
  }) => {
    const client = new PerpgateClient({ url: quiet.url });
    onTestFinished(() => client.close());
    const newTrader = () => client.signIn({ account: privateKeyAccount(newPrivateKey()) });
    const [maker, taker] = [await newTrader(), await newTrader()];
    const order = { symbol: "BTCUSD", type: "limit", size: 0.001, leverage: 2 } as const;
    const tradeAt = async (price: number) => {
      await maker.placeOrder({ ...order, side: "short", price });
      await taker.placeOrder({ ...order, side: "long", timeInForce: "ioc", price });
    };
    await tradeAt(65_000);
    const first = await open({
      url: quiet.url,
      prepare: async (page) => {
        await page.addInitScript(HEARD_NOTIFICATIONS);
        await page.addInitScript("Notification.permission = 'default'");
      },
    });
    const { page } = first;
    await page.getByRole("button", { name: "Alerts", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Price alerts" });
    const rows = dialog.getByRole("list", { name: "Price alerts" }).getByRole("listitem");
    await dialog.getByText("Last", { exact: true }).click();
    await dialog.getByText("Now 65,000").waitFor();
    const add = async (price: string) => {
      await dialog.getByRole("textbox", { name: "Price of the alert" }).fill(price);
      await dialog.getByRole("button", { name: "Add the alert" }).click();
    };
    await add("65000");
    await dialog.getByText("The last price is there now").waitFor();
    await add("0.001");
    await dialog.getByText(/Use a multiple|Enter a price/).waitFor();
    for (const price of ["65,100", "65200", "64000"]) await add(price);
    await expect.poll(() => rows.count(), POLL).toBe(3);
    await dialog.getByText(/BTCUSD last falls to 64,000/).waitFor();
    await first.inspect("alerts", "dialog");
    // Nothing was asked of the browser until now.
    expect(await page.evaluate("window.asked")).toBe(0);
    await dialog.getByRole("checkbox", { name: /^Notifications/ }).check();
    expect(await page.evaluate("window.asked")).toBe(1);
    await dialog.getByRole("button", { name: /^Remove the alert: BTCUSD last falls/ }).click();
    await expect.poll(() => rows.count(), POLL).toBe(2);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Alerts (2)" }).waitFor();

    const second = await open({ url: quiet.url, tabOf: first });
    await second.page.getByRole("button", { name: "Alerts (2)" }).waitFor();
    // As in a tab that is not in front: no frames, no focus.
    await page.evaluate("window.requestAnimationFrame = () => 0; document.hasFocus = () => false");
    await tradeAt(65_150);
    const told = (tab: Page) => tab.locator(".toast", { hasText: "last rises to 65,100" });
    for (const tab of [page, second.page]) await told(tab).getByText("It is 65,150").waitFor();
    await expect.poll(() => page.evaluate("window.heard.length"), POLL).toBe(1);
    await second.page.getByRole("button", { name: "Alerts (1)" }).waitFor();
    await tradeAt(65_010);
    await tradeAt(65_160);
    expect(await told(second.page).count()).toBe(1);

    // The tab that watched is closed: the other one goes on, and finds what is kept.
    await page.close();
    await second.page.reload();
    await second.untilLive();
    await second.page.getByRole("button", { name: "Alerts (1)" }).waitFor();
    await tradeAt(65_200);
    await second.page.locator(".toast", { hasText: "last rises to 65,200" }).waitFor();
    await second.page.getByRole("button", { name: "Alerts", exact: true }).waitFor();
    expect(await second.page.evaluate("localStorage.getItem('perpgate.alerts')")).toBe("[]");
    for (const each of [maker, taker]) await each.cancelAll();
    second.expectClean();
  });
}
