/** A browser wallet for tests: announced by EIP-6963, its requests are answered by the test. */

import type { MessageSigner } from "@perpgate/sdk";
import type { Page } from "playwright-core";

type WalletAnswer = string | readonly string[] | { readonly rejected: number };
export type WalletRequests = (method: string, params: readonly unknown[]) => Promise<WalletAnswer>;

/** An icon of one pixel. */
export const ICON =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

/** Injects a wallet of this account, or one that forwards its requests to the test. */
export async function injectWallet(
  page: Page,
  wallet: MessageSigner | WalletRequests,
): Promise<void> {
  await page.exposeFunction(
    "askTestWallet",
    typeof wallet === "function" ? wallet : requestsOf(wallet),
  );
  await page.addInitScript(`
    const listeners = new Map();
    const provider = {
      request: async ({ method, params = [] }) => {
        const answer = await window.askTestWallet(method, params);
        if (answer?.rejected === undefined) return answer;
        throw Object.assign(new Error("User rejected the request."), { code: answer.rejected });
      },
      on: (event, listener) => listeners.set(event, [...(listeners.get(event) ?? []), listener]),
      removeListener: (event, listener) =>
        listeners.set(event, (listeners.get(event) ?? []).filter((each) => each !== listener)),
    };
    window.emitFromTestWallet = (event, value) => {
      for (const listener of listeners.get(event) ?? []) listener(value);
    };
    const info = { uuid: "350670db-19fa-4704-a166-e52e178b59d2", name: "Test Wallet", rdns: "test.wallet", icon: "${ICON}" };
    const announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", {
      detail: Object.freeze({ info, provider }),
    }));
    window.addEventListener("eip6963:requestProvider", announce);
    window.ethereum = provider;
    announce();
  `);
}

/** The requests of a wallet that signs whatever it is given. */
export function requestsOf(account: MessageSigner): WalletRequests {
  return async (method, params) => {
    if (method === "eth_requestAccounts") return [account.address];
    if (method === "eth_chainId") return "0xa4b1";
    if (method !== "personal_sign") throw new Error(`not expected: ${method}`);
    const [hex] = params;
    const message = Buffer.from(String(hex).slice(2), "hex").toString("utf8");
    return account.signMessage({ message });
  };
}
