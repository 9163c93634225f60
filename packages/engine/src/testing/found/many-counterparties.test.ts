/** One liquidation that would be deleveraged against more accounts than a tick may meet. */
import { expect, test } from "vitest";
import { audit } from "../../audit.js";
import { type Command, LIMIT_ORDER, LONG, SHORT, type Side } from "../../commands.js";
import { Engine } from "../../engine.js";
import type { VenueEvent } from "../../events/event-table.js";
import { addressOf, genesis, openSession, plainOrder } from "../commands.js";
import { ReferenceVenue } from "../reference/venue.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";

const SMALL = 2_300;

test("deleveraging: a tick meets 2,000 accounts; the position stays due for the next one", () => {
  const engine = new Engine();
  const reference = new ReferenceVenue(1_000_000);
  const apply = (command: Command): VenueEvent[] => {
    const events = engine.apply(command).decode();
    expect(events).toEqual(reference.apply(command));
    return events;
  };
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
  expect([deleveraged(), deleveraged(), deleveraged()]).toEqual([2_000, SMALL - 2_000, 0]);
  expect(audit(engine)).toEqual([]);
});
