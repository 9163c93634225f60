/** The mirrored book equals the venue's, and equals it again after every failure. */

import { CuttingProxy, OrderFlow, type RunningVenue } from "@perpgate/gateway/testing";
import { Random } from "@perpgate/protocol/random";
import type { MirroredBook, PerpgateClient, StreamProblem } from "@perpgate/sdk";
import { describe, expect, test } from "vitest";
import { spoiling } from "../testing/spoiling-socket.js";
import { ASK, BID, eventually, newClient, newSession, startVenue } from "../testing/venue.js";

const SEED = 20_261_115;

async function startFlow(at: RunningVenue): Promise<OrderFlow> {
  const flow = new OrderFlow(at.venue, new Random(SEED), at.nowMs);
  await flow.signIn();
  await flow.run(300);
  return flow;
}

/** A client's book of BTCUSD, and the problems that were reported. */
async function watching(client: PerpgateClient) {
  const problems: StreamProblem[] = [];
  const seen: { book: MirroredBook | undefined; calls: number } = { book: undefined, calls: 0 };
  const watch = client.stream.watchBook(
    "BTCUSD",
    (now) => {
      seen.book = now;
      seen.calls++;
    },
    { onProblem: (problem) => problems.push(problem) },
  );
  await watch.ready;
  return { seen, problems, watch };
}

/** Waits until the mirror has reached the seq, and compares every level. */
async function expectEqual(
  at: RunningVenue,
  seen: { readonly book: MirroredBook | undefined },
): Promise<void> {
  const expected = await newClient(at).book("BTCUSD", { depth: 5_000 });
  await eventually(() => [seen.book?.live, seen.book?.bids(), seen.book?.asks()]).toEqual([
    true,
    expected.bids,
    expected.asks,
  ]);
}

function isDelta(data: Uint8Array): boolean {
  return new TextDecoder("latin1").decode(data).includes("delta");
}

