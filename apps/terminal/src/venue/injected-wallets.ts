/**
 * Wallets of browser extensions: by EIP-6963, where each announces itself with a name and an icon, and
 * the older `window.ethereum`, which the last extension to load overwrites.
 */

import { createStore } from "mipd";
import { Store } from "../state/store.js";
import { t } from "../text/texts.js";

/** The part of EIP-1193 that the page uses. */
export interface InjectedProvider {
  request(call: {
    readonly method: string;
    readonly params?: readonly unknown[];
  }): Promise<unknown>;
  on?(event: string, listener: (value: unknown) => void): unknown;
  removeListener?(event: string, listener: (value: unknown) => void): unknown;
}

export interface InjectedWallet {
  /** Stays the same from one visit to the next. */
  readonly id: string;
  readonly name: string;
  /** A `data:` URL. */
  readonly icon: string | undefined;
  readonly provider: InjectedProvider;
}

export const injectedWallets = new Store<readonly InjectedWallet[]>([], "immediate");

export function findInjectedWallets(): void {
  const announced = createStore();
  const show = () => injectedWallets.set(withLegacy(announced.getProviders().flatMap(walletOf)));
  announced.subscribe(show);
  show();
}

/** A wallet announces what it likes: nothing of it is taken without a check. */
function walletOf(detail: unknown): InjectedWallet[] {
  if (!isRecord(detail)) return [];
  const { info, provider } = detail;
  if (!isRecord(info) || !isProvider(provider)) return [];
  const { uuid, rdns, name, icon } = info;
  if (typeof name !== "string" || typeof uuid !== "string") return [];
  const isImage = typeof icon === "string" && icon.startsWith("data:image/");
  const id = typeof rdns === "string" ? rdns : uuid;
  return [{ id, name, icon: isImage ? icon : undefined, provider }];
}

/** An announced wallet is not listed a second time as `window.ethereum`. */
function withLegacy(wallets: readonly InjectedWallet[]): readonly InjectedWallet[] {
  const provider: unknown = Reflect.get(window, "ethereum");
  if (!isProvider(provider) || wallets.some((wallet) => wallet.provider === provider)) {
    return wallets;
  }
  return [...wallets, { id: "window.ethereum", name: t.signIn.wallet, icon: undefined, provider }];
}

function isProvider(value: unknown): value is InjectedProvider {
  return isRecord(value) && typeof value.request === "function";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
