/**
 * Wallets of browser extensions: by EIP-6963, where each announces itself, and the older
 * `window.ethereum`, which the last extension to load overwrites.
 */

import { Store } from "../state/store.js";

/** The part of EIP-1193 that signing in needs. */
export interface WalletProvider {
  request(call: {
    readonly method: string;
    readonly params?: readonly unknown[];
  }): Promise<unknown>;
}

export interface InjectedWallet {
  readonly id: string;
  readonly name: string;
  readonly provider: WalletProvider;
}

export const injectedWallets = new Store<readonly InjectedWallet[]>([], "immediate");

export function findInjectedWallets(): void {
  window.addEventListener("eip6963:announceProvider", (event) => {
    const wallet = announcedWallet(event);
    if (wallet !== undefined) add(wallet);
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  const legacy: unknown = Reflect.get(window, "ethereum");
  if (isProvider(legacy)) add({ id: "window.ethereum", name: "Browser wallet", provider: legacy });
}

function add(wallet: InjectedWallet): void {
  injectedWallets.update((known) => {
    // An announced wallet is not listed a second time as window.ethereum.
    const others = known.filter(
      ({ id, provider }) => id !== wallet.id && provider !== wallet.provider,
    );
    const isSecondName =
      wallet.id === "window.ethereum" && known.some(({ provider }) => provider === wallet.provider);
    return isSecondName ? known : [...others, wallet];
  });
}

function announcedWallet(event: Event): InjectedWallet | undefined {
  if (!(event instanceof CustomEvent) || !isRecord(event.detail)) return undefined;
  const { info, provider } = event.detail;
  if (!isRecord(info) || !isProvider(provider)) return undefined;
  const { uuid, name } = info;
  if (typeof uuid !== "string" || typeof name !== "string") return undefined;
  return { id: uuid, name, provider };
}

function isProvider(value: unknown): value is WalletProvider {
  return isRecord(value) && typeof value.request === "function";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
