/**
 * Found by placing stops while others wait: for every tick that reached a stop the state kept an entry until
 * no stop of the market was waiting, and every tick copied all of them. One stop that was never served, or a
 * backlog that took minutes, made them grow by up to four a tick and market: 60 ms a tick at 15,000.
 */
import { expect, test } from "vitest";
import { RULE_SETS } from "../../versions.js";
import { LightVenue } from "../rules/light-venue.js";
import { BTC, MICROS } from "../scenarios/listing.js";

const TICKS = 4_000;
const LOT = 0.00001;

/** A tick serves one stop, so that a backlog of a few is one of many ticks. */
function slowVenue(): LightVenue {
  return new LightVenue({
    markets: [BTC],
    config: { attestorKind: "dev", devCreditMicros: 1_000_000 * MICROS },
    ruleSets: RULE_SETS.map((rules) => ({ ...rules, stopsPerTickAndMarket: 1 })),
  });
}

test("a stop that waits for 4,000 ticks, while others are reached and served, keeps one entry", () => {
  const venue = slowVenue();
  venue.trader("seller").sells("limit", { size: 1, price: 50_000 });
  const closing = venue.trader("closing");
  closing.buys("market", { size: 1, leverage: 1 });
  const opens = {
    size: LOT,
    leverage: 1,
    price: 49_995,
    limit: 49_950,
    timeInForce: "ioc",
  } as const;
  const waiting = venue.trader("waiting").sells("stop", opens).orderId;
  for (let tick = 0; tick < TICKS; tick++) {
    // Those that close are served first. The mark reaches one of them with each tick.
    const isFalling = tick % 2 === 0;
    closing.sells("stop", { ...opens, takeProfit: !isFalling, reduceOnly: true });
    venue.index(isFalling ? 49_990 : 50_000);
    venue.tick();
    expect(venue.happened("StopTriggered")).toHaveLength(1);
    expect(venue.engine.state.reaches.size).toBe(1);
  }
  venue.restarts();
  venue.tick();
  expect(venue.happened("StopTriggered").map(({ orderId }) => orderId)).toEqual([waiting]);
  expect(venue.engine.state.reaches.size).toBe(0);
});
