/**
 * The worked examples of docs/concepts.md, run through the engine: one function a table of the page,
 * every figure read from the engine's state or events. Bitcoin is at $50,000; Alice trades, Bob
 * quotes.
 */
import { MaintenanceSchedule } from "@perpgate/protocol/maintenance";
import { BTC, MICROS, UNGUARDED } from "../scenarios/listing.js";
import type { Answer, Trader } from "../scenarios/trader.js";
import { START_MS, Venue } from "../scenarios/venue.js";

/** Headings, then rows, as the page shows them. */
export type Table = readonly (readonly string[])[];

const HOUR_MS = 3_600_000;

export function figure(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 6 });
}

export function dollars(value: number): string {
  return value < 0 ? `−$${figure(-value)}` : `$${figure(value)}`;
}

function percent(share: number): string {
  return `${figure(share * 100).replace("-", "−")} %`;
}

export interface Scene {
  readonly venue: Venue;
  readonly alice: Trader;
  readonly bob: Trader;
}

export function scene(aliceHas: number): Scene {
  const venue = new Venue({ markets: [UNGUARDED] });
  return { venue, alice: venue.trader("alice", aliceHas), bob: venue.trader("bob", 1_000_000) };
}

/** Bob offers or bids this many coins at a price. */
export function bobSells(bob: Trader, coins: number, price: number): Answer {
  return bob.sells("limit", { margin: coins * price, leverage: 1, price });
}

export function bobBuys(bob: Trader, coins: number, price: number): Answer {
  return bob.buys("limit", { margin: coins * price, leverage: 1, price });
}

export function preconfirm(): Table {
  const { venue, alice, bob } = scene(10_000);
  venue.tick();
  const rows: string[][] = [];
  const resting = bobSells(bob, 1, 50_000);
  const place = (what: string, { orderId, block, status }: Answer): void => {
    rows.push([what, figure(orderId), `${status}, \`expectedBlock\` ${figure(block)}`]);
  };
  place("Bob's limit order", resting);
  place("Alice's market order", alice.buys("market", { margin: 1_000 }));
  venue.tick();
  const sealed = venue.happened("BlockSealed")[0]!;
  rows.push([
    "the tick, at most 200 ms later",
    figure(venue.engine.seq),
    `seals block ${figure(sealed.number)}: positions ${figure(sealed.firstPosition)} to ${figure(sealed.lastPosition)}, ${figure(sealed.ackCount)} acknowledgements`,
  ]);
  const again = alice.buys("market", { margin: 1_000, nonce: 1 });
  rows.push([
    "Alice's order once more, same nonce",
    figure(venue.engine.seq),
    `${again.status}: the acknowledgement of position ${figure(again.orderId)}`,
  ]);
  return [["what arrives", "log position", "what comes of it"], ...rows];
}

export function size(): Table {
  const rows: string[][] = [];
  const add = (what: string, { status, filled, remaining, spent, reason }: Answer): void => {
    const price = filled === 0 ? "" : dollars(spent / filled);
    const why = reason === "none" ? "" : `, \`${reason}\``;
    rows.push([what, `${status}${why}`, figure(filled), figure(remaining), price]);
  };
  const books = (): Scene => {
    const at = scene(100_000);
    bobSells(at.bob, 0.1, 50_000);
    bobSells(at.bob, 0.1, 50_100);
    return at;
  };
  add(
    "limit, 1,000 × 10 at $50,000",
    books().alice.buys("limit", { margin: 1_000, price: 50_000 }),
  );
  add("market, 1,000 × 10", books().alice.buys("market", { margin: 1_000 }));
  add("market, 2,000 × 10", books().alice.buys("market", { margin: 2_000 }));
  const worst = { margin: 1_000, price: 50_000 };
  add("market, 1,000 × 10, `price` $50,000", books().alice.buys("market", worst));
  add("stop, 1,000 × 10 at $51,000", books().alice.buys("stop", { margin: 1_000, price: 51_000 }));
  add("limit, 0.01 × 10 at $50,000", books().alice.buys("limit", { margin: 0.01, price: 50_000 }));
  return [["order (margin × leverage)", "status", "filled", "remaining", "average price"], ...rows];
}

export function opening(): Table {
  const { venue, alice, bob } = scene(10_000);
  const rows: string[][] = [];
  const add = (what: string): void => {
    const { size: coins, cost, margin } = alice.position();
    const unrealised = coins * venue.mark() - cost;
    rows.push([
      what,
      dollars(alice.wallet),
      dollars(alice.reserved()),
      figure(coins),
      dollars(margin),
      dollars(unrealised),
      dollars(margin + unrealised),
    ]);
  };
  add("deposit of $10,000");
  alice.buys("limit", { margin: 1_000, price: 50_000 });
  add("limit order 1,000 × 10 at $50,000 rests");
  bobSells(bob, 0.2, 50_000);
  add("Bob sells into it; maker fee 0.02 %");
  venue.index(51_000);
  add("mark $51,000");
  bobBuys(bob, 0.1, 51_000);
  alice.sells("limit", { margin: 5_100, leverage: 1, price: 51_000, reduceOnly: true });
  add("sells 0.1 at $51,000; taker fee 0.05 %");
  return [
    ["Alice", "wallet", "reserved", "position", "margin", "unrealised", "equity of the position"],
    ...rows,
  ];
}

