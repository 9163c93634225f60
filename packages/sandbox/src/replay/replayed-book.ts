/**
 * A recorded book, quoted by an account of the sandbox level by level. What is added to a level joins the
 * end of its queue, what is taken off leaves from there; so a trader's order in between keeps its place.
 */

import type { MarketUnits, Venue } from "@perpgate/venue";
import type { AccountRotation, SandboxAccount } from "../accounts.js";
import type { SandboxCommand } from "../commands.js";
import type { RecordedLevel } from "./events.js";

type Quote = SandboxCommand<"PlaceOrder" | "AmendOrder" | "CancelOrder" | "CancelAll">;

/** Resolves with the position of an accepted command, undefined for a refused one. */
export type Send = (command: Quote) => Promise<number | undefined>;

interface Resting {
  readonly id: number;
  lots: number;
}

/** An account has at most 500 open orders in a market. */
const MAX_DEPTH = 60;
const MAX_ORDERS_OF_LEVEL = 4;
const LEVERAGE = 10;
/** Ten times the bound of an index. */
const MAX_TICKS = 10 * 2 ** 33;
const SIDES = [1, -1] as const;

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
  private isChanged = false;

  constructor(
    readonly market: MarketUnits,
    private readonly depth: number,
    private readonly venue: () => Venue,
    private readonly rotation: AccountRotation,
    private readonly send: Send,
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

  /** What another's order has taken of the quotes; called for every command. */
  onCommand(): void {
    const { current } = this.rotation;
    const account = current && this.venue().views.session(current.session)?.account;
    if (account === undefined) return;
    for (const { orderId, size, symbol, side, price } of this.venue().views.lastFills(account)) {
      if (symbol !== this.market.symbol) continue;
      const of = side === "long" ? 1 : -1;
      const ticks = this.ticksOf(price);
      const order = this.resting[of].get(ticks)?.find(({ id }) => String(id) === orderId);
      if (order === undefined) continue;
      const lots = Math.round(size / this.market.lotSize);
      order.lots -= lots;
      this.take(of, ticks, lots);
    }
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
    const account = await this.rotation.next(() => this.remove(nowMs));
    await Promise.all(SIDES.flatMap((side) => this.takeOff(account, side, nowMs)));
    await Promise.all(SIDES.flatMap((side) => this.add(account, side, nowMs)));
  }

  /** Takes all quotes away. */
  async remove(nowMs: number): Promise<void> {
    for (const side of SIDES) this.resting[side].clear();
    const { current } = this.rotation;
    if (current === undefined) return;
    const { session } = current;
    await this.send({ kind: "CancelAll", stampMs: nowMs, session, market: this.market.number });
  }

  private ticksOf(price: number): number {
    return Math.round(price / this.market.tickSize);
  }

  private takeOff(account: SandboxAccount, side: 1 | -1, nowMs: number): Promise<unknown>[] {
    const wanted = new Set(this.bestOf(side));
    const sent: Promise<unknown>[] = [];
    for (const [ticks, queue] of this.resting[side]) {
      const want = wanted.has(ticks) ? (this.recorded[side].get(ticks) ?? 0) : 0;
      let over = sumOf(queue) - want;
      // One more would be too many: the last one is placed again with what is added.
      if (over < 0 && queue.length >= MAX_ORDERS_OF_LEVEL) over = queue.at(-1)?.lots ?? 0;
      while (over > 0 || queue.at(-1)?.lots === 0) {
        const last = queue.at(-1);
        if (last === undefined) break;
        if (last.lots > over) {
          last.lots -= over;
          sent.push(this.send(this.amendment(account, last, nowMs)));
          break;
        }
        queue.pop();
        over -= last.lots;
        if (last.lots > 0) sent.push(this.send(this.cancel(account, last.id, nowMs)));
      }
      if (queue.length === 0) this.resting[side].delete(ticks);
    }
    return sent;
  }

  private add(account: SandboxAccount, side: 1 | -1, nowMs: number): Promise<unknown>[] {
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
    account: SandboxAccount,
    side: 1 | -1,
    ticks: number,
    lots: number,
    nowMs: number,
  ): Promise<void> {
    const id = await this.send({
      kind: "PlaceOrder",
      stampMs: nowMs,
      session: account.session,
      key: account.key,
      nonce: account.nonce++,
      market: this.market.number,
      side,
      type: 1,
      marginMicros: 0,
      leverage: LEVERAGE,
      priceTicks: ticks,
      reduceOnly: false,
      postOnly: false,
      extras: { ...EXTRAS, sizeLots: lots },
    });
    if (id === undefined) {
      // As before the first index: the price is too far from the mark.
      this.isChanged = true;
      return;
    }
    // It may have met a trader's order on its way in.
    const { views } = this.venue();
    const live = views.session(account.session);
    const order = live === undefined ? undefined : views.order(live.account, id);
    const left = Math.round((order?.remainingSize ?? 0) / this.market.lotSize);
    if (left < lots) this.take(side, ticks, lots - left);
    if (order?.status !== "resting" || left === 0) return;
    const queue = this.resting[side].get(ticks) ?? [];
    queue.push({ id, lots: left });
    this.resting[side].set(ticks, queue);
  }

  private amendment(account: SandboxAccount, order: Resting, nowMs: number): Quote {
    const { views } = this.venue();
    const live = views.session(account.session);
    const filled = live === undefined ? 0 : (views.order(live.account, order.id)?.filledSize ?? 0);
    return {
      kind: "AmendOrder",
      stampMs: nowMs,
      session: account.session,
      key: account.key,
      nonce: account.nonce++,
      market: this.market.number,
      orderId: order.id,
      clientOrderId: "",
      priceTicks: 0,
      sizeLots: order.lots + Math.round(filled / this.market.lotSize),
      limitTicks: 0,
      expiresAtMs: -1,
      validUntilMs: 0,
    };
  }

  private cancel({ session }: SandboxAccount, orderId: number, stampMs: number): Quote {
    return { kind: "CancelOrder", stampMs, session, orderId };
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
