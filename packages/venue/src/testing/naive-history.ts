/**
 * A naive history for comparison: every event of every command in one list, and each result computed
 * from the whole list.
 */
import { END, LIMIT_ORDER, ORDER_STATUSES, TRADE_KINDS, type VenueEvent } from "@perpgate/engine";
import { isExitId } from "@perpgate/protocol/core";

export interface Noted {
  readonly seq: number;
  readonly timeMs: number;
  readonly event: VenueEvent;
}

const MINUTE_MS = 60_000;
const STATUS = new Map(ORDER_STATUSES.map((name, code) => [code, name]));

export class NaiveHistory {
  private readonly noted: Noted[] = [];
  private clientIds: ReadonlyMap<number, number[]> | undefined;
  private allTrades: ReturnType<NaiveHistory["listTrades"]> | undefined;

  /** Takes the units by market. */
  constructor(private readonly unitMicros: (market: number) => number) {}

  note(seq: number, timeMs: number, events: readonly VenueEvent[]): void {
    for (const event of events) this.noted.push({ seq, timeMs, event });
  }

  /** Every trade with its index in its command and its block; computed once. */
  private trades() {
    this.allTrades ??= this.listTrades();
    return this.allTrades;
  }

  private listTrades() {
    let last = 0;
    let index = 0;
    let block = 1;
    return this.noted.flatMap(({ seq, timeMs, event }) => {
      if (event.kind === "BlockSealed") block = event.number + 1;
      if (event.kind !== "Traded") return [];
      index = seq === last ? index + 1 : 0;
      last = seq;
      return [{ seq, timeMs, index, block, event }];
    });
  }

  deleveragings(): number {
    return this.trades().filter(({ event }) => TRADE_KINDS[event.tradeKind] === "adl").length;
  }

  /** Rows as the history stores them, newest first. */
  fills(account: number) {
    return this.trades()
      .flatMap(({ seq, timeMs, index, block, event: e }) => {
        const isMaker = e.makerAccount === account;
        if (!isMaker && e.takerAccount !== account) return [];
        const order = isMaker ? e.makerOrderId : e.takerOrderId;
        const row = [
          order,
          order === 0 ? e.tradeKind : 0,
          e.market,
          isMaker ? -e.takerSide : e.takerSide,
          e.priceTicks,
          e.lots,
          isMaker ? e.makerFeeMicros : e.takerFeeMicros,
          isMaker ? 0 : 1,
          isMaker ? e.makerPnlMicros : e.takerPnlMicros,
          block,
          timeMs,
          ...(this.clients().get(order) ?? []),
        ];
        return [{ seq, ordinal: 2 * index + (isMaker ? 0 : 1), row }];
      })
      .reverse();
  }

  tape(market: number) {
    return this.trades().filter(({ event }) => event.market === market && event.makerOrderId !== 0);
  }

  candles(market: number, spanMs: number) {
    const times = new Map<number, number[]>();
    for (const { timeMs, event } of this.tape(market)) {
      const time = Math.floor(timeMs / spanMs) * spanMs;
      const price = event.priceTicks;
      const [open, high, low, , lots, count, turnover] = times.get(time) ?? [
        price,
        price,
        price,
        price,
        0,
        0,
        0,
      ];
      times.set(time, [
        open!,
        Math.max(high!, price),
        Math.min(low!, price),
        price,
        lots! + event.lots,
        count! + 1,
        ...(spanMs === MINUTE_MS ? [turnover! + price * event.lots] : []),
      ]);
    }
    return [...times].sort(([a], [b]) => b - a).map(([timeMs, row]) => ({ timeMs, row }));
  }

  /** Candles of the accepted index, or of the mark: without sums. */
  priceCandles(market: number, price: "mark" | "index", spanMs: number) {
    const times = new Map<number, number[]>();
    for (const { timeMs, event } of this.noted) {
      const isSet = event.kind === "IndexUpdated" || event.kind === "MarkChanged";
      if (!isSet || event.market !== market) continue;
      if (price === "index" && event.kind === "MarkChanged") continue;
      const ticks =
        price === "mark" || !("indexTicks" in event) ? event.markTicks : event.indexTicks;
      const time = Math.floor(timeMs / spanMs) * spanMs;
      const [open = ticks, high = ticks, low = ticks] = times.get(time) ?? [];
      times.set(time, [open, Math.max(high, ticks), Math.min(low, ticks), ticks]);
    }
    return [...times].sort(([a], [b]) => b - a).map(([timeMs, row]) => ({ timeMs, row }));
  }

