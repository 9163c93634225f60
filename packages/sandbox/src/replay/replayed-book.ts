/**
 * A recorded book, quoted by accounts of the sandbox level by level. What is added to a level joins the
 * end of its queue, what is taken off leaves from there; so a trader's order in between keeps its place.
 * When another account begins to quote, orders of the one before it stay where a trader waits behind them.
 */

import type { Order } from "@perpgate/protocol";
import type { MarketUnits, Venue } from "@perpgate/venue";
import type { SandboxCommand } from "../commands.js";
import type { RecordedLevel } from "./events.js";
import type { ReplayAccount, ReplayAccounts } from "./replay-accounts.js";

type Quote = SandboxCommand<"PlaceOrder" | "AmendOrder" | "CancelOrder">;

/** Resolves with the position of an accepted command, or with why the venue refused it. */
export type Send = (
  command: Quote,
) => Promise<{ readonly seq: number } | { readonly refusal: string }>;

interface Resting {
  readonly id: number;
  readonly owner: ReplayAccount;
  readonly side: 1 | -1;
  readonly ticks: number;
  lots: number;
  filledLots: number;
}

/** An account has at most 500 open orders in a market. */
const MAX_DEPTH = 60;
const MAX_ORDERS_OF_LEVEL = 4;
/** Ten times the bound of an index. */
const MAX_TICKS = 10 * 2 ** 33;
const SIDES = [1, -1] as const;

/** Of an order of the venue. */
type OrderState = Pick<Order, "status" | "reason" | "filledSize" | "remainingSize">;

const EXTRAS = {
  timeInForce: 0,
  expiresAtMs: 0,
  clientOrderId: "",
  trigger: 0,
  limitTicks: 0,
  closePosition: false,
  selfTrade: 0,
  validUntilMs: 0,
} as const;

export class ReplayedBook {
  /** As recorded: ticks to lots. */
  private readonly recorded = { 1: new Map<number, number>(), [-1]: new Map<number, number>() };
  /** As it rests. */
  private readonly resting = {
    1: new Map<number, Resting[]>(),
    [-1]: new Map<number, Resting[]>(),
  };
  private readonly best: { 1: number[] | undefined; [-1]: number[] | undefined } = {
    1: undefined,
    [-1]: undefined,
  };
  private readonly byId = new Map<number, Resting>();
  private isChanged = false;

  constructor(
    readonly market: MarketUnits,
    private readonly depth: number,
    private readonly venue: () => Venue,
    private readonly accounts: ReplayAccounts,
    private readonly send: Send,
    /** Is called with why the venue refused a quote, or ended it. */
    private readonly onRefused: (reason: string) => void,
  ) {
    if (!(Number.isInteger(depth) && depth >= 1 && depth <= MAX_DEPTH)) {
      throw new RangeError(`depth is a whole number from 1 to ${MAX_DEPTH}, not ${depth}`);
    }
  }

  /** The middle of the recorded book; undefined without one. */
  get middle(): number | undefined {
    const [bid, ask] = [this.bestOf(1)[0], this.bestOf(-1)[0]];
    if (bid === undefined || ask === undefined) return undefined;
    return ((bid + ask) / 2) * this.market.tickSize;
  }

  clear(): void {
    for (const side of SIDES) {
      this.recorded[side].clear();
      this.best[side] = undefined;
    }
    this.isChanged = true;
  }

  set({ side, price, size }: RecordedLevel): void {
    const ticks = ticksOf(this.market, price);
    const lots = size === 0 ? 0 : Math.max(1, lotsOf(this.market, size));
    const levels = this.recorded[side];
    const before = levels.get(ticks) ?? 0;
    if (lots === before) return;
    if (lots === 0) levels.delete(ticks);
    else levels.set(ticks, lots);
    if (lots === 0 || before === 0) this.best[side] = undefined;
    this.isChanged = true;
  }

  /** What became of the quotes by the last command: fills, and orders that the venue ended. */
  onCommand(): void {
    const { views } = this.venue();
    for (const { account, row } of views.lastChanges) {
      if (!this.accounts.all.some(({ number }) => number === account)) continue;
      const change = views.change(row);
      if (change?.kind !== "order") continue;
      const resting = this.byId.get(Number(change.order.orderId));
      if (resting !== undefined) this.follow(resting, change.order);
    }
  }

