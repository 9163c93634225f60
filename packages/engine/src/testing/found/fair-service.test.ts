/**
 * Queue jumping: many small accounts must not delay the liquidation or the stop-loss that matters. Engines are driven
 * directly, because an audit after each of 20,000 commands would take minutes.
 */
import { expect, test } from "vitest";
import { audit } from "../../audit.js";
import {
  type Command,
  LIMIT_ORDER,
  LONG,
  type OrderType,
  SHORT,
  type Side,
  STOP_ORDER,
} from "../../commands.js";
import { Engine } from "../../engine.js";
import type { VenueEvent } from "../../events/event-table.js";
import { ENGINE_VERSION } from "../../versions.js";
import { indexSlot } from "../index-slot.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";

/** Account n has session n + 2: Genesis and one index precede them. */
class Crowd {
  readonly engine = new Engine();
  private accounts = 0;
  private readonly nonces = new Map<number, number>();

  constructor() {
    const config = venueConfig([BTC], {
      attestorKind: "dev",
      devCreditMicros: 200_000 * MICROS,
    });
    this.apply({
      kind: "Genesis",
      stampMs: START_MS,
      config,
      cohort: "open",
      engineVersion: ENGINE_VERSION,
    });
    this.index(50_000);
  }

  apply(command: Command): VenueEvent[] {
    return this.engine.apply(command).decode();
  }

  index(dollars: number): void {
    const stampMs = this.engine.state.timeMs;
    const indexTicks = dollars * BTC.ticksPerDollar;
    const slot = indexSlot(this.engine.state, 0);
    this.apply({ kind: "UpdateIndex", stampMs, market: 0, indexTicks, slot });
  }

  tick(): VenueEvent[] {
    return this.apply({ kind: "Tick", slot: this.engine.state.lastTickMs / 200 + 1 });
  }

  joins(): number {
    const hex = (++this.accounts).toString(16);
    this.apply({
      kind: "OpenSession",
      stampMs: START_MS,
      address: hex.padStart(40, "0"),
      key: "key",
      tokenHash: hex,
      expiresAtMs: START_MS + 86_400_000,
      siweNonce: hex,
      siweNonceUntilMs: START_MS + 600_000,
      maxOrderNotionalMicros: 0,
      maxNotionalMicros: 0,
      markets: [],
    });
    return this.engine.seq;
  }

  order(
    session: number,
    side: Side,
    dollars: number,
    leverage: number,
    margin: number,
    type: OrderType = LIMIT_ORDER,
  ): number {
    const nonce = (this.nonces.get(session) ?? 0) + 1;
    this.nonces.set(session, nonce);
    this.apply({
      kind: "PlaceOrder",
      stampMs: START_MS,
      session,
      key: "key",
      nonce,
      market: 0,
      side,
      type,
      marginMicros: Math.round(margin * MICROS),
      leverage,
      priceTicks: Math.round(dollars * BTC.ticksPerDollar),
      reduceOnly: false,
      postOnly: false,
    });
    return this.engine.seq;
  }

  account(session: number): number {
    return this.engine.state.sessions.get(session)!.account;
  }
}

test("liquidation: $900,000 behind 10,000 accounts of a cent each is served in the first tick", () => {
  const crowd = new Crowd();
  const seller = crowd.joins();
  crowd.order(seller, SHORT, 50_000, 10, 100_000);
  for (let i = 0; i < 10_000; i++) crowd.order(crowd.joins(), LONG, 50_000, 50, 0.02);
  const whale = crowd.joins();
  crowd.order(whale, LONG, 50_000, 50, 18_000);
  crowd.index(49_400);
  const served = crowd
    .tick()
    .flatMap((event) => (event.kind === "Liquidated" ? [event.account] : []));
  expect(served.length).toBe(256);
  expect(served[0]).toBe(crowd.account(whale));
  expect(audit(crowd.engine)).toEqual([]);
});

test("stops: one that closes, behind 20,000 larger ones that open, triggers in the first tick", () => {
  const crowd = new Crowd();
  const seller = crowd.joins();
  crowd.order(seller, SHORT, 50_000, 10, 10_000);
  crowd.order(seller, LONG, 49_000, 10, 10_000);
  const crowding = Array.from({ length: 100 }, () => crowd.joins());
  for (const session of crowding) {
    for (let i = 0; i < 200; i++) crowd.order(session, SHORT, 49_900, 1, 5_000, STOP_ORDER);
  }
  const holder = crowd.joins();
  crowd.order(holder, LONG, 50_000, 1, 1_000);
  // As many lots as it holds: a money-sized stop at the lower price would have more.
  const stop = crowd.order(holder, SHORT, 49_900, 1, 998, STOP_ORDER);
  crowd.index(49_900);
  const served = crowd
    .tick()
    .flatMap((event) => (event.kind === "StopTriggered" ? [event.orderId] : []));
  expect(served.length).toBe(256);
  expect(served[0]).toBe(stop);
  // One of each of the 101 accounts before a second one of anybody.
  const orders = new Set(served.slice(1, 101).map((id) => Math.floor((id - 105) / 200)));
  expect(orders.size).toBe(100);
  expect(audit(crowd.engine)).toEqual([]);
});