export function tiers(): Table {
  const schedule = new MaintenanceSchedule(BTC.config.tiers);
  const rows = [100_000, 1_000_000, 3_000_000, 10_000_000].map((notional) => {
    const needed = schedule.of(notional * MICROS) / MICROS;
    const { maxLeverage, maintenancePpm } = schedule.tierOf(notional * MICROS);
    return [
      dollars(notional),
      percent(maintenancePpm / 1e6),
      dollars(needed),
      percent(needed / notional),
      `${figure(maxLeverage)}×`,
    ];
  });
  return [
    ["notional at mark", "rate of its tier", "maintenance", "of the notional", "leverage at most"],
    ...rows,
  ];
}

/** The highest mark at which a long of one coin from $50,000 is liquidated. */
function longDueAt(leverage: number): number {
  const isDue = (ticks: number): boolean => {
    const { venue, alice, bob } = scene(100_000);
    bobSells(bob, 1, 50_000);
    alice.buys("limit", { margin: 50_000 / leverage, leverage, price: 50_000 });
    venue.index(ticks / BTC.ticksPerDollar);
    venue.tick();
    return alice.position().size === 0;
  };
  let due = 1;
  let safe = 50_000 * BTC.ticksPerDollar;
  while (safe - due > 1) {
    const middle = Math.floor((due + safe) / 2);
    if (isDue(middle)) due = middle;
    else safe = middle;
  }
  return due / BTC.ticksPerDollar;
}

export function liquidationPrices(): Table {
  const schedule = new MaintenanceSchedule(BTC.config.tiers);
  const rows = [2, 10, 50].map((leverage) => {
    const margin = 50_000 / leverage;
    const due = longDueAt(leverage);
    return [
      `${figure(leverage)}×`,
      dollars(margin),
      dollars(due),
      dollars(margin + due - 50_000),
      dollars(schedule.of(due * MICROS) / MICROS),
      dollars(50_000 - margin),
    ];
  });
  return [
    ["leverage", "margin", "liquidated at", "equity there", "maintenance there", "bankrupt at"],
    ...rows,
  ];
}

export function liquidations(): Table {
  const outcome = (what: string, prepare: (bob: Trader) => void): string[] => {
    const { venue, alice, bob } = scene(1_025);
    bobSells(bob, 1, 50_000);
    alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
    prepare(bob);
    const fund = venue.fund;
    venue.index(49_490);
    venue.tick();
    const liquidated = venue.happened("Liquidated")[0]!;
    const { size: left, margin } = alice.position();
    return [
      what,
      figure(liquidated.closedLots / BTC.lotsPerCoin),
      figure(liquidated.backstopLots / BTC.lotsPerCoin),
      dollars(liquidated.feeMicros / MICROS),
      dollars(alice.wallet),
      left === 0 ? "none" : `${figure(left)} with ${dollars(margin)}`,
      dollars(venue.fund - fund),
    ];
  };
  return [
    [
      "the book when the mark is $49,490",
      "closed in it",
      "to the backstop",
      "fee",
      "Alice's wallet",
      "her position",
      "the fund",
    ],
    outcome("a bid for 1 at $49,400", (bob) => bobBuys(bob, 1, 49_400)),
    outcome("a bid for 0.4 at $49,400", (bob) => bobBuys(bob, 0.4, 49_400)),
    outcome("a bid for 1 at $49,100", (bob) => bobBuys(bob, 1, 49_100)),
    outcome("empty", () => undefined),
  ];
}

export function funding(): Table {
  const hour = (what: string, bid: number, ask: number): string[] => {
    const { venue, alice, bob } = scene(100_000);
    const quinn = venue.trader("quinn", 1_000_000);
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("limit", { margin: 5_000, price: 50_000 });
    quinn.buys("limit", { margin: 50_000, leverage: 1, price: bid });
    quinn.sells("limit", { margin: 50_000, leverage: 1, price: ask });
    venue.skipsTo(START_MS + HOUR_MS);
    venue.tick();
    const { rate, markTicks } = venue.happened("FundingApplied")[0]!;
    return [
      what,
      `${dollars(bid)} / ${dollars(ask)}`,
      dollars(markTicks / BTC.ticksPerDollar),
      percent(rate / 1e9),
      dollars(alice.fundingPaid()),
      dollars(bob.fundingPaid()),
    ];
  };
  return [
    [
      "the hour's book",
      "bid / ask",
      "mark",
      "rate of the hour",
      "Alice (long 1) pays",
      "Bob (short 1) pays",
    ],
    hour("around the index", 49_990, 50_010),
    hour("0.8 % above it", 50_400, 50_500),
    hour("0.8 % below it", 49_500, 49_600),
    hour("4.8 % above it", 52_400, 52_500),
  ];
}
