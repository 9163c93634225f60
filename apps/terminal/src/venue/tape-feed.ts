/** The last trades of the shown market, newest first: history, then the stream. */

import type { Trade } from "@perpgate/protocol";
import type { PerpgateClient, Subscription } from "@perpgate/sdk";
import { Store } from "../state/store.js";
import { ONCE, Refresher } from "./refresher.js";

const KEPT = 100;

export class TapeFeed {
  readonly trades = new Store<readonly Trade[] | undefined>(undefined);
  private watch: Subscription | undefined;
  private history: Refresher | undefined;
  private shown = "";

  constructor(private readonly client: PerpgateClient) {}

  show(symbol: string): void {
    this.watch?.close();
    this.history?.close();
    this.shown = symbol;
    this.trades.set(undefined);
    this.history = new Refresher(() => this.load(symbol));
    this.watch = this.client.stream.watchTrades(symbol, (fresh) => this.add(symbol, fresh), {
      onProblem: ({ kind }) => {
        if (kind === "gap") this.reload();
      },
    });
    void this.history.now();
  }

  /** After a reconnection or a gap: the trades meanwhile are not on the stream. */
  reload(): void {
    this.history?.soon();
  }

  private async load(symbol: string): Promise<void> {
    this.add(symbol, await this.client.trades(symbol, { limit: KEPT, ...ONCE }));
  }

  private add(symbol: string, fresh: readonly Trade[]): void {
    if (symbol === this.shown) this.trades.update((known) => joinTrades(known ?? [], fresh));
  }
}

/** History and stream overlap; trades are ordered by their id. */
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

/** An id is `<seq>-<index>`, both numbers. */
function compareIds(a: string, b: string): number {
  const [aSeq = 0, aIndex = 0] = a.split("-").map(Number);
  const [bSeq = 0, bIndex = 0] = b.split("-").map(Number);
  return aSeq - bSeq || aIndex - bIndex;
}
