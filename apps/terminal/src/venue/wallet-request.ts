/** Requests to a wallet that may never answer: they end when they are canceled, or after a time. */

import { t } from "../text/texts.js";
import type { InjectedProvider } from "./injected-wallets.js";

/** Long enough to unlock a wallet and read what is to be signed. */
const WALLET_TIMEOUT_MS = 120_000;

/** The user has canceled the request in the page. */
export class WalletCanceled extends Error {
  override readonly name = "WalletCanceled";
}

export class WalletSilent extends Error {
  override readonly name = "WalletSilent";

  constructor() {
    super(t.signIn.walletSilent);
  }
}

/** The wallet, whose answers after the signal's end are ignored. */
export function endingWith(
  wallet: Pick<InjectedProvider, "request">,
  signal: AbortSignal,
  timeoutMs = WALLET_TIMEOUT_MS,
): Pick<InjectedProvider, "request"> {
  return {
    request: (call) =>
      new Promise((resolve, reject) => {
        const stop = () => finish(() => reject(new WalletCanceled("canceled in the page")));
        const timer = setTimeout(() => finish(() => reject(new WalletSilent())), timeoutMs);
        const finish = (settle: () => void) => {
          clearTimeout(timer);
          signal.removeEventListener("abort", stop);
          settle();
        };
        signal.addEventListener("abort", stop);
        if (signal.aborted) stop();
        else {
          wallet.request(call).then(
            (value) => finish(() => resolve(value)),
            (error: unknown) => finish(() => reject(error)),
          );
        }
      }),
  };
}
