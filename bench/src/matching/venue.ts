/**
 * The engine behind the messages of the public matching-engine harness: one command for each message,
 * and its events as the harness's reports.
 *
 * The harness has orders and no accounts. Here half of the accounts only buy and the others only sell, so
 * no order meets one of its own account; their money, the tiers, the band and the limit of open orders are
 * so large that no rule about margin applies, and fees are 0. The index stays at the harness's first price
 * and no tick runs: the workload has no time. Anything the engine does for such a rule all the same
 * throws.
 */
import {
  type AmendOrder,
  type Command,
  END,
  Engine,
  EVENT_FIELDS,
  EVENT_KINDS,
  type EventKind,
  GOOD_TILL_CANCELED,
  IMMEDIATE_OR_CANCEL,
  LIMIT_ORDER,
  LONG,
  REFUSAL,
  SHORT,
  STATUS_CANCELED,
  type TimeInForceCode,
} from "@perpgate/engine";
import {
  addressOf,
  genesis,
  openSession,
  PLAIN_EXTRAS,
  plainMarket,
  plainOrder,
  venueConfig,
} from "@perpgate/engine/testing";
import {
  CANCEL_ACK,
  CANCEL_REJECT,
  MODIFY_ACK,
  MODIFY_REJECT,
  ORDER_ACK,
  Reports,
  TRADE,
} from "./reports.js";
import { BUY, CANCEL, MODIFY, NEW, type Workload } from "./workload.js";

const START_MS = 1_800_000_000_000;
/** The harness's first price: $167.52 at half a cent. */
const INDEX_TICKS = 33_504;
const KEY = "00".repeat(32);
/** All accounts together stay below the engine's bound on deposits. */
const ALL_MONEY_MICROS = 4e15;
const CONFIG = venueConfig(
  [
    {
      config: plainMarket("HARNESS", [{ upToMicros: 1e14, maxLeverage: 1, maintenancePpm: 1 }], {
        takerFeePpm: 0,
        makerFeePpm: 0,
        bandPpm: 999_999,
      }),
    },
  ],
  { attestorKind: "dev", maxOpenOrders: 1_000_000 },
);

const CODE = Object.fromEntries(EVENT_KINDS.map((kind, code) => [kind, code])) as Readonly<
  Record<EventKind, number>
>;
const SIZE = EVENT_KINDS.map((kind) => 1 + EVENT_FIELDS[kind].length);
/** Where a field stands after the kind of its event. */
function fieldOf<K extends EventKind>(kind: K, field: (typeof EVENT_FIELDS)[K][number]): number {
  return 1 + (EVENT_FIELDS[kind] as readonly string[]).indexOf(field);
}
const TRADED_PRICE = fieldOf("Traded", "priceTicks");
const TRADED_LOTS = fieldOf("Traded", "lots");
const TRADED_MAKER = fieldOf("Traded", "makerOrderId");
const ENDED_REASON = fieldOf("OrderEnded", "reason");
const ACKNOWLEDGED_STATUS = fieldOf("OrderAcknowledged", "status");
const ACKNOWLEDGED_REASON = fieldOf("OrderAcknowledged", "reason");
const REFUSED = fieldOf("CommandRefused", "refusal");

export class MatchingVenue {
  readonly engine = new Engine();
  readonly reports: Reports;
  /** By message; an amendment has its new size only when it is applied. */
  private readonly commands: readonly Command[];
  /** The log position before the first message. A message's is this + 1 + its sequence number. */
  private readonly base: number;
  /** By the harness's order id. */
  private readonly price: Int32Array;
  private readonly filled: Uint32Array;

  constructor(
    private readonly workload: Workload,
    private readonly accounts: number,
  ) {
    const orders = workload.largestOrder + 1;
    this.price = new Int32Array(orders);
    this.filled = new Uint32Array(orders);
    this.reports = new Reports(Math.ceil(workload.length * 1.25));
    for (const command of this.opening()) this.engine.apply(command);
    this.base = this.engine.seq;
    this.commands = this.translate();
  }

  get length(): number {
    return this.workload.length;
  }

