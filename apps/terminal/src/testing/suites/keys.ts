/** New keys and key files. */

import { readFile } from "node:fs/promises";
import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { PageTest } from "../page-test.js";
import { injectWallet, requestsOf } from "../test-wallet.js";
import { intercept, OFFLINE, POLL, type TradingPage } from "../trading-page.js";

const PASSPHRASE = "five words of a passphrase";

export function keyTests(test: PageTest): void {
  test("key file: signs another machine in, once; a copy is worthless; both go on", async ({
    open,
    quiet,
    onTestFinished,
  }) => {
    const account = privateKeyAccount(newPrivateKey());
    const prepare = (page: Page) => injectWallet(page, account);
    const first = await open({ url: quiet.url, prepare });
    await first.signInWithWallet(account.address);
    const file = await makeKeyFile(first);
    const { sessions } = sessionsOf(first.page);
    await expect.poll(() => sessions.count(), POLL).toBe(2);
    await first.page.keyboard.press("Escape");

    const second = await open({ url: quiet.url });
    await second.page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await second.page.getByRole("button", { name: "Open a key file" }).click();
    await openKeyFile(second.page, file, "not the passphrase");
    await second.page.getByRole("alert").getByText("Wrong passphrase").waitFor();
    await second.inspect("key-file-open", "dialog");
    await openKeyFile(second.page, file.replace(/"salt": "../, '"salt": "zz'));
    await second.page.getByRole("alert").getByText("The file is damaged").waitFor();
    await openKeyFile(second.page, file);
    await second.page.getByTitle(account.address).waitFor();
    await second.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await second.tab(/Open orders \(1\)/);
    // The key that a reload finds is the new one.
    await second.page.reload();
    await second.untilLive();
    await second.page.getByTitle(account.address).waitFor();
    await second.order("Limit", "Buy / Long", { margin: "100", price: "59000" });
    await second.tab(/Open orders \(2\)/);
    await second.page.getByTitle(account.address).click();
    await second.page.getByText("Key file", { exact: true }).waitFor();
    await second.page.keyboard.press("Escape");
    await first.order("Limit", "Buy / Long", { margin: "100", price: "58000" });
    await first.tab(/Open orders \(3\)/);

    const third = await open({ url: quiet.url });
    await third.page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await third.page.getByRole("button", { name: "Open a key file" }).click();
    await openKeyFile(third.page, file);
    await third.page.getByRole("alert").getByText("The file was used already").waitFor();
    const kept = await third.page.evaluate("indexedDB.databases().then((all) => all.length)");
    expect(kept).toBe(0);

    // One that nobody has opened ends with its session.
    const other = await makeKeyFile(first);
    await expect.poll(() => sessions.count(), POLL).toBe(3);
    await first.page.getByRole("button", { name: "End all others" }).click();
    await expect.poll(() => sessions.count(), POLL).toBe(1);
    await openKeyFile(third.page, other);
    await third.page.getByRole("alert").getByText("The session of this file has ended").waitFor();
    const client = new PerpgateClient({ url: quiet.url });
    onTestFinished(() => client.close());
    await (await client.signIn({ account })).cancelAll();
    for (const each of [first, second, third]) each.expectClean(/status of 401/);
  });

  test("sessions: what fails is said in the dialog, where it can be read", async ({
    open,
    quiet,
  }) => {
    const account = privateKeyAccount(newPrivateKey());
    let isWilling = true;
    const sign = requestsOf(account);
    const opened = await open({
      url: quiet.url,
      prepare: (page) =>
        injectWallet(page, async (method, params) =>
          method === "personal_sign" && !isWilling ? { rejected: 4001 } : sign(method, params),
        ),
    });
    const { page } = opened;
    await opened.signInWithWallet(account.address);
    await page.getByTitle(account.address).click();
    const dialog = page.getByRole("dialog");
    const alert = dialog.getByRole("alert");
    const end = await intercept(page, "**/v1/auth/rotate", (route) => route.abort());
    await dialog.getByRole("button", { name: "New key" }).click();
    await alert.getByText("No response from the venue").waitFor();
    await end();
    isWilling = false;
    await dialog.getByRole("button", { name: "Make a key file" }).click();
    await dialog.getByLabel("Passphrase").fill(PASSPHRASE);
    await dialog.getByLabel("The same again").fill(PASSPHRASE);
    await dialog.getByRole("button", { name: "Save the key file" }).click();
    await alert.getByText("Not signed").waitFor();
    opened.expectClean(OFFLINE);
  });

  test("key file: an answer that was lost on opening it does not use it up", async ({
    open,
    quiet,
  }) => {
    const first = await open({ url: quiet.url });
    await first.signInWithBurner();
    const file = await makeKeyFile(first);
    const second = await open({ url: quiet.url });
    const { page } = second;
    let isLost = false;
    // The venue replaces the key; no answer says so, nor what key it has now.
    await page.route("**/v1/auth/rotate", async (route) => {
      if (!isLost) await route.fetch();
      isLost = true;
      await route.abort();
    });
    await page.route("**/v1/account", (route) => (isLost ? route.abort() : route.continue()));
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Open a key file" }).click();
    await openKeyFile(page, file);
    await page.getByRole("alert").getByText("No response from the venue").waitFor();
    await page.unrouteAll();
    await openKeyFile(page, file);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await second.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await second.tab(/Open orders \(1\)/);
    await second.cancelAll();
    await page.getByText("No open orders.").waitFor();
    second.expectClean(/ERR_FAILED/);
  });

  test("new key: streams and orders go on, in the other tab and after a reload, too", async ({
    open,
    quiet,
  }) => {
    const first = await open({ url: quiet.url });
    await first.signInWithBurner();
    const second = await open({ url: quiet.url, tabOf: first });
    const address = (await first.page.locator(".who").getAttribute("title")) ?? "";
    await second.page.getByTitle(address).waitFor();
    await first.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await second.tab(/Open orders \(1\)/);
    let opened = 0;
    for (const { page } of [first, second]) page.on("websocket", () => opened++);

    await first.page.getByTitle(address).click();
    const { text } = sessionsOf(first.page);
    await expect.poll(text, POLL).toContain("Key ");
    const before = await text();
    await first.press(first.page.getByRole("button", { name: "New key" }));
    await first.page.getByText("New session key").waitFor();
    await expect.poll(text, POLL).not.toBe(before);
    await first.inspect("new-key", "dialog");
    await first.page.keyboard.press("Escape");
    await second.order("Limit", "Buy / Long", { margin: "100", price: "59000" });
    await first.order("Limit", "Buy / Long", { margin: "100", price: "58000" });
    for (const tab of [first, second]) await tab.tab(/Open orders \(3\)/);
    expect(opened).toBe(0);

    // The other one replaces it again.
    await second.page.getByTitle(address).click();
    await second.press(second.page.getByRole("button", { name: "New key" }));
    await second.page.getByText("New session key").waitFor();
    await first.page.reload();
    await first.untilLive();
    await first.page.getByTitle(address).waitFor();
    await first.cancelAll();
    await first.page.getByText("No open orders.").waitFor();
    await first.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await first.tab(/Open orders \(1\)/);
    // The session that is kept has another key than this page began with.
    await second.page.keyboard.press("Escape");
    await second.cancelAll();
    await second.signOut();
    await second.page.reload();
    await second.untilLive();
    await second.page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    for (const tab of [first, second]) tab.expectClean(/status of 401/);
  });
}

function sessionsOf(page: Page) {
  const region = page.getByRole("region", { name: "Sessions" });
  return { sessions: region.getByRole("listitem"), text: () => region.innerText() };
}

async function makeKeyFile(opened: TradingPage): Promise<string> {
  const { page } = opened;
  await page.locator(".who").click();
  await page.getByRole("button", { name: "Make a key file" }).click();
  await page.getByLabel("Passphrase").fill("short");
  await page.getByRole("button", { name: "Save the key file" }).click();
  await page.getByRole("alert").getByText("12 characters or more").waitFor();
  await page.getByLabel("Passphrase").fill(PASSPHRASE);
  await page.getByRole("alert").getByText("The two are not the same").waitFor();
  await page.getByLabel("The same again").fill(PASSPHRASE);
  await opened.inspect("key-file-make", "dialog");
  const saving = page.waitForEvent("download");
  await opened.press(page.getByRole("button", { name: "Save the key file" }));
  const download = await saving;
  expect(download.suggestedFilename()).toMatch(/^perpgate-key-.+\.json$/);
  return readFile(await download.path(), "utf8");
}

async function openKeyFile(page: Page, text: string, passphrase = PASSPHRASE): Promise<void> {
  const buffer = Buffer.from(text);
  const file = { name: "key.json", mimeType: "application/json", buffer };
  await page.getByLabel("Key file", { exact: true }).setInputFiles(file);
  await page.getByLabel("Passphrase").fill(passphrase);
  await page.getByRole("button", { name: "Sign in with this file" }).click();
}
