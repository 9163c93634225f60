/**
 * Counts what a run of commands exercised: a generator that never triggers a rule tests nothing.
 */
import { isExitId } from "@perpgate/protocol/order-id";
import type { AmendOrder, BatchPlace, ChangeMargin, Command } from "../../commands.js";
import { MAX_LEAD_MS } from "../../config.js";
import { ORDER_STATUSES, TRADE_KINDS, type VenueEvent } from "../../events/event-table.js";
import { END_REASONS, REFUSALS, WRITER_ENDS } from "../../reasons.js";
import { isFresh, isLiquidatable } from "../reference/margin.js";
import { type Account, isReturning, type State } from "../reference/state.js";
import { unitsLeft } from "../reference/work.js";

const TIMES_IN_FORCE = ["gtc", "ioc", "fok"];

export class Coverage {
  readonly counts = new Map<string, number>();
  /** The index that is held back, by market. */
  private readonly held = new Map<number, number>();
  /** Asks for a time jump after the last command, by writer. */
  private asks = new Map<number, { readonly time: number; readonly ticks: number }>();
  /** Of the core that led after the last command. */
  private led = { epoch: 0, isReturning: false, former: [] as readonly number[] };
  /** Ids of the orders that have a size. */
  private readonly sized = new Set<number>();