  funding(market: number) {
    return this.noted
      .flatMap(({ event }) =>
        event.kind === "FundingApplied" && event.market === market
          ? [{ timeMs: event.hourEndMs, row: [event.rate, event.markTicks] }]
          : [],
      )
      .reverse();
  }

  /** The client's ids of orders that have one. */
  private clients(): ReadonlyMap<number, number[]> {
    this.clientIds ??= new Map(
      this.noted.flatMap(({ event: e }) =>
        e.kind === "OrderExtended" && e.client1 !== 0
          ? [[e.orderId, [e.client1, e.client2, e.client3, e.client4, e.client5]] as const]
          : [],
      ),
    );
    return this.clientIds;
  }

  /** Time in force, expiry, trigger, limit, whether it closes the position, the client's id. */
  terms(id: number): number[] {
    let terms: number[] = [];
    for (const { event: e } of this.noted) {
      if (e.kind === "OrderPlaced" && e.orderId === id) {
        terms = [e.type === LIMIT_ORDER ? 0 : 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
      }
      if (e.kind === "OrderExtended" && e.orderId === id) {
        terms = [e.timeInForce, e.expiresAtMs, e.trigger, e.limitTicks, e.closePosition];
        terms.push(e.client1, e.client2, e.client3, e.client4, e.client5);
      }
      if (e.kind === "OrderAmended" && e.orderId === id) {
        terms[1] = e.expiresAtMs;
        terms[3] = e.limitTicks;
      }
      // One that closes the position: 2 once it was triggered.
      if (e.kind === "StopTriggered" && e.orderId === id && terms[4] === 1) terms[4] = 2;
    }
    return terms;
  }

  /** Status, reason, filled lots and micros, fee, remaining lots, created, updated. */
  order(id: number) {
    let state = {
      status: "",
      reason: 0,
      lots: 0,
      micros: 0,
      fee: 0,
      left: 0,
      created: 0,
      updated: 0,
    };
    for (const { timeMs, event: e } of this.noted) {
      if (e.kind === "OrderPlaced" && e.orderId === id) {
        // An exit waits from the beginning; of other orders the acknowledgement says it.
        const status = isExitId(id) ? "pending" : "filled";
        state = { ...state, status, left: e.lots, created: timeMs, updated: timeMs };
      }
      if (e.kind === "StopTriggered" && e.orderId === id) state.updated = timeMs;
      if (e.kind === "ExitSized" && e.orderId === id) {
        state.left = e.remainingLots;
        state.updated = timeMs;
      }
      if (e.kind === "Traded" && (e.makerOrderId === id || e.takerOrderId === id)) {
        state.lots += e.lots;
        state.micros += e.lots * e.priceTicks * this.unitMicros(e.market);
        state.fee += e.makerOrderId === id ? e.makerFeeMicros : e.takerFeeMicros;
        state.left -= e.lots;
        state.updated = timeMs;
      }
      if (e.kind === "OrderAmended" && e.orderId === id) {
        state.left = e.remainingLots;
        state.updated = timeMs;
      }
      if (e.kind === "OrderRested" && e.orderId === id) {
        // Also a stop with a limit, at the tick that triggers it.
        state.status = "resting";
        state.updated = timeMs;
      }
      if (e.kind === "OrderEnded" && e.orderId === id) {
        state.status = e.reason === END.none ? "filled" : "canceled";
        state.reason = e.reason;
        state.left = e.remainingLots;
        state.updated = timeMs;
      }
      if (e.kind === "OrderAcknowledged" && e.orderId === id) {
        state.status = STATUS.get(e.status) ?? "";
        state.reason = e.reason;
        state.left = e.remainingLots;
      }
    }
    return state;
  }

  /** Ids of an account's orders, newest first; those that used a nonce if one is given. */
  orders(account: number, nonce?: number): number[] {
    return this.noted
      .flatMap(({ event: e }) => {
        const isOwn = e.kind === "OrderPlaced" && e.account === account;
        // Exits have the nonce of their order, which is found by it.
        const isNamed = isOwn && e.nonce === nonce && !isExitId(e.orderId);
        return isOwn && (nonce === undefined || isNamed) ? [e.orderId] : [];
      })
      .reverse();
  }

  updatedAt(account: number, market: number): number {
    let known = "0 0 0";
    let updated = 0;
    for (const { timeMs, event: e } of this.noted) {
      if (e.kind !== "PositionSettled" || e.account !== account || e.market !== market) continue;
      const now = `${e.lots} ${e.costMicros} ${e.marginMicros}`;
      if (now !== known) updated = timeMs;
      known = now;
    }
    return updated;
  }
}
