/** Log positions, the venue's clock, and blocks. */
import { describe, expect, test } from "vitest";
import { Engine } from "../../engine.js";
import { genesis } from "../commands.js";
import { BTC, venueConfig } from "./listing.js";
import { START_MS, Venue } from "./venue.js";

describe("blocks", () => {
  test("sealed by a tick only with work; numbers and positions without gap", () => {
    const venue = new Venue();
    venue.tick();
    expect(venue.events).toMatchObject([
      { kind: "BlockSealed", number: 1, firstPosition: 1, lastPosition: 4, ackCount: 0 },
    ]);
    venue.tick();
    venue.tick();
    expect(venue.events).toEqual([]);
    const alice = venue.trader("alice", 1_000);
    alice.buys("limit", { margin: 10, price: 49_000 });
    venue.tick();
    expect(venue.events).toMatchObject([
      { kind: "BlockSealed", number: 2, firstPosition: 5, lastPosition: 11, ackCount: 1 },
    ]);
  });

  test("the block an acknowledgement expects is the one that is sealed over it", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_000);
    for (let i = 0; i < 5; i++) {
      const { block, orderId } = alice.buys("limit", { margin: 10, price: 49_000 });
      if (i % 2 === 0) alice.buys("limit", { margin: 10, price: 49_000 });
      venue.tick();
      const sealed = venue.happened("BlockSealed")[0]!;
      expect(sealed.number).toBe(block);
      expect(sealed.firstPosition).toBeLessThanOrEqual(orderId);
      expect(sealed.ackCount).toBe(i % 2 === 0 ? 2 : 1);
      venue.tick();
      expect(venue.happened("BlockSealed")).toEqual([]);
    }
  });

  test("refused and replayed commands are no work", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_000);
    alice.buys("limit", { margin: 10, price: 49_000, nonce: 1 });
    venue.tick();
    expect(alice.buys("limit", { margin: 10, price: 49_000, nonce: 1 }).status).toBe("replayed");
    expect(alice.buys("limit", { margin: 1e6, price: 49_000, nonce: 2 }).status).toBe("refused");
    expect(alice.cancels(12_345)).toBe("order_not_cancelable");
    venue.tick();
    expect(venue.happened("BlockSealed")).toEqual([]);
  });
});

describe("the venue's clock", () => {
  test("ticks that are old or more than a second ahead are ignored", () => {
    const venue = new Venue();
    const slot = START_MS / 200;
    for (const wrong of [slot, slot - 1, slot + 6, 0, Number.NaN]) {
      venue.apply({ kind: "Tick", slot: wrong });
      expect([venue.events, venue.now]).toEqual([[], START_MS]);
    }
    venue.apply({ kind: "Tick", slot: slot + 5 });
    expect(venue.now).toBe(START_MS + 1_000);
  });

  test("a stamp moves time up to a second past the last tick, never back; refused ones too", () => {
    const venue = new Venue();
    const stamped = (stampMs: number): number => {
      venue.apply({ kind: "CloseSession", stampMs, session: 999 });
      expect(venue.refusal).toBe("session_unknown");
      return venue.now - START_MS;
    };
    expect(stamped(START_MS + 300)).toBe(300);
    expect(stamped(START_MS - 5_000)).toBe(300);
    expect(stamped(START_MS + 99_999)).toBe(1_000);
    venue.tick();
    expect(venue.now - START_MS).toBe(1_000);
    expect(stamped(START_MS + 99_999)).toBe(1_200);
  });

  test("only a jump that the writer asks for moves it further", () => {
    const venue = new Venue();
    venue.resumes(START_MS + 86_400_123);
    expect(venue.now).toBe(START_MS + 86_400_123);
    venue.resumes(START_MS);
    expect(venue.now).toBe(START_MS + 86_400_123);
    venue.tick();
    expect(venue.now).toBe(START_MS + 86_400_200);
  });
});

describe("genesis", () => {
  test("before it everything is refused, after it a second one is", () => {
    const engine = new Engine();
    const refused = (refusal: number) => [
      { kind: "CommandRefused", refusal, detail1: 0, detail2: 0 },
    ];
    expect(engine.apply({ kind: "Tick", slot: 1 }).decode()).toEqual(refused(1));
    const config = venueConfig([BTC]);
    expect(engine.apply(genesis(START_MS, { ...config, markets: [] })).decode()).toEqual(
      refused(3),
    );
    expect(engine.apply(genesis(START_MS, config)).decode()).toEqual([
      { kind: "VenueStarted", timeMs: START_MS, fundMicros: 1e12 },
    ]);
    expect(engine.apply(genesis(START_MS, config)).decode()).toEqual(refused(2));
    expect(engine.seq).toBe(4);
  });

  test("Configure: seed, attestor kind, symbols and units never change, markets are only added", () => {
    const venue = new Venue();
    const [market] = venue.config.markets;
    const configure = (changes: object): string | null =>
      venue.operates({ kind: "Configure", config: { ...venue.config, ...changes } });
    const wrong = [
      { fundSeedMicros: 1 },
      { attestorKind: "dev" },
      { markets: [] },
      { markets: [{ ...market, symbol: "XBTUSD" }] },
      { markets: [{ ...market, microsPerTickLot: 2 }] },
      { markets: [market, market] },
      { attestorQuorum: 2 },
    ];
    for (const changes of wrong) expect(configure(changes)).toBe("configuration_invalid");
    expect(configure({ maxOpenOrders: 1 })).toBeNull();
    const added = { ...market, symbol: "ETHUSD" };
    expect(configure({ maxOpenOrders: 1, markets: [market, added] })).toBeNull();
    expect(venue.engine.state.markets.length).toBe(2);
    expect(configure({ markets: [market] })).toBe("configuration_invalid");
  });

  test("Configure: higher fees recompute the reserves, and orders that the wallet cannot fund are canceled", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 2_000);
    alice.buys("limit", { margin: 980, price: 49_000 });
    const newer = alice.buys("limit", { margin: 980, price: 49_000 });
    // Two orders of 0.2 coins: 2 × (980 + 1.96).
    expect(alice.reserved()).toBe(1_963.92);
    const market = { ...venue.config.markets[0]!, makerFeePpm: 3_000 };
    const config = { ...venue.config, markets: [market] };
    venue.operates({ kind: "Configure", config });
    // 2 × (980 + 29.40) would be 2,018.80.
    expect(venue.happened("OrderEnded")).toMatchObject([{ orderId: newer.orderId, reason: 2 }]);
    expect(alice.reserved()).toBe(1_009.4);
  });
});
