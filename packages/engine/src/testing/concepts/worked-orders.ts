/** The worked examples of docs/orders.md, run through the engine like those of docs/concepts.md. */
import type { Answer, Terms } from "../scenarios/trader.js";
import { bobSells, dollars, figure, type Scene, scene, type Table } from "./worked-examples.js";

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
