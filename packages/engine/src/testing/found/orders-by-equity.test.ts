/** Accounts that send more orders than their equity allows, compared with the reference. */
import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { audit } from "../../audit.js";
import {
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type OrderTypeCode,
  SHORT,
  type Side,
  STOP_ORDER,
} from "../../commands.js";
import { REFUSAL } from "../../reasons.js";
import { addressOf, genesis, openSession, plainOrder } from "../commands.js";
import { comparedEngine } from "../compared.js";
import { indexSlot } from "../index-slot.js";
import { BTC, ETH, MICROS, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";

/** Ticks at the start. */
const PRICES = [500_000, 400_000] as const;

test("orders in two markets while equity rises and falls: the same are refused", () => {
  const random = new Random(3, "orders by equity");
  const { engine, apply } = comparedEngine();
  const credit = { attestorKind: "dev", devCreditMicros: 150 * MICROS } as const;
  apply(genesis(START_MS, venueConfig([BTC, ETH], credit)));
  const sessions = [1, 2, 3].map((number) => {
    apply(openSession({ stampMs: START_MS, address: addressOf(number) }));
    return engine.seq;
  });
  const { state } = engine;
  const moves = (): void => {
    for (const market of [0, 1] as const) {
      const indexTicks = Math.round(PRICES[market] * (1 + random.int(-15, 15) / 1_000));
      const slot = indexSlot(state, market);
      apply({ kind: "UpdateIndex", stampMs: state.timeMs, market, indexTicks, slot });
    }
    apply({ kind: "Tick", slot: state.lastTickMs / 200 + 1 });
  };
  moves();
  /** Numbers of orders that were allowed when one was refused. */
  const limits = new Set<number>();
  for (let i = 0; i < 1_000; i++) {
    if (i % 20 === 0) moves();
    const market = random.int(0, 1) as 0 | 1;
    const side = random.pick<Side>([LONG, SHORT]);
    const type = random.pick<OrderTypeCode>([LIMIT_ORDER, STOP_ORDER, STOP_ORDER, MARKET_ORDER]);
    const away = random.int(-30, 30) / 1_000;
    const priceTicks = type === MARKET_ORDER ? 0 : Math.round(PRICES[market] * (1 + away));
    const events = apply(
      plainOrder({
        stampMs: state.timeMs,
        session: random.pick(sessions),
        nonce: engine.seq,
        market,
        side,
        type,
        priceTicks,
        leverage: 20,
        marginMicros: random.int(1, 10) * MICROS,
      }),
    );
    for (const event of events) {
      if (event.kind === "CommandRefused" && event.refusal === REFUSAL.too_many_orders) {
        limits.add(event.detail1);
      }
    }
  }
  expect(limits.size).toBeGreaterThan(3);
  expect(audit(engine)).toEqual([]);
});
