/**
 * Limits on contract checks, per minute and client address and on the number in flight: each is up to
 * three calls to a chain's RPC, which the operator pays for and which may take seconds.
 */

import { clientKeyOf } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import { KeyedLimit, type Monotonic } from "../limits/limits.js";
import type { Client } from "../request.js";

export const CONTRACT_CHECKS_PER_MINUTE = 10;
export const MAX_CONTRACT_CHECKS_IN_FLIGHT = 16;

export class ContractChecks {
  private readonly perAddress: KeyedLimit<string>;
  private inFlight = 0;

  constructor(monotonic: Monotonic = () => performance.now()) {
    const rule = {
      name: "contract-checks",
      perSecond: CONTRACT_CHECKS_PER_MINUTE / 60,
      burst: CONTRACT_CHECKS_PER_MINUTE,
    };
    this.perAddress = new KeyedLimit(rule, monotonic);
  }

  /** @throws {ApiError} `rate_limited` or `overloaded` */
  async run<T>({ address, header }: Pick<Client, "address" | "header">, check: () => Promise<T>) {
    if (this.inFlight >= MAX_CONTRACT_CHECKS_IN_FLIGHT) throw new ApiError("overloaded", {});
    this.perAddress.take(clientKeyOf(address), header);
    this.inFlight++;
    try {
      return await check();
    } finally {
      this.inFlight--;
    }
  }
}