  private follow(resting: Resting, order: OrderState): void {
    const { side, ticks } = resting;
    const filledLots = this.lotsIn(order.filledSize);
    if (filledLots > resting.filledLots) this.take(side, ticks, filledLots - resting.filledLots);
    resting.filledLots = filledLots;
    resting.lots = this.lotsIn(order.remainingSize);
    if (order.status === "resting") return;
    this.drop(resting);
    if (order.status !== "canceled") return;
    // Not by this book, which drops an order when it cancels it.
    this.onRefused(order.reason ?? "canceled");
    this.isChanged = true;
  }

  private drop(resting: Resting): void {
    if (!this.byId.delete(resting.id)) return;
    resting.owner.resting--;
    const { side, ticks } = resting;
    const queue = this.resting[side].get(ticks)?.filter((one) => one !== resting) ?? [];
    if (queue.length === 0) this.resting[side].delete(ticks);
    else this.resting[side].set(ticks, queue);
  }

  /** Stays taken until the recording changes that level. */
  private take(side: 1 | -1, ticks: number, lots: number): void {
    const left = (this.recorded[side].get(ticks) ?? 0) - lots;
    if (left > 0) this.recorded[side].set(ticks, left);
    else if (this.recorded[side].delete(ticks)) this.best[side] = undefined;
  }

  /** Makes what rests what was recorded. */
  async quote(nowMs: number): Promise<void> {
    if (!this.isChanged) return;
    this.isChanged = false;
    const account = await this.accounts.quoting();
    await Promise.all([
      ...this.handOver(account, nowMs),
      ...SIDES.flatMap((side) => this.takeOff(side, nowMs)),
    ]);
    await Promise.all(SIDES.flatMap((side) => this.add(account, side, nowMs)));
  }

  /** Takes all quotes away. */
  async remove(nowMs: number): Promise<void> {
    const all = [...this.byId.values()];
    for (const resting of all) this.drop(resting);
    await Promise.all(all.map((resting) => this.cancel(resting, nowMs)));
  }

  /** Orders of accounts that quote no more: placed again by `account` where no trader waits behind them. */
  private handOver(account: ReplayAccount, nowMs: number): Promise<unknown>[] {
    const olds = [...this.byId.values()].filter(({ owner }) => owner !== account);
    if (olds.length === 0) return [];
    const sent: Promise<unknown>[] = [];
    for (const side of SIDES) {
      const all = this.lotsInBook(side);
      for (const old of olds) {
        const queue = this.resting[side].get(old.ticks) ?? [];
        if (old.side !== side || all.get(old.ticks) !== sumOf(queue)) continue;
        // Of a level that is handed over partly, the rest would have another place.
        all.set(old.ticks, sumOf(queue) - old.lots);
        this.drop(old);
        sent.push(this.cancel(old, nowMs));
      }
    }
    return sent;
  }

  /** By price, of everyone. */
  private lotsInBook(side: 1 | -1): Map<number, number> {
    const levels = this.venue().views.levels(this.market.symbol);
    const ladder = side === 1 ? levels?.bids : levels?.asks;
    const lots = new Map<number, number>();
    for (let at = 0; ladder !== undefined && at < ladder.count; at++) {
      lots.set(ladder.ticksAt(at), ladder.lotsAt(at));
    }
    return lots;
  }

  private lotsIn(size: number): number {
    return Math.round(size / this.market.lotSize);
  }

  private takeOff(side: 1 | -1, nowMs: number): Promise<unknown>[] {
    const wanted = new Set(this.bestOf(side));
    const sent: Promise<unknown>[] = [];
    for (const [ticks, queue] of [...this.resting[side]]) {
      const want = wanted.has(ticks) ? (this.recorded[side].get(ticks) ?? 0) : 0;
      let over = sumOf(queue) - want;
      // One more would be too many: the last one is placed again with what is added.
      if (over < 0 && queue.length >= MAX_ORDERS_OF_LEVEL) over = queue.at(-1)?.lots ?? 0;
      for (const last of queue.toReversed()) {
        if (over <= 0) break;
        if (last.lots > over) {
          last.lots -= over;
          sent.push(this.amend(last, nowMs));
          break;
        }
        over -= last.lots;
        this.drop(last);
        sent.push(this.cancel(last, nowMs));
      }
    }
    return sent;
  }

