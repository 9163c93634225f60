/**
 * Exits: "So an exit is never blocked by a resting exit." A reduction is never refused for cohort,
 * staleness, caps or funds; only a held-back index stops it.
 */
import { describe, expect, test } from "vitest";
import type { Trader } from "../scenarios/trader.js";
import { Venue } from "../scenarios/venue.js";

const DAY_MS = 86_400_000;

interface Scene {
  readonly venue: Venue;
  readonly rich: Trader;
  readonly holder: Trader;
}

/** A long with everything in it: at most a dollar is left in the wallet. */
function allIn(): Scene {
  const venue = new Venue();
  const rich = venue.trader("rich", 1_000_000);
  rich.sells("limit", { margin: 50_000, price: 50_000 });
  rich.buys("limit", { margin: 50_000, price: 49_900 });
  const holder = venue.trader("holder", 1_000);
  expect(holder.buys("market", { margin: 995, leverage: 10 }).status).toBe("filled");
  expect(holder.wallet).toBeLessThan(1);
  return { venue, rich, holder };
}

/** What could stand in the way. */
const OBSTACLES: Readonly<Record<string, (scene: Scene) => void>> = {
  nothing: () => {},
  "a resting exit of the whole position": ({ holder }) => {
    expect(holder.sells("limit", { margin: 995, price: 50_500 }).status).toBe("resting");
  },
  "a resting reduce-only exit": ({ holder }) => {
    const terms = { margin: 5_000, price: 50_500, reduceOnly: true };
    expect(holder.sells("limit", terms).status).toBe("resting");
  },
  "a pending stop-loss": ({ holder }) => {
    const terms = { margin: 5_000, price: 49_000, reduceOnly: true };
    expect(holder.sells("stop", terms).status).toBe("pending");
  },
  "a closed cohort": ({ venue }) => {
    venue.cohort("closed");
  },
  "an index of a minute ago": ({ venue }) => {
    venue.waits(60);
  },
  "a session with a maxNotional of a dollar": ({ venue, holder }) => {
    holder.signsIn({ maxNotionalMicros: 1_000_000, expiresAtMs: venue.now + DAY_MS });
  },
  "a resume before any index": ({ venue }) => {
    venue.resumes(venue.now + 1_000);
  },
  "a session with a maxOrderNotional of a dollar": ({ venue, holder }) => {
    holder.signsIn({ maxOrderNotionalMicros: 1_000_000, expiresAtMs: venue.now + DAY_MS });
  },
};

describe("an account with an empty wallet closes at market", () => {
  for (const [obstacle, prepare] of Object.entries(OBSTACLES)) {
    test(`reduce-only, despite ${obstacle}`, () => {
      const scene = allIn();
      prepare(scene);
      const answer = scene.holder.sells("market", { margin: 1_000_000, reduceOnly: true });
      expect([answer.status, answer.reason]).toEqual(["filled", "none"]);
      expect(scene.holder.position().size).toBe(0);
      expect(scene.holder.openOrders()).toBe(0);
    });

    test(`sized to most of the position, despite ${obstacle}`, () => {
      const scene = allIn();
      prepare(scene);
      const before = scene.holder.position().size;
      const answer = scene.holder.sells("market", { margin: 900 });
      expect(answer.status).toBe("filled");
      expect(scene.holder.position().size).toBeCloseTo(before - 9_000 / 49_900, 3);
    });
  }

  test("all obstacles together", () => {
    const scene = allIn();
    for (const prepare of Object.values(OBSTACLES)) prepare(scene);
    const answer = scene.holder.sells("market", { margin: 1_000_000, reduceOnly: true });
    expect([answer.status, answer.reason]).toEqual(["filled", "none"]);
    expect(scene.holder.position().size).toBe(0);
  });

  test("a held-back index alone stops it, and cancels still work", () => {
    const { venue, holder } = allIn();
    const { orderId } = holder.sells("limit", { margin: 995, price: 50_500 });
    venue.index(30_000);
    const answer = holder.sells("market", { margin: 1_000_000, reduceOnly: true });
    expect([answer.status, answer.reason]).toEqual(["refused", "index_held"]);
    expect(holder.cancels(orderId)).toBeNull();
    // Back in range: the hold ends.
    venue.index(50_000);
    expect(holder.sells("market", { margin: 1_000_000, reduceOnly: true }).status).toBe("filled");
  });
});

describe("what opens is judged when it opens", () => {
  test("400 exits of one position do not add up to a short beyond the session's cap", () => {
    const venue = new Venue();
    const rich = venue.trader("rich", 1_000_000);
    rich.sells("limit", { margin: 5_000, price: 50_000 });
    const holder = venue.trader("holder", 100_000);
    holder.signsIn({ maxNotionalMicros: 1_000_000_000 });
    holder.buys("market", { margin: 99, leverage: 1 });
    for (let i = 0; i < 400; i++) holder.sells("limit", { margin: 99, leverage: 1, price: 50_100 });
    rich.buys("market", { margin: 10_000, leverage: 5 });
    expect(holder.position().size * 50_000).toBeGreaterThan(-1_000);
  });

  test("a market sell sized to close fills lower bids without opening outside the cohort", () => {
    const venue = new Venue();
    const rich = venue.trader("rich", 1_000_000);
    rich.sells("limit", { margin: 5_000, price: 50_000 });
    const holder = venue.trader("holder", 100_000);
    holder.buys("market", { margin: 1_000, leverage: 1 });
    rich.buys("limit", { margin: 5_000, price: 48_000 });
    venue.cohort("allowlist", [rich.address]);
    holder.sells("market", { margin: 1_000, leverage: 1 });
    expect(holder.position().size).toBe(0);
  });

  test("a tiny opposite position does not let an order spend more than the wallet funds", () => {
    const venue = new Venue();
    const rich = venue.trader("rich", 10_000_000);
    rich.sells("limit", { margin: 500_000, price: 50_000 });
    rich.buys("limit", { margin: 500_000, price: 49_990 });
    const holder = venue.trader("holder", 1_000);
    holder.buys("market", { margin: 2, leverage: 1 });
    const refused = holder.sells("limit", { margin: 2_000, leverage: 1, price: 50_500 });
    expect([refused.status, refused.reason]).toEqual(["refused", "insufficient_margin"]);
    const answer = holder.sells("market", { margin: 2_000, leverage: 1 });
    expect([answer.status, answer.reason]).toEqual(["canceled", "unfunded"]);
    expect(holder.wallet).toBeGreaterThanOrEqual(0);
    expect(-holder.position().size * 50_000).toBeLessThanOrEqual(1_001);
  });
});