  add(key: string, amount = 1): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + amount);
  }

  count(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  /** After the command was applied: its events, and the state that it left. */
  observe(command: Command, events: readonly VenueEvent[], state: State): void {
    this.add(`command ${command.kind}`);
    for (const event of events) this.observeEvent(event);
    this.observeDisconnects(command, events);
    this.observeWriters(command, events, state);
    this.observeLeader(command, events, state);
    if (command.kind === "ChangeMargin") this.observeMargin(command, events);
    if ("batch" in command && command.batch !== undefined) {
      this.observeBatch(command.kind, command.batch, events, state);
    }
    if (command.kind === "AmendOrder") this.observeAmendment(command, events, state);
    const isDisplaced = events.some(({ kind }) => kind === "SessionClosed");
    if (command.kind === "OpenSession" && isDisplaced) this.add("rule oldest session ended");
    for (const { settlement, status } of state.markets) {
      if (settlement === null || status !== "settled") continue;
      if (settlement.payout < settlement.gains) this.add("rule settled with a loss to winners");
    }
    if (state.carriedDisconnects.length > 0) this.add("rule disconnects carried over");
    if (command.kind === "Tick" || command.kind === "UpdateIndex") this.observeWaitingStops(state);
    this.observeTerms(command, events, state);
    this.observeExits(command, events, state);
    if (command.kind !== "Tick") return;
    this.observeTriggers(events, state);
    if (events.length === 0) this.add("rule tick without events");
    if (state.budget === 0 && liquidationWaits(state)) this.add("rule liquidations wait");
    this.observeBackstop(events, state);
    if (unitsLeft(state) === 0 && liquidationWaits(state)) this.add("rule liquidation interrupted");
    if (state.fund < 0n) this.add("rule fund below zero");
    const hours = events.filter((event) => event.kind === "FundingApplied").length;
    if (hours > state.markets.length) this.add("rule several funding hours in a tick");
    const seats = new Map<number, number>();
    for (const event of events) {
      if (event.kind !== "Liquidated") continue;
      const seat = event.account * 100 + event.market;
      seats.set(seat, (seats.get(seat) ?? 0) + 1);
    }
    if ([...seats.values()].some((rounds) => rounds > 1)) this.add("rule several rounds");
    this.observePartial(events);
  }

  /** Stops that were reached and wait, and among them those from which the mark has moved away. */
  private observeWaitingStops(state: State): void {
    const open = state.accounts.flatMap(({ positions }) => positions.flatMap((p) => p.orders));
    const waiting = open.filter((order) => order.reached);
    if (waiting.length === 0) return;
    this.add("rule stops wait");
    const isLeft = waiting.some(({ market, side, price }) => {
      const { mark } = state.markets[market]!;
      return side > 0 ? mark < price : mark > price;
    });
    if (isLeft) this.add("rule stops wait, the mark has moved back");
  }

  /** What became of stops that are more than plain ones. */
  private observeTriggers(events: readonly VenueEvent[], state: State): void {
    const triggered = new Set<number>();
    const rested = new Set<number>();
    for (const event of events) {
      if (event.kind === "StopTriggered") triggered.add(event.orderId);
      if (event.kind === "OrderRested") rested.add(event.orderId);
      if (event.kind === "OrderReduced" && triggered.has(event.orderId)) {
        this.add(`rule stop-limit rests in part: ${END_REASONS[event.reason]}`);
      }
    }
    for (const id of rested) if (triggered.has(id)) this.add("rule stop-limit rests");
    for (const { positions } of state.accounts) {
      for (const { orders, market } of positions) {
        for (const order of orders.filter((each) => each.triggered)) {
          const isNew = triggered.has(order.id);
          if (isNew) this.add("rule closing order triggered, lots are left");
          const isTaken = events.some(
            (event) => event.kind === "Traded" && event.takerOrderId === order.id,
          );
          if (!isNew && isTaken) this.add("rule closing order tried again, some lots closed");
        }
        const own = orders.filter((each) => each.extra?.closePosition);
        const isLiquidated = events.some(
          (event) =>
            event.kind === "Liquidated" &&
            event.market === market &&
            event.account === own[0]?.account,
        );
        if (own.length > 0 && isLiquidated) this.add("rule closing order outlives a liquidation");
        const isDeleveraged = events.some(
          (event) =>
            event.kind === "Traded" &&
            event.tradeKind === 3 &&
            event.market === market &&
            event.makerAccount === own[0]?.account,
        );
        if (own.length > 0 && isDeleveraged) this.add("rule closing order outlives deleveraging");
      }
    }
    this.observeClosed(events, triggered);
  }

  /** Positions closed by orders that close whatever there is, and what ended with them. */
  private observeClosed(events: readonly VenueEvent[], triggered: ReadonlySet<number>): void {
    const takers = new Set<number>();
    for (const event of events) if (event.kind === "Traded") takers.add(event.takerOrderId);
    for (const event of events) {
      if (event.kind !== "OrderEnded") continue;
      const reason = END_REASONS[event.reason];
      if (reason === "none" && takers.has(event.orderId) && !triggered.has(event.orderId)) {
        this.add("rule closing order tried again, position closed");
      }
      if (reason !== "position_closed" || !triggered.has(event.orderId)) continue;
      const before = events[events.indexOf(event) - 1];
      const isIdle = before?.kind === "StopTriggered" && before.orderId === event.orderId;
      if (isIdle) this.add("rule closing order triggered, nothing to close");
      else if (!isExitId(event.orderId)) this.add("rule two closing orders triggered in one tick");
    }
  }

  /** What became of a change of margin, by its direction. */
  private observeMargin({ amountMicros }: ChangeMargin, events: readonly VenueEvent[]): void {
    const what = amountMicros > 0 ? "added" : "removed";
    for (const event of events) {
      if (event.kind === "MarginChanged") this.add(`rule margin ${what}`);
      if (event.kind === "OrderReplayed") this.add("rule change of margin replayed");
      if (event.kind !== "CommandRefused") continue;
      this.add(`rule margin not ${what}: ${REFUSALS[event.refusal]}`);
    }
  }

  /** Orders with more than the plain terms. */
  private observeTerms(command: Command, events: readonly VenueEvent[], state: State): void {
    const isEnd = (event: VenueEvent, reason: string) =>
      event.kind === "OrderEnded" && END_REASONS[event.reason] === reason;
    if (events.some((event) => isEnd(event, "expired"))) {
      this.add(`rule expired in ${command.kind}`);
    }
    for (const event of state.undone) {
      if (event.kind === "OrderEnded") this.add(`rule undone ${END_REASONS[event.reason]}`);
      if (event.kind === "Traded") this.add("rule undone trade");
    }
    this.observeCaps(events);
    if (command.kind !== "PlaceOrder" || command.extras === undefined) return;
    const ack = events.find((event) => event.kind === "OrderAcknowledged");
    if (ack?.kind !== "OrderAcknowledged") return;
    const force = TIMES_IN_FORCE[command.extras.timeInForce];
    this.add(`rule ${force} ${ORDER_STATUSES[ack.status]}`);
    if (command.extras.sizeLots > 0) this.add(`rule size ${ORDER_STATUSES[ack.status]}`);
  }

  /** What became of the exits that are attached to orders. */
  private observeExits(command: Command, events: readonly VenueEvent[], state: State): void {
    const open = state.accounts.flatMap(({ positions }) => positions.flatMap((p) => p.orders));
    const waiting = new Set(open.filter(({ resting }) => !resting).map(({ id }) => id));
    const triggered = new Set<number>();
    for (const event of events) {
      if (event.kind === "StopTriggered") triggered.add(event.orderId);
      if (event.kind === "ExitSized") {
        const what = event.remainingLots === 0 ? "waits for lots again" : "covers other lots";
        this.add(`rule exit ${what} in ${command.kind}`);
      }
      if (event.kind === "OrderEnded" && isExitId(event.orderId)) {
        this.add(`rule exit ended: ${END_REASONS[event.reason]}`);
      }
      if (event.kind === "OrderRested" && isExitId(event.orderId)) this.add("rule exit rests");
      if (event.kind === "Traded" && isExitId(event.makerOrderId)) this.add("rule exit is a maker");
      if (event.kind === "OrderAmended" && isExitId(event.orderId)) this.add("rule exit amended");
    }
    for (const id of triggered) {
      if (isExitId(id) && waiting.has(id)) this.add("rule exit waits again after a trigger");
    }
    for (const event of state.undone) {
      if (event.kind === "OrderEnded" && isExitId(event.orderId))
        this.add("rule undone exit ended");
    }
    if (open.some(({ id, lots }) => isExitId(id) && lots === 0n))
      this.add("rule exit waits for lots");
  }

  /** Orders without a size, accepted as exits, that meet the cap of their session. */
  private observeCaps(events: readonly VenueEvent[]): void {
    for (const event of events) {
      if (event.kind === "OrderExtended" && event.sizeLots > 0) this.sized.add(event.orderId);
      if (event.kind !== "OrderEnded" && event.kind !== "OrderAcknowledged") continue;
      if (END_REASONS[event.reason] !== "session_order_cap_exceeded") continue;
      if (!this.sized.has(event.orderId)) this.add(`rule exit meets its cap: ${event.kind}`);
    }
  }

  /** What became of an amendment, and what the order was. */
  private observeAmendment(
    command: AmendOrder,
    events: readonly VenueEvent[],
    { accounts }: State,
  ): void {
    const has = (kind: VenueEvent["kind"]): boolean => events.some((event) => event.kind === kind);
    if (has("OrderReplayed")) this.add("rule amendment replayed");
    const [first] = events;
    if (first?.kind === "CommandRefused") {
      this.add(`rule amendment refused: ${REFUSALS[first.refusal]}`);
      return;
    }
    const open = accounts.flatMap(({ positions }) => positions.flatMap((p) => p.orders));
    const amended = events.find((event) => event.kind === "OrderAmended");
    const order = open.find(({ id }) => id === amended?.orderId);
    const isPending = order?.resting === false;
    if (order?.extra?.closePosition === true) this.add("rule amended closing order");
    if (command.limitTicks > 0 && order !== undefined) {
      this.add(`rule amended limit of a ${isPending ? "pending" : "triggered"} stop`);
    }
    if (isPending && command.expiresAtMs > 0) this.add("rule amended expiry of a stop");
    for (const event of events) {
      if (event.kind !== "OrderAcknowledged") continue;
      const status = ORDER_STATUSES[event.status];
      const traded = event.filledLots > 0 ? " after trading" : "";
      this.add(`rule amended ${isPending ? "stop" : "order"} ${status}${traded}`);
      const isQueued = has("OrderRested");
      if (event.status === 1 && !isQueued) this.add("rule amended in place");
      if (event.reason !== 0) this.add(`rule amended, then ${END_REASONS[event.reason]}`);
    }
  }

  /** What became of an operation of a batch. */
  private observeBatch(
    kind: string,
    { index }: BatchPlace,
    events: readonly VenueEvent[],
    state: State,
  ): void {
    const [first] = events;
    if (first?.kind === "CommandRefused") {
      const refusal = REFUSALS[first.refusal];
      this.add(`rule batch refused ${refusal === "invalid_command" ? refusal : "otherwise"}`);
    } else {
      this.add(`rule batch ${first?.kind === "OrderReplayed" ? "replayed" : kind}`);
    }
    if (index > 0 && state.batch?.last === state.position) this.add("rule batch continued");
  }

  /** How orders came to end with their connection, by command. */
  private observeDisconnects(command: Command, events: readonly VenueEvent[]): void {
    const isGone = (event: VenueEvent) =>
      event.kind === "OrderEnded" && END_REASONS[event.reason] === "disconnected";
    if (events.some(isGone)) this.add(`rule disconnected by ${command.kind}`);
  }

  private observeWriters(command: Command, events: readonly VenueEvent[], state: State): void {
    for (const event of events) {
      if (event.kind !== "WriterEnded") continue;
      this.add(`rule writer ${WRITER_ENDS[event.reason]} in ${command.kind}`);
    }
    if (command.kind === "SessionDisconnected") {
      const session = state.sessions.get(command.session);
      const isElsewhere = state.writers.some(({ sessions }) => sessions.has(command.session));
      if (session?.cancelOnDisconnect && isElsewhere) {
        this.add("rule disconnected here, connected elsewhere");
      }
    }
    if (command.kind === "Tick") this.observeOldAsks(state);
    if (command.kind === "AskTime") this.observeAsk(command.stampMs, events, state);
    this.asks = new Map(
      state.writers.flatMap(({ number, ask }) => (ask === null ? [] : [[number, { ...ask }]])),
    );
  }

  private observeLeader(command: Command, events: readonly VenueEvent[], state: State): void {
    const { led } = this;
    const { epoch, lastTick, switchesHeld } = state;
    const isBack = isReturning(state);
    if (command.kind === "CoreLeads") {
      const whom = led.epoch === 0 ? "writers" : "a leader";
      const early = led.isReturning ? "one whose connections had not returned" : whom;
      const isRefused = events[0]?.kind === "CommandRefused";
      this.add(isRefused ? "rule claim refused" : `rule leader follows ${early}`);
    }
    if (led.isReturning && !isBack) {
      for (const session of led.former) {
        const isThere = state.writers.some(({ sessions }) => sessions.has(session));
        this.add(`rule connection ${isThere ? "returned to the leader" : "did not return"}`);
      }
    }
    if (command.kind === "SessionDisconnected" && state.former.has(command.session)) {
      this.add("rule disconnected at the leader, returning");
    }
    const isHeld = ({ cancelAt }: Account) => cancelAt > switchesHeld && cancelAt <= lastTick;
    if (isBack && command.kind === "Tick" && [...state.accounts.values()].some(isHeld)) {
      this.add("rule switch held for the return");
    }
    this.led = { epoch, isReturning: isBack, former: isBack ? [...state.former] : [] };
  }

  private observeOldAsks(state: State): void {
    if (state.ticksOfBatch === 2) this.add("rule second tick of a batch");
    for (const { number, ask } of state.writers) {
      const before = this.asks.get(number);
      if (before === undefined || ask !== null) continue;
      this.add(`rule ask is ${before.time > state.lastTick ? "too old" : "reached by a tick"}`);
    }
  }

  private observeAsk(stampMs: number, events: readonly VenueEvent[], state: State): void {
    const asked = state.writers.filter(
      ({ number, id }) => this.asks.has(number) || id === state.writing,
    );
    const all = asked.length === state.writers.length ? "all asked" : "not all asked";
    if (events.some(({ kind }) => kind === "TimeJumped")) this.add(`rule time jumps, ${all}`);
    else if (stampMs >= state.lastTick + MAX_LEAD_MS) this.add("rule ask without a majority");
  }

  private observeEvent(event: VenueEvent): void {
    this.add(`event ${event.kind}`);
    switch (event.kind) {
      case "CommandRefused":
        this.add(`refused ${REFUSALS[event.refusal]}`);
        break;
      case "OrderEnded":
        this.add(`ended ${END_REASONS[event.reason]}`);
        break;
      case "OrderAcknowledged":
        this.add(`status ${ORDER_STATUSES[event.status]}`);
        this.add(`acknowledged ${END_REASONS[event.reason]}`);
        if (event.status === 1 && event.filledLots > 0) this.add("rule partly filled, rests");
        break;
      case "Traded":
        this.add(`trade ${TRADE_KINDS[event.tradeKind]}`);
        if (event.tradeKind === 2 && event.takerAccount === 0) this.add("rule backstop reduces");
        if (event.tradeKind === 3 && event.takerAccount === 0) this.add("rule backstop gives away");
        if (event.tradeKind === 2 && event.takerAccount !== 0) {
          this.add(`rule backstop ${event.makerPnlMicros === 0 ? "opens" : "nets"}`);
        }
        if (event.tradeKind === 0 && event.takerOrderId > 0 && event.takerPnlMicros !== 0) {
          this.add("rule taker closes");
        }
        break;
      case "IndexHeld":
        this.observeHold(event.market, event.indexTicks);
        this.held.set(event.market, event.indexTicks);
        break;
      case "IndexUpdated":
        if (this.held.has(event.market)) this.observeHold(event.market, event.indexTicks, "ends");
        this.held.delete(event.market);
        break;
      case "FundingApplied":
        if (event.rate > 0) this.add("rule funding, longs pay");
        if (event.rate < 0) this.add("rule funding, shorts pay");
        if (event.backstopMicros > 0) this.add("rule funding, the backstop pays");
        if (event.backstopMicros < 0) this.add("rule funding, the backstop receives");
        break;
      case "FundingSettled":
        this.add(`rule funding ${event.amountMicros > 0 ? "paid" : "received"}`);
        if (event.amountMicros + event.marginMicros > 0) this.add("rule funding from profit");
        break;
      case "Liquidated":
        if (event.feeMicros > 0) this.add("rule liquidation fee");
        if (event.backstopLots > 0 && event.closedLots > 0) this.add("rule book, then backstop");
        if (event.backstopLots > 0 && event.deleveragedLots > 0)
          this.add("rule backstop, then adl");
        break;
      case "MarketStatusChanged":
        if (event.status === 0) this.add("rule market resumed");
        if (event.status === 2) this.add("rule market halted");
        if (event.status === 4) this.add("rule market settled");
        break;
      case "SessionOptionSet":
        this.add(`rule option ${event.cancelOnDisconnect === 1 ? "on" : "off"}`);
        break;
      case "SessionClosed":
        this.add(`rule session ${event.expired === 1 ? "expires" : "is closed"}`);
        break;
      default:
    }
  }

  private observeHold(market: number, index: number, what = "goes on"): void {
    const held = this.held.get(market);
    if (held === undefined) return;
    const isNear = Math.abs(index - held) <= held * 0.05;
    this.add(`rule a hold ${what}, ${isNear ? "near" : "far from"} the held index`);
  }

  /** Takeovers at a price worse than the mark, and those that the fund's budget kept out. */
  private observeBackstop(events: readonly VenueEvent[], state: State): void {
    for (const event of events) {
      if (event.kind === "Liquidated" && event.deleveragedLots > 0 && state.fund > 0n) {
        this.add("rule deleveraged although the fund has money");
      }
      if (event.kind !== "Traded" || event.tradeKind !== 2 || event.takerAccount === 0) continue;
      const mark = Number(state.markets[event.market]?.mark ?? 0n);
      if (event.takerSide * (mark - event.priceTicks) > 0) {
        this.add("rule backstop takes at a loss");
      }
    }
  }

  /** A liquidation that left lots: down to a tier bound. */
  private observePartial(events: readonly VenueEvent[]): void {
    const liquidated = new Set<string>();
    for (const event of events) {
      if (event.kind === "Liquidated") liquidated.add(`${event.account} ${event.market}`);
      if (event.kind === "PositionSettled" && event.lots !== 0) {
        if (liquidated.has(`${event.account} ${event.market}`))
          this.add("rule partial liquidation");
      }
    }
  }

  merge(other: Coverage): void {
    for (const [key, amount] of other.counts) this.add(key, amount);
  }

  table(): string {
    return [...this.counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, amount]) => `${amount.toString().padStart(9)}  ${key}`)
      .join("\n");
  }
}

/** Whether a position is due that the last tick did not get to. */
function liquidationWaits(state: State): boolean {
  return state.accounts.some(({ positions }) =>
    positions.some((position) => {
      const market = state.markets[position.market];
      if (market === undefined || !isFresh(state, market)) return false;
      return isLiquidatable(state, position);
    }),
  );
}
