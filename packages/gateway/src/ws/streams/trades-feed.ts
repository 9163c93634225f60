/** `trades.<symbol>`: the public tape, each trade once, those of a round in one frame. */

import type { Trade } from "@perpgate/protocol";
import { type WireFrame, wireFrame } from "../wire-frame.js";
import { SimpleFeed } from "./public-feed.js";
import type { Pulse } from "./pulse.js";

export class TradesFeed extends SimpleFeed {
  private trades: Trade[] = [];

  constructor(
    pulse: Pulse,
    private readonly symbol: string,
  ) {
    super(pulse);
  }

  onTrade(trade: Trade): void {
    if (!this.isRead) return;
    this.trades.push(trade);
    this.pulse.wake(this);
  }

  protected override nextFrame(): WireFrame | undefined {
    if (this.trades.length === 0) return undefined;
    const frame = wireFrame({ t: "trades", s: this.symbol, d: this.trades });
    this.trades = [];
    return frame;
  }

  protected override forget(): void {
    this.trades = [];
  }
}