  private add(account: ReplayAccount, side: 1 | -1, nowMs: number): Promise<unknown>[] {
    const sent: Promise<unknown>[] = [];
    for (const ticks of this.bestOf(side)) {
      const queue = this.resting[side].get(ticks) ?? [];
      const lots = (this.recorded[side].get(ticks) ?? 0) - sumOf(queue);
      if (lots <= 0) continue;
      sent.push(this.place(account, side, ticks, lots, nowMs));
    }
    return sent;
  }

  private async place(
    account: ReplayAccount,
    side: 1 | -1,
    ticks: number,
    lots: number,
    nowMs: number,
  ): Promise<void> {
    const sent = await this.send({
      kind: "PlaceOrder",
      stampMs: nowMs,
      session: account.session,
      key: account.key,
      nonce: account.nonce++,
      market: this.market.number,
      side,
      type: 1,
      marginMicros: 0,
      leverage: this.accounts.leverage,
      priceTicks: ticks,
      reduceOnly: false,
      postOnly: false,
      extras: { ...EXTRAS, sizeLots: lots },
    });
    if ("refusal" in sent) {
      // As before the first index: the price is too far from the mark.
      this.onRefused(sent.refusal);
      this.isChanged = true;
      return;
    }
    const order = this.venue().views.order(account.number, sent.seq);
    if (order === undefined) return;
    // It may have met a trader's order on its way in.
    const filledLots = this.lotsIn(order.filledSize);
    if (filledLots > 0) this.take(side, ticks, filledLots);
    const left = this.lotsIn(order.remainingSize);
    if (order.status === "canceled") {
      this.onRefused(order.reason ?? "canceled");
      this.isChanged = true;
    }
    if (order.status !== "resting") return;
    const resting = { id: sent.seq, owner: account, side, ticks, lots: left, filledLots };
    this.byId.set(resting.id, resting);
    account.resting++;
    const queue = this.resting[side].get(ticks) ?? [];
    this.resting[side].set(ticks, [...queue, resting]);
  }

  private async amend(resting: Resting, nowMs: number): Promise<void> {
    const { owner, id, lots, filledLots } = resting;
    await this.send({
      kind: "AmendOrder",
      stampMs: nowMs,
      session: owner.session,
      key: owner.key,
      nonce: owner.nonce++,
      market: this.market.number,
      orderId: id,
      clientOrderId: "",
      priceTicks: 0,
      sizeLots: lots + filledLots,
      limitTicks: 0,
      expiresAtMs: -1,
      validUntilMs: 0,
    });
    // Refused where it was filled meanwhile.
    const order = this.venue().views.order(owner.number, id);
    if (order !== undefined && this.byId.has(id)) this.follow(resting, order);
  }

  private async cancel({ owner, id }: Resting, stampMs: number): Promise<void> {
    await this.send({ kind: "CancelOrder", stampMs, session: owner.session, orderId: id });
  }

  /** The best prices of a side, from the best one. */
  private bestOf(side: 1 | -1): number[] {
    const known = this.best[side];
    if (known !== undefined) return known;
    const sorted = [...this.recorded[side].keys()].sort((a, b) => side * (b - a));
    const best = sorted.slice(0, this.depth);
    this.best[side] = best;
    return best;
  }
}

/** @throws RangeError for a price that no order of the venue can have. */
export function ticksOf({ symbol, tickSize }: MarketUnits, price: number): number {
  const ticks = Math.round(price / tickSize);
  if (ticks >= 1 && ticks <= MAX_TICKS) return ticks;
  throw new RangeError(`${symbol} has prices from ${tickSize}, and not ${price}`);
}

/** @throws RangeError */
export function lotsOf({ symbol, lotSize }: MarketUnits, size: number): number {
  const lots = Math.round(size / lotSize);
  if (lots <= Number.MAX_SAFE_INTEGER) return lots;
  throw new RangeError(`no order of ${symbol} has the size ${size}`);
}

function sumOf(queue: readonly Resting[]): number {
  let lots = 0;
  for (const order of queue) lots += order.lots;
  return lots;
}
