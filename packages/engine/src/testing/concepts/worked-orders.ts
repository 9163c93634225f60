/** The worked examples of docs/orders.md, run through the engine like those of docs/concepts.md. */
import type { VenueEvent } from "../../events/event-table.js";
import type { Answer, Terms } from "../scenarios/trader.js";
import {
  bobBuys,
  bobSells,
  dollars,
  figure,
  type Scene,
  scene,
  type Table,
} from "./worked-examples.js";

const HOUR_MS = 3_600_000;
const HEADINGS = ["order", "status", "filled", "remaining", "average price"];

/** Bob offers 0.1 at $50,000 and 0.1 at $50,100. */
function books(aliceHas = 100_000): Scene {
  const at = scene(aliceHas);
  bobSells(at.bob, 0.1, 50_000);
  bobSells(at.bob, 0.1, 50_100);
  return at;
}

function row(what: string, { status, filled, remaining, spent, reason }: Answer): string[] {
  const price = filled === 0 ? "" : dollars(spent / filled);
  const why = reason === "none" ? "" : `, \`${reason}\``;
  return [what, `${status}${why}`, figure(filled), figure(remaining), price];
}

export function sizes(): Table {
  const buys = (type: "market" | "limit", terms: Terms) => books().alice.buys(type, terms);
  return [
    HEADINGS,
    row("market, `size` 0.15", buys("market", { size: 0.15 })),
    row("market, `size` 0.5", buys("market", { size: 0.5 })),
    row("market, `size` 0.15, `margin` 500 × 10", buys("market", { size: 0.15, margin: 500 })),
    row("limit, `size` 0.15 at $50,000", buys("limit", { size: 0.15, price: 50_000 })),
    row(
      "limit, `size` 0.15 at $50,000, `margin` 500 × 10",
      buys("limit", { size: 0.15, margin: 500, price: 50_000 }),
    ),
  ];
}

export function lives(): Table {
  const buys = (type: "market" | "limit", terms: Terms) => books().alice.buys(type, terms);
  const expiring = books();
  const placed = expiring.alice.buys("limit", {
    size: 0.1,
    price: 49_000,
    expiresAt: expiring.venue.now + HOUR_MS,
  });
  const { venue } = expiring;
  venue.skipsTo(venue.now + HOUR_MS);
  const ended = venue.tick().find((event) => event.kind === "OrderEnded");
  const why = ended === undefined ? "" : venue.reasonOf(ended.reason);
  return [
    HEADINGS,
    row(
      "limit, 0.15 at $50,000, `ioc`",
      buys("limit", { size: 0.15, price: 50_000, timeInForce: "ioc" }),
    ),
    row(
      "limit, 0.15 at $49,900, `ioc`",
      buys("limit", { size: 0.15, price: 49_900, timeInForce: "ioc" }),
    ),
    row(
      "limit, 0.15 at $50,000, `fok`",
      buys("limit", { size: 0.15, price: 50_000, timeInForce: "fok" }),
    ),
    row(
      "limit, 0.15 at $50,100, `fok`",
      buys("limit", { size: 0.15, price: 50_100, timeInForce: "fok" }),
    ),
    row("market, 0.5, `fok`", buys("market", { size: 0.5, timeInForce: "fok" })),
    row("limit, 0.1 at $49,000, `expiresAt` in an hour", placed),
    ["the tick after that hour", `canceled, \`${why}\``, "0", "0.1", ""],
  ];
}

/** Alice is long 0.1 from $50,000 with a bracket; Bob bids. The mark follows the index. */
export function stops(): Table {
  const { venue, alice, bob } = scene(100_000);
  const rows: string[][] = [];
  const add = (what: string, events: readonly VenueEvent[] = []): void => {
    const ended = events
      .filter((event) => event.kind === "OrderEnded")
      .filter(({ account }) => account === alice.account)
      .map(({ orderId, reason }) => `${names.get(orderId)} ${REASONS[venue.reasonOf(reason)]}`);
    rows.push([what, figure(alice.position().size), ended.join("; ")]);
  };
  const names = new Map<number, string>();
  bobSells(bob, 0.1, 50_000);
  alice.buys("market", { size: 0.1 });
  const exit = { leverage: 1, margin: 0, closePosition: true };
  names.set(
    alice.sells("stop", { ...exit, price: 52_000, takeProfit: true }).orderId,
    "take-profit",
  );
  names.set(alice.sells("stop", { ...exit, price: 48_000 }).orderId, "stop-loss");
  add("long 0.1 from $50,000, take-profit at $52,000, stop-loss at $48,000");
  bobBuys(bob, 0.06, 51_900);
  venue.index(52_000);
  add("mark $52,000, Bob bids for 0.06: the rest is tried again", venue.waits(1));
  bobBuys(bob, 0.04, 51_900);
  add("Bob bids for 0.04 more", venue.waits(1));
  return [["what happens", "Alice's position", "what ends"], ...rows];
}

const REASONS: Readonly<Record<string, string>> = {
  none: "is filled",
  position_closed: "ends, `position_closed`",
};

export function amendments(): Table {
  const { alice, bob, venue } = scene(100_000);
  const rows: string[][] = [];
  const add = (what: string, answer: Answer): void => {
    const [, status = "", filled = "", remaining = ""] = row(what, answer);
    const best = venue.best().bid;
    rows.push([what, status, filled, remaining, best === null ? "" : dollars(best[0])]);
  };
  const first = alice.buys("limit", { size: 0.1, price: 49_900 });
  add("Alice bids 0.1 at $49,900", first);
  add("`size` 0.06: keeps its place", alice.amends(first.orderId, { size: 0.06 }));
  add("`price` $49,950: queued again, last", alice.amends(first.orderId, { price: 49_950 }));
  bobSells(bob, 0.02, 50_000);
  add(
    "`price` $50,000, where Bob offers 0.02: takes it",
    alice.amends(first.orderId, { price: 50_000 }),
  );
  add(
    "`size` 0.02, all of it filled: the rest is canceled",
    alice.amends(first.orderId, { size: 0.02 }),
  );
  const stop = alice.buys("stop", { size: 0.1, price: 51_000, limit: 51_100 });
  add("Alice's stop to buy 0.1 above $51,000, at most at $51,100", stop);
  const moved = alice.amends(stop.orderId, { price: 50_500, limit: 50_600 });
  add("`price` $50,500, `limitPrice` $50,600", moved);
  venue.index(50_500);
  venue.tick();
  add(
    "mark $50,500, nobody offers: it rests; `limitPrice` $50,550",
    alice.amends(stop.orderId, { limit: 50_550 }),
  );
  return [["what", "status", "filled by it", "remaining", "best bid"], ...rows];
}
