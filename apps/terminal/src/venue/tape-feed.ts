/** The last trades of the shown market, newest first: history once, then the stream. */

import type { Trade } from "@perpgate/protocol";
import type { PerpgateClient, Subscription } from "@perpgate/sdk";
import { Store } from "../state/store.js";

const KEPT = 100;

export class TapeFeed {
  readonly trades = new Store<readonly Trade[] | undefined>(undefined);
  private watch: Subscription | undefined;
  private shown = "";

  constructor(private readonly client: PerpgateClient) {}

  show(symbol: string): void {
    this.watch?.close();
    this.shown = symbol;
    this.trades.set(undefined);
    this.watch = this.client.stream.watchTrades(symbol, (fresh) => this.add(symbol, fresh));
    void this.load(symbol);
  }

  /** Asked again after a reconnection: what was traded meanwhile is not on the stream. */
  async load(symbol = this.shown): Promise<void> {
    if (symbol === "") return;
    try {
      this.add(symbol, await this.client.trades(symbol, { limit: KEPT }));
    } catch {
      // The stream goes on without its history; the next reconnection asks again.
      if (this.shown === symbol && this.trades.get() === undefined) this.trades.set([]);
    }
  }

  private add(symbol: string, fresh: readonly Trade[]): void {
    if (symbol === this.shown) this.trades.update((known) => joinTrades(known ?? [], fresh));
  }
}

/** History and stream overlap; a trade's id is its place in the one order of all. */
export function joinTrades(known: readonly Trade[], fresh: readonly Trade[]): readonly Trade[] {
  const newest = known[0];
  const follows = (trade: Trade): boolean =>
    newest === undefined || compareIds(trade.id, newest.id) > 0;
  if (known.length > 0 && fresh.every(follows)) {
    return [...fresh]
      .sort((a, b) => compareIds(b.id, a.id))
      .concat(known)
      .slice(0, KEPT);
  }
  const all = new Map([...known, ...fresh].map((trade) => [trade.id, trade]));
  return [...all.values()].sort((a, b) => compareIds(b.id, a.id)).slice(0, KEPT);
}

/** Ids read `<position>-<place>`; both parts are numbers. */
export function compareIds(a: string, b: string): number {
  const [aPosition = 0, aPlace = 0] = a.split("-").map(Number);
  const [bPosition = 0, bPlace = 0] = b.split("-").map(Number);
  return aPosition - bPosition || aPlace - bPlace;
}
