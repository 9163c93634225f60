/**
 * Attached exits, from the sentences of the interface alone: follows fills and ends in the log's events, and
 * says how many lots each exit must cover after every command.
 */
import type { VenueEvent } from "../../events/event-table.js";

/** "They are orders of their own with ids POSITION.1 and POSITION.2": the number between two positions. */
export function isExit(id: number): boolean {
  return !Number.isInteger(id);
}

interface Exit {
  lots: number;
  /** Once it is triggered and rests, later lots are not its own. */
  isResting: boolean;
}

/** What the events say of positions, of orders with exits, and of the exits. */
export class ExitLedger {
  /** By account and market. */
  private readonly held = new Map<string, number>();
  /** Exits by their order, in the account's market, the newest order last. */
  private readonly pairs = new Map<string, Map<number, Map<number, Exit>>>();
  /** Lots that each order opened in the command. */
  private readonly opened = new Map<number, number>();
  /** Lots that an exit's fill opened; none may. */
  readonly wrongFills: string[] = [];

  /** The lots that an exit must have, or undefined if it should not be open. */
  lotsOf(account: number, market: number, id: number): number | undefined {
    return this.pairs.get(placeKey(account, market))?.get(Math.floor(id))?.get(id)?.lots;
  }

  follow(events: readonly VenueEvent[]): void {
    this.opened.clear();
    this.wrongFills.length = 0;
    for (const event of events) this.event(event);
  }

  private event(event: VenueEvent): void {
    if (event.kind === "Traded") {
      const { market, takerSide, lots } = event;
      // The maker's account gives up what it closed, then what the taker's did.
      this.fill(event.makerAccount, market, event.makerOrderId, -takerSide * lots);
      this.fill(event.takerAccount, market, event.takerOrderId, takerSide * lots);
    }
    if (event.kind === "CashSettled") this.held.delete(placeKey(event.account, event.market));
    if (event.kind === "OrderPlaced" && isExit(event.orderId)) {
      const { orderId, account, market } = event;
      const lots = this.opened.get(Math.floor(orderId)) ?? 0;
      this.pairOf(account, market, orderId).set(orderId, { lots, isResting: false });
    }
    if (event.kind === "OrderRested" && isExit(event.orderId)) {
      for (const orders of this.pairs.values()) {
        const exit = orders.get(Math.floor(event.orderId))?.get(event.orderId);
        if (exit !== undefined) exit.isResting = true;
      }
    }
    if (event.kind === "OrderEnded" && isExit(event.orderId)) {
      const pair = this.pairOf(event.account, event.market, event.orderId);
      pair.delete(event.orderId);
    }
  }

  /** Signed lots of an account; order 0: none, as in deleveraging. */
  private fill(account: number, market: number, orderId: number, lots: number): void {
    if (account === 0) return;
    const place = placeKey(account, market);
    const before = this.held.get(place) ?? 0;
    const closed = before * lots < 0 ? Math.min(Math.abs(before), Math.abs(lots)) : 0;
    const opened = Math.abs(lots) - closed;
    this.held.set(place, before + lots);
    if (closed > 0) this.close(place, orderId, closed);
    if (opened === 0) return;
    if (isExit(orderId)) this.wrongFills.push(`exit ${orderId} opened ${opened} lots`);
    this.opened.set(orderId, (this.opened.get(orderId) ?? 0) + opened);
    for (const exit of this.pairs.get(place)?.get(orderId)?.values() ?? []) {
      if (!exit.isResting) exit.lots += opened;
    }
  }

  private close(place: string, orderId: number, lots: number): void {
    const orders = this.pairs.get(place) ?? new Map<number, Map<number, Exit>>();
    if (isExit(orderId)) {
      // "cancel each other as they fill (lot by lot)".
      const pair = orders.get(Math.floor(orderId)) ?? new Map<number, Exit>();
      const left = most(pair) - lots;
      for (const exit of pair.values()) exit.lots = Math.min(exit.lots, left);
      return;
    }
    let rest = lots;
    // "other reductions of the position shrink the newest pair first".
    for (const id of [...orders.keys()].sort((a, b) => b - a)) {
      const pair = orders.get(id)!;
      const share = Math.min(rest, most(pair));
      const left = most(pair) - share;
      for (const exit of pair.values()) exit.lots = Math.min(exit.lots, left);
      rest -= share;
    }
  }

  private pairOf(account: number, market: number, exitId: number): Map<number, Exit> {
    const place = placeKey(account, market);
    const orders = this.pairs.get(place) ?? new Map<number, Map<number, Exit>>();
    this.pairs.set(place, orders);
    const id = Math.floor(exitId);
    const pair = orders.get(id) ?? new Map<number, Exit>();
    orders.set(id, pair);
    return pair;
  }
}

export function placeKey(account: number, market: number): string {
  return `${account} ${market}`;
}

function most(pair: ReadonlyMap<number, Exit>): number {
  return Math.max(0, ...[...pair.values()].map(({ lots }) => lots));
}
