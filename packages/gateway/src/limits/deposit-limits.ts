/**
 * What brings money or work to the bridge, counted by client address: an account costs nothing, so
 * limits by account alone would not stop one client from using up a bound that all share.
 */

import type { HeaderSink } from "../request.js";
import { clientKeyOf } from "./client-key.js";
import type { LimitSettings } from "./limit-settings.js";
import { Limit, type Monotonic } from "./limits.js";

export class DepositLimits {
  private readonly registrations: Limit<string>;
  private readonly newAccounts: Limit<string>;

  constructor(settings: LimitSettings, monotonic: Monotonic = () => performance.now()) {
    const { addressDepositsPerMinute, newAccountsPerMinute, newAccountsBurst } = settings;
    this.registrations = new Limit(
      {
        name: "address-deposits",
        perSecond: addressDepositsPerMinute / 60,
        burst: addressDepositsPerMinute,
      },
      monotonic,
    );
    this.newAccounts = new Limit(
      { name: "new-accounts", perSecond: newAccountsPerMinute / 60, burst: newAccountsBurst },
      monotonic,
    );
  }

  takeRegistration(address: string, header: HeaderSink): void {
    this.registrations.take(clientKeyOf(address), header);
  }

  /** A first sign-in that the `dev` attestor grants money to. */
  takeNewAccount(address: string, header: HeaderSink): void {
    this.newAccounts.take(clientKeyOf(address), header);
  }
}
