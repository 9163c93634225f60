/** Sign-in, session, account data and deposits. */

import type { Page } from "playwright-core";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { CHAINS, ChainGateway } from "../chain-gateway.js";
import type { PageTest } from "../page-test.js";
import { OFFLINE, POLL } from "../trading-page.js";

export function accountTests(test: PageTest): void {
  test("injected wallet: announced by EIP-6963, signs once; a declined signature is shown", async ({
    open,
  }) => {
    const account = privateKeyToAccount(generatePrivateKey());
    let isWilling = false;
    const opened = await open({
      prepare: (page) =>
        injectWallet(page, async (method, params) => {
          if (method === "eth_requestAccounts") return [account.address];
          if (method === "eth_chainId") return "0xa4b1";
          if (method !== "personal_sign") throw new Error(`not expected: ${method}`);
          if (!isWilling) return { rejected: 4001 };
          const [message] = params;
          return account.signMessage({ message: { raw: hexOf(message) } });
        }),
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
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    opened.expectClean();
  });

  test("reload: signed out, and no secret was stored", async ({ open }) => {
    const opened = await open();
    const { page, context } = opened;
    await opened.signInWithBurner();
    await page.getByRole("button", { name: "Switch to light colours" }).click();
    await page.reload();
    await opened.untilLive();
    await page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    expect(await context.cookies()).toEqual([]);
    const kept = await page.evaluate(`(async () => ({
      local: Object.entries(localStorage),
      session: Object.entries(sessionStorage),
      databases: (await indexedDB.databases()).map(({ name }) => name),
      caches: await caches.keys(),
    }))()`);
    expect(kept).toEqual({
      local: [["perpgate.theme", "light"]],
      session: [],
      databases: [],
      caches: [],
    });
    opened.expectClean();
  });

  test("session ended elsewhere: shown, and signed out", async ({ open, venueUrl }) => {
    const opened = await open();
    const { page } = opened;
    const asked = page.waitForRequest((request) => request.url().endsWith("/v1/account"));
    await opened.signInWithBurner();
    const authorization = (await (await asked).allHeaders()).authorization ?? "";
    await fetch(`${venueUrl}/v1/auth/session`, {
      method: "DELETE",
      headers: { authorization },
    });
    await page.getByText("The session has ended").waitFor();
    await page.getByRole("button", { name: "Sign in to trade" }).waitFor();
    // A request that was in flight when the session ended.
    opened.expectClean(/status of 401/);
  });

  test("account requests fail: repeated until one succeeds, without any other change", async ({
    open,
  }) => {
    const opened = await open();
    const { page } = opened;
    let failures = 0;
    await page.route("**/v1/account", (route) => {
      failures++;
      return route.abort();
    });
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Create a burner key" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    // The first request and one for each stream's first frame are not retries.
    await expect.poll(() => failures, POLL).toBeGreaterThan(4);
    await page.unroute("**/v1/account");
    await opened.untilAvailable((dollars) => dollars === 10_000);
    opened.expectClean(OFFLINE);
  });

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
    await opened.inspect("deposit-from-a-chain");

    await dialog.getByRole("textbox", { name: "Transaction hash" }).fill(`0x${"7".repeat(64)}`);
    await dialog.getByRole("button", { name: "Register the transfer" }).click();
    const row = table.getByRole("row").filter({ hasText: "arbitrum" });
    await row.filter({ hasText: "USDT" }).getByText("queued").waitFor();
    opened.expectClean();
  });
}

function hexOf(value: unknown): `0x${string}` {
  if (typeof value !== "string" || !/^0x[0-9a-f]*$/i.test(value)) throw new Error("not hex");
  return `0x${value.slice(2)}`;
}

type WalletAnswer = string | readonly string[] | { readonly rejected: number };

/** Injects a wallet that forwards its requests to the test. */
async function injectWallet(
  page: Page,
  answer: (method: string, params: readonly unknown[]) => Promise<WalletAnswer>,
): Promise<void> {
  await page.exposeFunction("askTestWallet", answer);
  await page.addInitScript(`
    const provider = {
      request: async ({ method, params = [] }) => {
        const answer = await window.askTestWallet(method, params);
        if (answer?.rejected === undefined) return answer;
        throw Object.assign(new Error("User rejected the request."), { code: answer.rejected });
      },
    };
    const announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", {
      detail: Object.freeze({ info: { uuid: "test", name: "Test Wallet", rdns: "test", icon: "data:," }, provider }),
    }));
    window.addEventListener("eip6963:requestProvider", announce);
    window.ethereum = provider;
    announce();
  `);
}