describe("watchBook", () => {
  test("random flow: every level equals GET book, checksums included", async () => {
    const at = await startVenue();
    const flow = await startFlow(at);
    const { seen, problems, watch } = await watching(newClient(at));
    for (let round = 0; round < 10; round++) {
      await flow.run(100);
      await expectEqual(at, seen);
    }
    expect(problems).toEqual([]);
    const { bids, asks } = await newClient(at).book("BTCUSD", { depth: 1 });
    const { book } = seen;
    expect([book?.bestBid, book?.bestAsk]).toEqual([bids[0], asks[0]]);
    expect([book?.symbol, book?.tick, book?.lot]).toEqual(["BTCUSD", 0.1, 0.00001]);
    const [ticks, lots] = [new Float64Array(3), new Float64Array(3)];
    expect(book?.copyLevels("bid", ticks, lots)).toBe(3);
    expect(book?.bids(3)).toEqual(
      [0, 1, 2].map((i) => [(ticks[i] ?? 0) / 10, (lots[i] ?? 0) / 100_000]),
    );
    expect(book?.lotsAt("bid", ticks[1] ?? 0)).toBe(lots[1]);
    expect(book?.depth("bid")).toBe(book?.bids().length);
    const before = seen.calls;
    watch.close();
    await flow.run(50);
    expect(seen.calls).toBe(before);
  });

  test("lost frames: repaired, each reported", async () => {
    const at = await startVenue();
    const flow = await startFlow(at);
    const random = new Random(SEED);
    let isBad = false;
    const Spoiling = spoiling((data) =>
      isBad && isDelta(data) && random.below(10) === 0 ? undefined : data,
    );
    const { seen, problems } = await watching(newClient(at, { WebSocket: Spoiling }));
    isBad = true;
    while (problems.length < 2) {
      await flow.run(20);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    isBad = false;
    expect(problems.every(({ kind, stream }) => kind === "gap" && stream === "book.BTCUSD")).toBe(
      true,
    );
    await flow.run(20);
    await expectEqual(at, seen);
  });

  test("changed bytes: detected by the checksum or unreadable, and repaired", async () => {
    const at = await startVenue();
    const session = await newSession(newClient(at));
    await session.placeOrder(BID);
    await session.placeOrder(ASK);
    let spoiled = 0;
    // Every byte of a delta in sequence.
    const Spoiling = spoiling((data) => {
      if (!isDelta(data) || spoiled >= 40) return data;
      const at = new TextDecoder("latin1").decode(data).indexOf("bids") + 4 + (spoiled % 8);
      data[at] = (data[at] ?? 0) ^ (1 << (spoiled % 7));
      spoiled++;
      return data;
    });
    const { seen, problems } = await watching(newClient(at, { WebSocket: Spoiling }));
    await eventually(() => seen.book?.live).toBe(true);
    await session.placeOrder({ ...BID, price: 60_001 });
    await eventually(() => problems.length).toBeGreaterThan(0);
    spoiled = Number.POSITIVE_INFINITY;
    await expectEqual(at, seen);
  });

  test("the connection is cut: not live, reported, and equal again after the reconnection", async () => {
    const at = await startVenue();
    const proxy = await CuttingProxy.before(at.url);
    const flow = await startFlow(at);
    const client = newClient(proxy);
    const states: string[] = [];
    client.stream.onState((state) => states.push(state));
    expect(client.stream.state).toBe("idle");
    const { seen, problems } = await watching(client);
    await expectEqual(at, seen);
    proxy.isDown = true;
    proxy.cutAll();
    await eventually(() => seen.book?.live).toBe(false);
    expect(problems).toEqual([{ kind: "disconnected", stream: "book.BTCUSD" }]);
    // The last known book is still readable.
    expect(seen.book?.bids().length).toBeGreaterThan(10);
    await flow.run(100);
    await eventually(() => proxy.cuts).toBeGreaterThan(2);
    proxy.isDown = false;
    await expectEqual(at, seen);
    expect(client.stream.state).toBe("open");
    expect(states.slice(0, 4)).toEqual(["connecting", "open", "waiting", "connecting"]);
    client.close();
    expect([client.stream.state, states.at(-1)]).toEqual(["closed", "closed"]);
  });

  test("a silent connection: detected, dropped and opened again", async () => {
    const at = await startVenue();
    const proxy = await CuttingProxy.before(at.url);
    const client = newClient(proxy, { heartbeatMs: 500 });
    const { seen } = await watching(client);
    proxy.fate = (direction) => (direction === "down" ? "swallow" : "pass");
    const session = await newSession(newClient(at));
    await session.placeOrder(BID);
    await eventually(() => seen.book?.live).toBe(false);
    proxy.fate = () => "pass";
    await expectEqual(at, seen);
  });

  test("two watches of one market: one subscription, the second gets the book immediately", async () => {
    const at = await startVenue();
    const session = await newSession(newClient(at));
    await session.placeOrder(BID);
    const client = newClient(at);
    const [first, second]: number[][] = [[], []];
    const one = client.stream.watchBook("BTCUSD", ({ seq }) => first?.push(seq));
    await eventually(() => first?.length).toBe(1);
    const two = client.stream.watchBook("BTCUSD", ({ seq }) => second?.push(seq));
    await two.ready;
    await eventually(() => second).toEqual(first);
    one.close();
    one.close();
    await session.placeOrder(BID);
    await eventually(() => second?.length).toBe(2);
    expect(first).toHaveLength(1);
    two.close();
    // And again from the beginning.
    const { seen } = await watching(client);
    await expectEqual(at, seen);
    expect(seen.book?.bids()).toHaveLength(1);
  });

  test("a market that does not exist: refused, by ready and by onProblem", async () => {
    const at = await startVenue();
    const client = newClient(at);
    const problems: StreamProblem[] = [];
    const watch = client.stream.watchBook("NOPE", () => undefined, {
      onProblem: (problem) => {
        problems.push(problem);
        // `ready` has the venue's error all the same.
        watch.close();
      },
    });
    await expect(watch.ready).rejects.toMatchObject({ code: "market_not_found", status: 404 });
    expect(problems).toMatchObject([{ kind: "refused", error: { code: "market_not_found" } }]);
    // The other streams of the socket continue.
    await client.stream.watchBook("BTCUSD", () => undefined).ready;
    client.close();
    const late = client.stream.watchBook("BTCUSD", () => undefined);
    await expect(late.ready).rejects.toThrow(/closed/);
  });
});