  /** Applies a message and reports what came of it. */
  deliver(sequence: number): void {
    const { workload, reports } = this;
    const type = workload.type[sequence]!;
    const order = workload.order[sequence]!;
    const side = workload.side[sequence]!;
    const price = workload.price[sequence]!;
    const lots = workload.lots[sequence]!;
    let command = this.commands[sequence]!;
    // The harness's size is what is left, the engine's what there is in all.
    if (type === MODIFY) {
      command = { ...(command as AmendOrder), sizeLots: lots + this.filled[order]! };
    }
    const { words, length } = this.engine.apply(command);
    if (words[0] === CODE.CommandRefused) {
      this.refuse(sequence, words[REFUSED]!);
      return;
    }
    if (type === NEW) reports.push(ORDER_ACK, sequence, side, order, price, lots);
    if (type !== CANCEL) this.price[order] = price;
    for (let at = 0; at < length; at += SIZE[words[at]!]!) {
      if (words[at] === CODE.Traded) {
        const maker = this.orderOf(words[at + TRADED_MAKER]!);
        const traded = words[at + TRADED_LOTS]!;
        this.filled[maker]! += traded;
        this.filled[order]! += traded;
        reports.push(TRADE, sequence, words[at + TRADED_PRICE]!, traded, maker, order);
      } else if (words[at] === CODE.OrderEnded && words[at + ENDED_REASON] !== END.none) {
        if (type !== CANCEL || words[at + ENDED_REASON] !== END.requested) {
          throw new Error(`message ${sequence}: an order ended for ${words[at + ENDED_REASON]}`);
        }
        reports.push(CANCEL_ACK, sequence, side, order, this.price[order]!);
      } else if (
        words[at] === CODE.OrderAcknowledged &&
        words[at + ACKNOWLEDGED_STATUS] === STATUS_CANCELED
      ) {
        this.expectRest(sequence, words[at + ACKNOWLEDGED_REASON]!);
        reports.push(CANCEL_ACK, sequence, side, order, price);
      }
    }
    if (type === MODIFY) reports.push(MODIFY_ACK, sequence, side, order, price, lots);
  }

  private refuse(sequence: number, refusal: number): void {
    const type = this.workload.type[sequence]!;
    const order = this.workload.order[sequence]!;
    if (type === CANCEL && refusal === REFUSAL.order_not_cancelable) {
      this.reports.push(CANCEL_REJECT, sequence, order);
    } else if (type === MODIFY && refusal === REFUSAL.order_not_amendable) {
      this.reports.push(MODIFY_REJECT, sequence, order);
    } else {
      throw new Error(`message ${sequence}: refused for reason ${refusal}`);
    }
  }

  /** Only an immediate order may be canceled by its own message, and only for want of a price. */
  private expectRest(sequence: number, reason: number): void {
    const isExpected = reason === END.not_filled || reason === END.none;
    if (isExpected && this.workload.ioc[sequence] === 1) return;
    throw new Error(`message ${sequence}: its rest was canceled for reason ${reason}`);
  }

  /** The harness's id of an order: the engine's is the log position of its message. */
  private orderOf(id: number): number {
    return this.workload.order[id - this.base - 1]!;
  }

  private *opening(): Generator<Command> {
    const { accounts } = this;
    const devCreditMicros = Math.floor(ALL_MONEY_MICROS / accounts);
    yield genesis(START_MS, { ...CONFIG, devCreditMicros });
    const slot = START_MS / 200;
    yield { kind: "UpdateIndex", stampMs: START_MS, market: 0, indexTicks: INDEX_TICKS, slot };
    for (let account = 1; account <= accounts; account++) {
      yield openSession({ stampMs: START_MS, address: addressOf(account), key: KEY });
    }
  }

  /** Orders are spread over the accounts by their id: even numbers buy, odd ones sell. */
  private translate(): Command[] {
    const { workload, accounts, base } = this;
    const firstSession = base - accounts + 1;
    const nonces = new Uint32Array(accounts);
    const placedAt = new Uint32Array(this.price.length);
    const commands: Command[] = [];
    for (let i = 0; i < workload.length; i++) {
      const order = workload.order[i]!;
      const isBuy = workload.side[i] === BUY;
      const account = 2 * (order % (accounts / 2)) + (isBuy ? 0 : 1);
      const session = firstSession + account;
      const type = workload.type[i]!;
      if (type === NEW) placedAt[order] = base + 1 + i;
      // No order has the id 1: an unknown one is named by it.
      const orderId = placedAt[order]! || 1;
      if (type === CANCEL) {
        commands.push({ kind: "CancelOrder", stampMs: START_MS, session, orderId });
        continue;
      }
      const nonce = ++nonces[account]!;
      const priceTicks = workload.price[i]!;
      const sizeLots = workload.lots[i]!;
      const shared = { stampMs: START_MS, session, key: KEY, nonce, market: 0, priceTicks };
      if (type === MODIFY) {
        const kept = { clientOrderId: "", limitTicks: 0, expiresAtMs: -1, validUntilMs: 0 };
        commands.push({ kind: "AmendOrder", ...shared, orderId, sizeLots, ...kept });
        continue;
      }
      const timeInForce: TimeInForceCode =
        workload.ioc[i] === 1 ? IMMEDIATE_OR_CANCEL : GOOD_TILL_CANCELED;
      const terms = { side: isBuy ? LONG : SHORT, type: LIMIT_ORDER, marginMicros: 0 } as const;
      const extras = { ...PLAIN_EXTRAS, sizeLots, timeInForce };
      commands.push(plainOrder({ ...shared, ...terms, extras }));
    }
    return commands;
  }
}
