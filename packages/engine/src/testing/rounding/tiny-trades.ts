/** A venue for very many very small orders: no objects per event, only counting. */
import type { Command, OrderTypeCode, Side } from "../../commands.js";
import { Engine } from "../../engine.js";
import type { EventLog } from "../../events/event-log.js";
import { EVENT, EVENT_FIELDS, EVENT_KINDS } from "../../events/event-table.js";
import { fundingOwed } from "../../money/owed-funding.js";
import { NONE } from "../../state/orders.js";
import { addressOf, genesis, openSession, plainOrder } from "../commands.js";
import { indexSlot } from "../index-slot.js";
import { type Listing, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";
import { SoleWriter } from "../sole-writer.js";

const FIELD_COUNTS = EVENT_KINDS.map((kind) => EVENT_FIELDS[kind].length);
const HOUR_MS = 3_600_000;

export class TinyTrades {
  readonly engine = new Engine();
  fills = 0;
  private readonly sessions: number[] = [];
  private nonce = 0;
  private readonly writer = new SoleWriter();

  constructor(
    listing: Listing,
    private readonly members: number,
    depositMicros: number,
    private indexTicks: number,
  ) {
    const config = venueConfig([listing], {
      attestorKind: "dev",
      devCreditMicros: depositMicros,
      maxOpenOrders: 20,
    });
    this.apply(genesis(START_MS, config));
    this.apply(this.writer.joins(START_MS));
    this.freshIndex();
    for (let member = 0; member < members; member++) {
      const expiresAtMs = START_MS + 100_000 * HOUR_MS;
      this.apply(openSession({ stampMs: START_MS, address: addressOf(member + 1), expiresAtMs }));
      this.sessions.push(this.engine.seq);
    }
  }

  place(
    member: number,
    side: Side,
    type: OrderTypeCode,
    priceTicks: number,
    lots: number,
    leverage: number,
  ): void {
    const marginMicros = Math.ceil((lots * priceTicks) / leverage);
    const terms = { side, type, marginMicros, leverage, priceTicks };
    const session = this.sessions[member]!;
    const log = this.apply(
      plainOrder({ stampMs: START_MS, session, nonce: this.nonce++, ...terms }),
    );
    this.fills += countOf(log, EVENT.Traded);
  }

  cancels(member: number): void {
    const session = this.sessions[member]!;
    this.apply({ kind: "CancelAll", stampMs: START_MS, session, market: -1 });
  }

  /** A new index, and the tick that looks at it. */
  tick(indexTicks: number): void {
    this.indexTicks = Math.max(1, Math.round(indexTicks));
    this.freshIndex();
    this.apply({ kind: "Tick", slot: this.engine.state.lastTickMs / 200 + 1 });
  }

  /** To the next funding hour. */
  hour(): void {
    const { timeMs } = this.engine.state;
    const stampMs = (Math.floor(timeMs / HOUR_MS) + 1) * HOUR_MS - 200;
    this.apply({ kind: "AskTime", stampMs });
    this.tick(this.indexTicks);
  }

  /** Wallets, margins, reserves and positions (at the index) of all traders, from their rows. */
  owned(): number {
    const market = this.engine.state.markets[0]!;
    const { positions } = market;
    let sum = 0;
    for (let account = 1; account <= this.members; account++) {
      sum += this.engine.state.wallet(account);
      const row = market.positions.rowOf(account);
      if (row === NONE) continue;
      sum += positions.margin(row) + positions.reserved(row);
      sum += positions.lots(row) * this.indexTicks - positions.cost(row);
      sum -= fundingOwed(market, row);
    }
    return sum;
  }

  private freshIndex(): void {
    const { timeMs } = this.engine.state;
    const { indexTicks } = this;
    const slot = indexSlot(this.engine.state, 0);
    this.apply({ kind: "UpdateIndex", stampMs: timeMs, market: 0, indexTicks, slot });
  }

  private apply(command: Command): EventLog {
    this.writer.sends(this.engine, command);
    return this.engine.apply(command);
  }
}

function countOf(log: EventLog, kind: number): number {
  let count = 0;
  for (let at = 0; at < log.length; ) {
    const code = log.words[at]!;
    if (code === kind) count++;
    at += 1 + FIELD_COUNTS[code]!;
  }
  return count;
}
