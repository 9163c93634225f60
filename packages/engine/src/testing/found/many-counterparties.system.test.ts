/** One liquidation that would be deleveraged against more accounts than a tick may meet. */
import { expect, test } from "vitest";
import { audit } from "../../audit.js";
import { LIMIT_ORDER, LONG, SHORT, type Side } from "../../commands.js";
import type { VenueEvent } from "../../events/event-table.js";
import { addressOf, genesis, openSession, plainOrder } from "../commands.js";
import { comparedEngine } from "../compared.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";

const SMALL = 2_300;

test("deleveraging: a tick meets 2,000 accounts, less two for each turn; the position stays due for the next one", () => {
  const { engine, apply } = comparedEngine();
  const order = (session: number, side: Side, marginMicros: number): void => {
    const terms = { type: LIMIT_ORDER, leverage: 50, priceTicks: 500_000 } as const;
    apply(plainOrder({ stampMs: START_MS, session, nonce: 1, side, marginMicros, ...terms }));
  };
  const config = venueConfig([BTC], {
    attestorKind: "dev",
    devCreditMicros: 50_000 * MICROS,
    backstopCapMicros: 0,
  });
  apply(genesis(START_MS, config));
  const slot = START_MS / 200;
  apply({ kind: "UpdateIndex", stampMs: START_MS, market: 0, indexTicks: 500_000, slot });
  const sessions = Array.from({ length: SMALL + 1 }, (_, i) => {
    apply(openSession({ stampMs: START_MS, address: addressOf(i + 1) }));
    return engine.seq;
  });
  const [large, ...small] = sessions;
  order(large!, LONG, SMALL * MICROS);
  for (const session of small) order(session, SHORT, MICROS);
  const later = { indexTicks: 494_000, slot: slot + 1 };
  apply({ kind: "UpdateIndex", stampMs: START_MS, market: 0, ...later });

  const deleveraged = (): number => {
    const slot = engine.state.lastTickMs / 200 + 1;
    return apply({ kind: "Tick", slot }).filter((event) => event.kind === "Traded").length;
  };
  // One gives a part with each tick.
  const met = 2_000 - 2 * 2;
  expect([deleveraged(), deleveraged(), deleveraged()]).toEqual([met, SMALL - met + 1, 0]);
  expect(audit(engine)).toEqual([]);
});

test("deleveraging: 2,300 accounts that all would be bankrupted are served after the others, over several ticks", () => {
  const { engine, apply } = comparedEngine();
  const order = (session: number, nonce: number, side: Side, terms: OrderTerms): void => {
    apply(plainOrder({ stampMs: START_MS, session, nonce, side, type: LIMIT_ORDER, ...terms }));
  };
  const index = (indexTicks: number, slot: number): void => {
    apply({ kind: "UpdateIndex", stampMs: START_MS, market: 0, indexTicks, slot });
  };
  const config = venueConfig([BTC], {
    attestorKind: "dev",
    devCreditMicros: 50_000 * MICROS,
    backstopCapMicros: 0,
  });
  apply(genesis(START_MS, config));
  const slot = START_MS / 200;
  index(500_000, slot);
  const [loser, winner, ...small] = Array.from({ length: SMALL + 2 }, (_, i) => {
    apply(openSession({ stampMs: START_MS, address: addressOf(i + 1) }));
    return engine.seq;
  });
  order(loser!, 1, LONG, { leverage: 50, priceTicks: 500_000, marginMicros: 900 * MICROS });
  order(winner!, 1, SHORT, { leverage: 1, priceTicks: 500_000, marginMicros: 45_000 * MICROS });
  index(470_000, slot + 1);
  // The winner passes its position on to accounts that the loser's bankruptcy price would bankrupt.
  order(winner!, 2, LONG, { leverage: 1, priceTicks: 470_000, marginMicros: 42_000 * MICROS });
  const tiny = { leverage: 50, priceTicks: 470_000, marginMicros: 0.4 * MICROS };
  for (const session of small) order(session, 1, SHORT, tiny);

  const { positions } = engine.state.markets[0]!;
  const losers = positions.rowOf(1);
  const ticks: VenueEvent[][] = [];
  while (positions.lots(losers) !== 0 && ticks.length < 5) {
    ticks.push(apply({ kind: "Tick", slot: engine.state.lastTickMs / 200 + 1 }));
  }
  expect(positions.lots(losers)).toBe(0);
  for (const events of ticks) {
    const traded = events.filter((event) => event.kind === "Traded").length;
    expect([traded > 0, traded <= 2_000]).toEqual([true, true]);
  }
  expect(ticks[0]?.some((event) => event.kind === "LossSocialised")).toBe(true);
  expect(audit(engine)).toEqual([]);
});

interface OrderTerms {
  readonly leverage: number;
  readonly priceTicks: number;
  readonly marginMicros: number;
}
