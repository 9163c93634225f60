/** Accounts of the sandbox that take what rests: market orders at random moments, from the seed. */

import { TICK_MS } from "@perpgate/venue";
import type { AccountRotation, RotationState } from "./accounts.js";
import type { SandboxCommand } from "./commands.js";

export interface TakerOptions {
  /** Orders a second, on average. */
  readonly rate: number;
  /** Dollars of an order. Default: 1,000. */
  readonly notional?: number;
  /** Default: either, at random. */
  readonly side?: "long" | "short";
}

const MAX_RATE = 100;

export class Takers {
  constructor(
    readonly market: number,
    readonly options: TakerOptions,
    private readonly rotation: AccountRotation,
    private readonly leverage: number,
    /** 0 ≤ x < 1. */
    private readonly random: () => number,
    private readonly send: (command: SandboxCommand<"PlaceOrder">) => Promise<unknown>,
  ) {
    const { rate, notional = 1 } = options;
    if (!(rate > 0 && rate <= MAX_RATE)) {
      throw new RangeError(`rate is a number of orders a second above 0 and up to ${MAX_RATE}`);
    }
    if (!(notional > 0)) throw new RangeError(`notional is a number above 0, not ${notional}`);
  }

  /** Those of one tick. */
  async take(nowMs: number): Promise<void> {
    let due = (this.options.rate * TICK_MS) / 1_000;
    for (; due > 0; due--) {
      if (due >= 1 || this.random() < due) await this.order(nowMs);
    }
  }

  private async order(nowMs: number): Promise<void> {
    const { session, key, ...account } = await this.rotation.next();
    const { notional = 1_000, side } = this.options;
    const isLong = side === undefined ? this.random() < 0.5 : side === "long";
    const { current } = this.rotation;
    if (current !== undefined) current.nonce++;
    await this.send({
      kind: "PlaceOrder",
      stampMs: nowMs,
      session,
      key,
      nonce: account.nonce,
      market: this.market,
      side: isLong ? 1 : -1,
      type: 0,
      marginMicros: Math.round((notional / this.leverage) * 1e6),
      leverage: this.leverage,
      priceTicks: 0,
      reduceOnly: false,
      postOnly: false,
    });
  }

  state(): TakersState {
    return { options: this.options, rotation: this.rotation.state() };
  }

  restore({ rotation }: TakersState): void {
    this.rotation.restore(rotation);
  }
}

export interface TakersState {
  readonly options: TakerOptions;
  readonly rotation: RotationState;
}
