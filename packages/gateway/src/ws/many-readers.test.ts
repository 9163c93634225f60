/** What readers of a public stream cost the core: the same, however many they are. */

import { EdgeLink } from "@perpgate/link";
import { expect, test, vi } from "vitest";
import { runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { StreamClient } from "./testing/stream-client.js";

const READERS = 1_000;
const CHANGES = 5;

test("1,000 readers of a book: the core sends each change once, and is asked for nothing", async () => {
  const at = await runVenue({
    http: { connectionsPerAddress: 2 * READERS, maxConnections: 2 * READERS },
    sockets: { socketsPerAddress: 2 * READERS },
  });
  await at.setIndex("BTCUSD", 65_000);
  const trader = await Trader.enter(at);
  const received = vi.spyOn(EdgeLink.prototype, "receive");
  const asked = vi.spyOn(at.edge.link, "ask");
  const told = vi.spyOn(at.edge.link, "notify");
  const read = async () => {
    const client = await StreamClient.connect(at.url);
    await client.ask({ op: "subscribe", streams: ["book.BTCUSD"] });
    await client.next("book");
    return client;
  };
  const first = await read();
  const others = await Promise.all(Array.from({ length: READERS - 1 }, read));
  expect(told.mock.calls).toEqual([["follow", { stream: "book.BTCUSD" }]]);
  expect(asked).not.toHaveBeenCalled();
  const named = (name: string) =>
    received.mock.calls.filter(([frame]) => frame.kind === "notice" && frame.name === name);
  expect(named("bookSnapshot")).toHaveLength(1);
  for (let change = 1; change <= CHANGES; change++) {
    await trader.place(trader.limit("long", 60_000 + change, { margin: 1 }));
    for (const reader of [first, ...others]) await reader.next("book");
  }
  expect(named("bookDelta")).toHaveLength(CHANGES);
  expect(told).toHaveBeenCalledOnce();
});
