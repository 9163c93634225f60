/** Sign-in, session, account data and deposits. */

import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import type { Page, Route } from "playwright-core";
import { expect } from "vitest";
import { CHAINS, ChainGateway } from "../chain-gateway.js";
import { HEARD_NOTIFICATIONS } from "../heard.js";
import type { PageTest } from "../page-test.js";
import { PayingGateway } from "../paying-gateway.js";
import { ICON, injectWallet, requestsOf } from "../test-wallet.js";
import { intercept, OFFLINE, POLL, type TradingPage } from "../trading-page.js";

export function accountTests(test: PageTest): void {
  test("wallet: announced by EIP-6963, may decline, signs once; another account signs out, another chain is said", async ({
    open,
  }) => {
    const account = privateKeyAccount(newPrivateKey());
    const sign = requestsOf(account);
    let isWilling = false;
    const opened = await open({
      prepare: (page) =>
        injectWallet(page, async (method, params) =>
          method === "personal_sign" && !isWilling ? { rejected: 4001 } : sign(method, params),
        ),
    });
    const { page } = opened;
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Use Test Wallet" }).click();
    await page.getByRole("alert").getByText("Not signed").waitFor();
    isWilling = true;
    await page.getByRole("button", { name: "Use Test Wallet" }).click();
    await page.getByTitle(account.address).waitFor();
    await opened.order("Market", "Sell / Short", { margin: "50" });
    await opened.result().getByText("Sell market filled").waitFor();
    // The wallet is followed after a reload too.
    await page.reload();
    await page.getByTitle(account.address).waitFor();
    const emit = (event: string, value: unknown) =>
      page.evaluate(`window.emitFromTestWallet("${event}", ${JSON.stringify(value)})`);
    await emit("chainChanged", "0x1");
    await page.getByText("The wallet has changed its chain").waitFor();
    await emit("accountsChanged", [account.address.toLowerCase()]);
    await emit("accountsChanged", ["0x00000000000000000000000000000000000000aa"]);
    await page.getByText("The wallet has changed its account").waitFor();
    await page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    opened.expectClean();
  });

  test("sessions: listed, another one is ended; settings: keys off, another notation of numbers, a fill elsewhere is announced", async ({
    open,
    venueUrl,
    onTestFinished,
  }) => {
    const account = privateKeyAccount(newPrivateKey());
    const prepare = async (page: Page) => {
      await injectWallet(page, account);
      await page.addInitScript(HEARD_NOTIFICATIONS);
    };
    const opened = await open({ prepare });
    const { page } = opened;
    await opened.signInWithWallet(account.address);
    const client = new PerpgateClient({ url: venueUrl });
    onTestFinished(() => client.close());
    const other = await client.signIn({ account });
    await page.getByTitle(account.address).click();
    const sessions = page.getByRole("region", { name: "Sessions" });
    await sessions.getByText("This one").waitFor();
    expect(await sessions.getByRole("listitem").count()).toBe(2);
    await opened.inspect("account-sessions", "dialog");
    await sessions.getByRole("button", { name: /^End session/ }).click();
    await expect.poll(() => sessions.getByRole("listitem").count(), POLL).toBe(1);
    await expect(other.account({ retries: 0 })).rejects.toMatchObject({ code: "invalid_token" });
    await page.getByRole("button", { name: "Settings" }).last().click();
    const settings = page.getByRole("dialog", { name: "Settings" });
    await settings.getByRole("checkbox", { name: /^Notifications/ }).check();
    await settings.getByRole("checkbox", { name: "Keyboard shortcuts" }).uncheck();
    await opened.inspect("settings", "dialog");
    await settings.getByText("1\u202f234.50", { exact: true }).click();
    const available = page.getByTestId("available");
    await expect.poll(() => available.innerText(), POLL).toMatch(/\d\u202f\d{3}\.\d\d/);
    await settings.getByText("1,234.50", { exact: true }).click();
    await expect.poll(() => available.innerText(), POLL).toMatch(/\d,\d{3}\.\d\d/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("s");
    expect(await page.getByRole("radio", { name: "Sell / Short" }).isChecked()).toBe(false);
    // Another session of the account sells; the page tells who looks elsewhere.
    const again = await client.signIn({ account });
    const { orderId } = await again.placeOrder({
      symbol: "BTCUSD",
      side: "long",
      type: "limit",
      size: 0.001,
      leverage: 2,
      price: 50_000,
    });
    await opened.tab(/Open orders \(1\)/);
    await page.evaluate("document.hasFocus = () => false");
    await again.cancelOrder(orderId);
    await page.locator(".toast", { hasText: "Canceled: BTCUSD" }).waitFor();
    expect(await page.evaluate("window.heard")).toEqual(["Canceled: BTCUSD"]);
    opened.expectClean();
  });

  test("wallet: one that never answers can be canceled; its icon is shown", async ({ open }) => {
    const opened = await open({
      prepare: (page) => injectWallet(page, () => new Promise(() => undefined)),
    });
    const { page } = opened;
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    const wallet = page.getByRole("button", { name: "Use Test Wallet" });
    expect(await wallet.locator("img").getAttribute("src")).toBe(ICON);
    await wallet.click();
    await page.getByText("Confirm in your wallet…").waitFor();
    await opened.inspect("wallet-asking", "dialog");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await wallet.click();
    // Closing the dialog cancels too.
    await page.getByText("Confirm in your wallet…").waitFor();
    await page.keyboard.press("Escape");
    await opened.signInWithBurner();
    opened.expectClean();
  });

  test("reload: stays signed in, by keys that cannot be read; the burner wallet is exported, forgotten, imported", async ({
    enter,
  }) => {
    const { opened, page } = await enter();
    const address = (await page.locator(".who").getAttribute("title")) ?? "";
    await page.reload();
    await opened.untilLive();
    await page.getByTitle(address).waitFor();
    await opened.order("Market", "Buy / Long", { margin: "50" });
    await opened.result().getByText("Buy market filled").waitFor();
    const kept: string = await page.evaluate(KEPT);
    expect(kept).toContain("CryptoKey:false");
    expect(kept).not.toMatch(/extractable|CryptoKey:true/);
    // A reload is no sign-out, but this is.
    await page.getByRole("button", { name: "Sign out" }).click();
    const question = page.getByRole("dialog", { name: "Sign out" });
    await question.getByText("1 open position and 0 open orders stay").waitFor();
    await opened.inspect("sign-out", "dialog");
    await question.getByRole("button", { name: "Sign out now" }).click();
    await page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    // An earlier release kept the key of the key in its own record.
    await page.evaluate(KEEP_APART);
    await page.reload();
    await opened.untilLive();
    await page.getByRole("button", { name: "Sign in to trade" }).click();
    await opened.inspect("sign-in-burner-kept", "dialog");
    await page.getByRole("button", { name: "Use burner" }).click();
    await page.getByTitle(address).waitFor();

    await page.locator(".who").click();
    await page.getByRole("button", { name: "Show private key" }).click();
    const key = await page.getByLabel("Private key", { exact: true }).innerText();
    expect(privateKeyAccount(key).address).toBe(address);
    await opened.inspect("account", "dialog");
    await page.keyboard.press("Escape");
    // The next ones do not ask.
    await page.getByText("More options").click();
    await page.getByText("Ask before Close, Cancel all and Sign out").click();
    await opened.signOut();
    await page.getByRole("button", { name: "Sign in to trade" }).click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await page.getByRole("button", { name: "Forget it for good" }).click();
    await page.getByRole("button", { name: "Import" }).click();
    const field = page.getByLabel("Private key", { exact: true });
    await field.fill("0x12");
    await page.getByRole("button", { name: "Sign in with this key" }).click();
    await page.getByRole("alert").getByText("Not a private key").waitFor();
    await opened.inspect("burner-import", "dialog");
    await field.fill(key);
    await page.getByRole("button", { name: "Sign in with this key" }).click();
    await page.getByTitle(address).waitFor();
    opened.expectClean();
  });

  test("the page is left before it has deleted what it forgot: signed out, the burner wallet gone", async ({
    enter,
  }) => {
    const { opened, page } = await enter();
    const address = (await page.locator(".who").getAttribute("title")) ?? "";
    // From here on no transaction of this visit ends.
    await page.evaluate("indexedDB.open = () => ({})");
    await opened.signOut();
    await page.reload();
    await opened.untilLive();
    await page.getByRole("button", { name: "Sign in to trade" }).click();
    await page.getByRole("button", { name: "Use burner" }).click();
    await page.getByTitle(address).waitFor();

    await opened.signOut();
    await page.getByRole("button", { name: "Sign in to trade" }).click();
    await page.evaluate("indexedDB.open = () => ({})");
    await page.getByRole("button", { name: "Forget it" }).click();
    await page.getByRole("button", { name: "Forget it for good" }).click();
    await page.reload();
    await opened.untilLive();
    await page.getByRole("button", { name: "Sign in to trade" }).click();
    await page.getByRole("button", { name: "Create a burner key" }).waitFor();
    const notes = "Object.keys(localStorage).filter((name) => name.includes('forget'))";
    await expect.poll(() => page.evaluate(notes), POLL).toEqual([]);
    const kept: string = await page.evaluate(KEPT);
    expect(kept).not.toContain("CryptoKey");
    opened.expectClean();
  });

  test("the page is left while it keeps a burner wallet that is kept already: none of it is lost", async ({
    enter,
  }) => {
    const { opened, page } = await enter();
    const address = (await page.locator(".who").getAttribute("title")) ?? "";
    await opened.signOut();
    await page.getByRole("button", { name: "Sign in to trade" }).click();
    // From here on this visit writes one record more.
    await page.evaluate(WRITE_ONE);
    await page.getByRole("button", { name: "Use burner" }).click();
    await page.getByTitle(address).waitFor();
    await page.reload();
    await opened.untilLive();
    await page.getByTitle(address).waitFor();
    opened.expectClean();
  });

  test("storage that does not answer: the sign-in goes on without it", async ({ open }) => {
    const opened = await open({
      prepare: async (page) => {
        await page.addInitScript("indexedDB.open = () => ({})");
      },
    });
    await opened.signInWithBurner();
    opened.expectClean();
  });

  test("reload without staying signed in: signed out, and no secret was stored", async ({
    open,
  }) => {
    const opened = await open();
    const { page, context } = opened;
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Stay signed in").uncheck();
    await page.keyboard.press("Escape");
    await opened.signInWithBurner();
    await page.getByRole("button", { name: "Switch to light colours" }).click();
    await page.reload();
    await opened.untilLive();
    await page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    expect(await context.cookies()).toEqual([]);
    const kept = await page.evaluate(`(async () => ({
      local: Object.entries(localStorage).sort(),
      session: Object.entries(sessionStorage),
      databases: (await indexedDB.databases()).map(({ name }) => name),
      caches: await caches.keys(),
    }))()`);
    expect(kept).toEqual({
      local: [
        ["perpgate.stay", "off"],
        ["perpgate.theme", "light"],
      ],
      session: [],
      databases: [],
      caches: [],
    });
    opened.expectClean();
  });

  test("staying signed in turned off later: nothing secret is left", async ({ open }) => {
    const opened = await open();
    const { page } = opened;
    const databases = () => page.evaluate("indexedDB.databases().then((all) => all.length)");
    await opened.signInWithBurner();
    expect(await databases()).toBe(1);
    await opened.signOut();
    await page.getByRole("button", { name: "Sign in to trade" }).click();
    await page.getByLabel("Stay signed in").uncheck();
    await expect.poll(databases, POLL).toBe(0);
    // In this page's memory.
    await page.getByRole("button", { name: "Use burner" }).waitFor();
    // Turned on again, it is kept without a sign-in.
    await page.getByLabel("Stay signed in").check();
    await expect.poll(databases, POLL).toBe(1);
    await page.reload();
    await opened.untilLive();
    await page.getByRole("button", { name: "Sign in to trade" }).click();
    await page.getByRole("button", { name: "Use burner" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(await databases()).toBe(1);
    // The page is left before it has deleted what it kept.
    await page.evaluate("localStorage.setItem('perpgate.stay', 'off')");
    await page.reload();
    await opened.untilLive();
    await page.getByRole("button", { name: "Sign in to trade" }).click();
    await page.getByRole("button", { name: "Create a burner key" }).waitFor();
    await expect.poll(databases, POLL).toBe(0);
    opened.expectClean();
  });

  test("account requests fail: repeated until one succeeds; session ended elsewhere: signed out", async ({
    open,
    venueUrl,
  }) => {
    const opened = await open();
    const { page } = opened;
    let failures = 0;
    let authorization = "";
    const endFailures = await intercept(page, "**/v1/account", async (route) => {
      failures++;
      authorization = (await route.request().allHeaders()).authorization ?? "";
      await route.abort();
    });
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Create a burner key" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    // The first request and one for each stream's first frame are not retries.
    await expect.poll(() => failures, POLL).toBeGreaterThan(4);
    await endFailures();
    await opened.untilAvailable((dollars) => dollars === 10_000);
    await fetch(`${venueUrl}/v1/auth/session`, { method: "DELETE", headers: { authorization } });
    await page.getByText("The session has ended").waitFor();
    await page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    // A request that was in flight when the session ended.
    opened.expectClean(OFFLINE);
  });
}

export function chainTests(test: PageTest): void {
  test("venue with chains: no test dollars; shows the vault and registers a hash", async ({
    open,
    pageFolder,
    onTestFinished,
  }) => {
    const venue = await ChainGateway.start(pageFolder);
    onTestFinished(() => venue.remove());
    const opened = await open({ url: venue.url });
    const { page } = opened;
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Create a burner key" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await opened.tab(/Deposits/);
    const table = page.getByRole("region", { name: "Portfolio" });
    await table.getByText("No deposits yet.").waitFor();

    await page.getByRole("banner").getByRole("button", { name: "Deposit" }).click();
    const dialog = page.getByRole("dialog", { name: "Deposit" });
    const vault = dialog.getByTestId("vault");
    await vault.waitFor();
    expect((await vault.innerText()).toLowerCase()).toBe(CHAINS.ethereum.vault);
    await dialog.getByText(/credited to the sender after 64 confirmations/).waitFor();
    await dialog.getByText("You are signed in with a burner key").waitFor();
    expect(await page.getByText(/test (dollars|funds)/i).count()).toBe(0);
    const token = dialog.getByRole("combobox", { name: "Token" });
    expect(await token.getByRole("option").allInnerTexts()).toEqual(["USDC"]);
    const chain = dialog.getByRole("combobox", { name: "Chain" });
    expect(await chain.getByRole("option").allInnerTexts()).toEqual(["ethereum", "arbitrum"]);
    await chain.selectOption("arbitrum");
    expect((await vault.innerText()).toLowerCase()).toBe(CHAINS.arbitrum.vault);
    expect(await token.getByRole("option").allInnerTexts()).toEqual(["USDT"]);
    await opened.inspect("deposit-from-a-chain", "dialog");

    await dialog.getByRole("textbox", { name: "Transaction hash" }).fill(`0x${"7".repeat(64)}`);
    await dialog.getByRole("button", { name: "Register the transfer" }).click();
    const row = table.getByRole("row").filter({ hasText: "arbitrum" });
    await row.filter({ hasText: "USDT" }).getByText("queued").waitFor();
    opened.expectClean();
  });
}

export function withdrawalTests(test: PageTest): void {
  test("venue that pays: the most without the fee, to the own address, from queued to paid with its transaction", async ({
    open,
    pageFolder,
    onTestFinished,
  }) => {
    const venue = await PayingGateway.start(pageFolder);
    onTestFinished(() => venue.gateway.remove());
    const opened = await open({ url: venue.gateway.url });
    const { page } = opened;
    const banner = page.getByRole("banner");
    const address = await fund(venue, opened);
    await banner.getByRole("button", { name: "Withdraw" }).click();
    const dialog = page.getByRole("dialog", { name: "Withdraw" });
    expect(await dialog.getByTestId("payee").innerText()).toBe(address);
    const amount = dialog.getByRole("textbox", { name: "Amount" });
    await amount.fill("9");
    await dialog.getByText("At least 10.00").waitFor();
    await dialog.getByRole("button", { name: "Max" }).click();
    expect(await amount.inputValue()).toBe("39.50");
    await opened.inspect("withdraw", "dialog");
    await amount.fill("12.5");
    await dialog.getByRole("button", { name: "Withdraw 12.50" }).click();
    await dialog.getByRole("list", { name: "Progress of the withdrawal" }).waitFor();
    await opened.inspect("withdrawal-queued", "dialog");
    const step = dialog.locator("li[aria-current=step]");
    const paidBy = "9".repeat(64);
    for (const [verdict, status] of [
      ["signed", "attested"],
      ["pending", "pending"],
      ["paid", "paid"],
    ] as const) {
      await venue.vote(verdict, paidBy);
      await step.filter({ has: page.getByText(status, { exact: true }) }).waitFor();
    }
    await dialog.getByText(`Transaction 0x${paidBy}`).waitFor();
    await opened.inspect("withdrawal-paid", "dialog");
    await dialog.getByRole("button", { name: "Close" }).click();
    await opened.untilAvailable((dollars) => dollars === 27);

    await opened.tab(/Withdrawals/);
    const row = page.getByRole("table", { name: "Withdrawals" }).getByRole("row").last();
    await row.getByText("paid").waitFor();
    await row.getByText("12.50").waitFor();
    const saving = page.waitForEvent("download");
    await row.getByRole("button", { name: /Save the votes/ }).click();
    expect((await saving).suggestedFilename()).toMatch(/^withdrawal-\d+\.json$/);
    opened.expectClean();
  });

  test("venue that pays: a withdrawal whose answer is lost is not sent twice, also after a reload; then it is settled", async ({
    open,
    pageFolder,
    onTestFinished,
  }) => {
    const venue = await PayingGateway.start(pageFolder);
    onTestFinished(() => venue.gateway.remove());
    const opened = await open({ url: venue.gateway.url });
    const { page } = opened;
    await fund(venue, opened);
    const dialog = page.getByRole("dialog", { name: "Withdraw" });
    const withdraw = async () => {
      await page.getByRole("banner").getByRole("button", { name: "Withdraw" }).click();
      await dialog.getByRole("textbox", { name: "Amount" }).fill("12");
      await opened.press(dialog.getByRole("button", { name: "Withdraw 12.00" }));
    };
    const settled = page.locator(".toast", {
      hasText: /^Withdrawal of 12\.00 USDC on ethereum: executed/,
    });
    const path = "**/v1/bridge/withdrawals";
    const hide = async (route: Route) => {
      if (route.request().method() === "POST") await route.fetch();
      await route.abort();
    };
    let end = await intercept(page, path, hide);
    await withdraw();
    await page
      .getByTestId("unsettled")
      .getByText(/^Withdrawal of 12\.00 USDC on ethereum: outcome unknown/)
      .waitFor();
    await dialog.waitFor({ state: "detached" });
    await withdraw();
    await dialog.getByRole("alert").getByText("Still waiting for an answer").waitFor();
    await page.keyboard.press("Escape");
    await end();
    await settled.waitFor();
    await opened.untilAvailable((dollars) => dollars === 27.5);

    // The next page looks for it: the same bytes may not be sent in another session.
    end = await intercept(page, path, hide);
    await withdraw();
    await page.getByTestId("unsettled").waitFor();
    await page.reload();
    await page.getByTestId("unsettled").waitFor();
    await withdraw();
    await dialog.getByRole("alert").getByText("Still waiting for an answer").waitFor();
    await page.keyboard.press("Escape");
    await end();
    await settled.waitFor();
    await opened.untilAvailable((dollars) => dollars === 15);
    await opened.tab(/Withdrawals/);
    const rows = page.getByRole("table", { name: "Withdrawals" }).locator("tbody tr");
    await expect.poll(() => rows.count(), POLL).toBe(2);
    opened.expectClean(OFFLINE);
  });
}

/** Signs in with a burner key that has 40 dollars; returns its address. */
async function fund(venue: PayingGateway, opened: TradingPage): Promise<string> {
  const { page } = opened;
  const banner = page.getByRole("banner");
  await banner.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Create a burner key" }).click();
  await banner.getByRole("button", { name: "Deposit" }).click();
  const txHash = "7".repeat(64);
  await page.getByRole("textbox", { name: "Transaction hash" }).fill(`0x${txHash}`);
  await page.getByRole("button", { name: "Register the transfer" }).click();
  const notice = page.getByText(/Number \d+\. See Deposits\./);
  const [depositId = ""] = /\d+/.exec(await notice.innerText()) ?? [];
  const address = (await banner.locator(".who").getAttribute("title")) ?? "";
  await venue.credit(Number(depositId), txHash, address, 40);
  await opened.untilAvailable((dollars) => dollars === 40);
  return address;
}

/** Runs inside the page: the burner wallet as an earlier release kept it. */
const KEEP_APART = `(async () => {
  const opening = indexedDB.open("perpgate");
  const database = await new Promise((resolve) => { opening.onsuccess = () => resolve(opening.result); });
  const table = database.transaction("kept", "readwrite").objectStore("kept");
  const { key, nonce, bytes } = await new Promise((resolve) => {
    const request = table.get("burner");
    request.onsuccess = () => resolve(request.result);
  });
  table.put(key, "seal");
  await new Promise((resolve) => { table.put({ nonce, bytes }, "burner").onsuccess = resolve; });
  database.close();
})()`;

/** Runs inside the page: of the records that are put from here on only the first is written. */
const WRITE_ONE = `(() => {
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (...record) {
    IDBObjectStore.prototype.put = () => ({});
    return put.apply(this, record);
  };
})()`;

/** Runs inside the page: everything in IndexedDB as text, keys as `CryptoKey:<extractable>`. */
const KEPT = `(async () => {
  const opening = indexedDB.open("perpgate");
  const database = await new Promise((resolve) => { opening.onsuccess = () => resolve(opening.result); });
  const request = database.transaction("kept").objectStore("kept").getAll();
  const all = await new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  database.close();
  return JSON.stringify(all, (_, value) =>
    value instanceof CryptoKey ? "CryptoKey:" + value.extractable
    : value instanceof ArrayBuffer ? "bytes" : value);
})()`;
