import { describe, expect, test } from "vitest";
import { newFolder, type RunningVenue, runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { type Frame, StreamClient } from "./testing/stream-client.js";

const STREAMS = ["preconfirms", "orders", "positions", "deposits"];

async function follow(
  at: RunningVenue,
  token: string,
  since?: number,
  streams: readonly string[] = STREAMS,
): Promise<StreamClient> {
  const client = await StreamClient.connect(at.url, token);
  const resume = since === undefined ? {} : { since };
  await client.ask({ op: "subscribe", streams, ...resume });
  return client;
}

function updatesOf(client: StreamClient): Frame[] {
  return client.frames.filter(({ d }) => d.type !== "snapshot" && d.type !== "gap");
}

/**
 * Waits for a number of updates: a backfill comes in pages, with other answers in between.
 * Then for two round trips more, within which any that is one too many would come.
 */
async function received(client: StreamClient, atLeast = 0): Promise<Frame[]> {
  while (updatesOf(client).length < atLeast) await client.settled();
  await client.settled();
  await client.settled();
  return updatesOf(client);
}

/** What a maker receives for one `trade`. */
const FRAMES_PER_TRADE = 5;

/** A resting order, one that takes half of it, a cancel, a deposit with its credit. */
async function trade(at: RunningVenue, maker: Trader, taker: Trader): Promise<void> {
  const nonce = 1_000 + at.venue.seq;
  const { body } = await maker.place(maker.limit("short", 65_010, { margin: 1_000, nonce }));
  await taker.place(taker.order({ margin: 130.02, leverage: 5, nonce }));
  await maker.cancel(body.orderId);
  await taker.send("/v1/bridge/deposit", {
    chain: "ethereum",
    txHash: `0x${String(at.venue.seq).padStart(64, "0")}`,
    token: "USDC",
  });
  await at.advance(600);
}

describe("private streams", () => {
  test("subscribe: what is open first, then one frame per stream and seq", async () => {
    const at = await runVenue();
    const maker = await Trader.enter(at);
    const taker = await Trader.enter(at);
    const own = await maker.place(maker.limit("long", 60_000));
    const ofMaker = await follow(at, maker.token);
    expect((await ofMaker.next("orders")).d).toMatchObject({
      type: "snapshot",
      orders: [{ orderId: own.body.orderId, status: "resting" }],
    });
    expect((await ofMaker.next("positions")).d).toMatchObject({ type: "snapshot", positions: [] });
    const ofTaker = await follow(at, taker.token);
    await trade(at, maker, taker);

    const toMaker = await received(ofMaker, 5);
    expect(toMaker.map(({ t }) => t)).toEqual([
      "preconfirms",
      "orders",
      "orders",
      "positions",
      "orders",
    ]);
    expect(toMaker[0]?.d).toMatchObject({ status: "resting", symbol: "BTCUSD", side: "short" });
    expect(toMaker[0]?.d.seq).toBe(Number(toMaker[0]?.d.ackNonce));
    expect(toMaker[2]?.d).toMatchObject({
      type: "update",
      orders: [{ status: "resting", filledSize: 0.01 }],
    });
    expect(toMaker[3]?.d).toMatchObject({ positions: [{ side: "short", size: -0.01 }] });
    expect(toMaker[2]?.d.seq).toBe(toMaker[3]?.d.seq);
    expect(toMaker[4]?.d).toMatchObject({ orders: [{ status: "canceled" }] });

    const toTaker = await received(ofTaker, 5);
    expect(toTaker.map(({ t }) => t)).toEqual([
      "preconfirms",
      "orders",
      "positions",
      "deposits",
      "deposits",
    ]);
    expect(toTaker[3]?.d).toMatchObject({ deposits: [{ status: "queued" }] });
    expect(toTaker[4]?.d).toMatchObject({ deposits: [{ status: "credited" }] });
    expect(at.streamFaults).toEqual([]);
  });

  test("positions: a closed one is sent with size 0", async () => {
    const at = await runVenue();
    const maker = await Trader.enter(at);
    const taker = await Trader.enter(at);
    await maker.place(maker.limit("short", 65_010, { margin: 1_000 }));
    await taker.place(taker.order({ margin: 130.02, leverage: 5 }));
    const client = await follow(at, taker.token, undefined, ["positions"]);
    await maker.place(maker.limit("long", 64_990, { margin: 1_000 }));
    const close = taker.order({ side: "short", margin: 1_000, leverage: 5, reduceOnly: true });
    expect((await taker.place(close)).body).toMatchObject({ status: "filled" });
    const frame = await client.take(({ d }) => d.type === "update");
    expect(frame.d).toMatchObject({ positions: [{ symbol: "BTCUSD", size: 0 }] });
  });

  test("resume: from any seq, the same frames, no gap and no repeat, across a restart", async () => {
    const directory = newFolder();
    const before = await runVenue({ directory });
    const maker = await Trader.enter(before);
    const taker = await Trader.enter(before);
    const whole = await follow(before, maker.token);
    for (let i = 0; i < 3; i++) await trade(before, maker, taker);
    const live = await received(whole, 3 * FRAMES_PER_TRADE);
    const startMs = before.nowMs();
    await before.stop();

    const after = await runVenue({ directory, startMs });
    const again = maker.movedTo(after);
    const other = taker.movedTo(after);
    const rest = await follow(after, maker.token);
    await trade(after, again, other);
    const later = await received(rest, FRAMES_PER_TRADE);
    const expected = [...live, ...later];
    expect(expected).toHaveLength(4 * FRAMES_PER_TRADE);
    for (const since of [0, ...expected.map(({ d }) => Number(d.seq))]) {
      const client = await follow(after, maker.token, since);
      const missed = expected.filter(({ d }) => Number(d.seq) > since).length;
      const seen = await received(client, missed);
      for (const stream of STREAMS) {
        expect(
          seen.filter(({ t }) => t === stream),
          `${stream} since ${since}`,
        ).toEqual(expected.filter(({ t, d }) => t === stream && Number(d.seq) > since));
      }
      await client.close();
    }
    expect(after.streamFaults).toEqual([]);
  });

  test.each([
    ["the caller's", {}],
    ["another", { commit: "thread" }],
  ] as const)(
    "resume: while orders keep coming, rows made in %s thread: live follows backfill without a gap or a repeat",
    async (_name, changes) => {
      const at = await runVenue(changes);
      const trader = await Trader.enter(at);
      const witness = await follow(at, trader.token, undefined, ["preconfirms", "orders"]);
      const start = at.venue.seq;
      const ROUNDS = 150;
      const joined: StreamClient[] = [];
      for (let i = 0; i < ROUNDS; i++) {
        const placing = trader.place(trader.limit("long", 60_000 + i, { margin: 1 }));
        if (i % 30 === 29)
          joined.push(await follow(at, trader.token, start, ["preconfirms", "orders"]));
        await placing;
      }
      const expected = (await received(witness, 2 * ROUNDS)).map(idOf);
      expect(expected.length).toBe(2 * ROUNDS);
      for (const client of joined) {
        const seen = (await received(client, 2 * ROUNDS)).map(idOf);
        for (const stream of ["preconfirms", "orders"]) {
          expect(seen.filter((id) => id.startsWith(stream))).toEqual(
            expected.filter((id) => id.startsWith(stream)),
          );
        }
      }
    },
  );

  test("resume: more than a page of history arrives whole and in order", async () => {
    const at = await runVenue({ parameters: { maxOpenOrders: 500 } });
    const trader = await Trader.enter(at);
    const start = at.venue.seq;
    const COUNT = 400;
    for (let placed = 0; placed < COUNT; placed += 50) {
      const some = Array.from({ length: 50 }, (_, i) =>
        trader.place(trader.limit("long", 60_000 + placed + i, { margin: 1 })),
      );
      await Promise.all(some);
    }
    // One command that changes them all: its frame is whole, whatever the page.
    await trader.send("/v1/orders/cancel-all", {});
    const client = await follow(at, trader.token, start, ["orders"]);
    const frames = await received(client, COUNT + 1);
    expect(frames.length).toBe(COUNT + 1);
    const seqs = frames.map(({ d }) => Number(d.seq));
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    expect(frames.at(-1)?.d.orders).toHaveLength(COUNT);
  });

  test("resume: from a seq that the log does not have, a gap frame, then the state", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    await trader.place(trader.limit("long", 60_000));
    // A first socket, so that the next one makes no record of the log.
    const first = await StreamClient.connect(at.url, trader.token);
    await first.ask({ op: "auth", token: trader.token });
    const client = await follow(at, trader.token, 1_000_000, ["orders"]);
    const { seq: position } = at.venue;
    expect((await client.next("orders")).d).toEqual({
      type: "gap",
      since: 1_000_000,
      seq: position,
    });
    expect((await client.next("orders")).d).toMatchObject({
      type: "snapshot",
      seq: position,
      orders: [{ status: "resting" }],
    });
  });

  test("resume: from before the changes that are kept, a gap frame; after it, all of them; across a restart", async () => {
    const TURN = 16;
    const directory = newFolder();
    let at = await runVenue({ directory, outboxCommands: TURN });
    const trader = await Trader.enter(at);
    const seqs: number[] = [];
    for (let i = 0; i < 4 * TURN; i++) {
      await trader.place(trader.limit("long", 60_000 + i, { margin: 1 }));
      seqs.push(at.venue.seq);
    }
    for (const isRestarted of [false, true]) {
      if (isRestarted) {
        const startMs = at.nowMs();
        await at.stop();
        at = await runVenue({ directory, outboxCommands: TURN, startMs });
      }
      // So that the next sockets make no record of the log.
      const first = await StreamClient.connect(at.url, trader.token);
      await first.ask({ op: "auth", token: trader.token });
      const { views, seq } = at.venue;
      const { changesFrom } = views;
      expect(seq - changesFrom).toBeGreaterThanOrEqual(TURN);
      expect(seq - changesFrom).toBeLessThan(2 * TURN);
      const late = await follow(at, trader.token, changesFrom - 2, ["orders"]);
      expect((await late.next("orders")).d).toMatchObject({ type: "gap", since: changesFrom - 2 });
      expect((await late.next("orders")).d).toMatchObject({ type: "snapshot" });
      const inTime = await follow(at, trader.token, changesFrom - 1, ["orders"]);
      const kept = seqs.filter((seq) => seq >= changesFrom);
      const frames = await received(inTime, kept.length);
      expect(frames.map(({ d }) => Number(d.seq))).toEqual(kept);
    }
  });

  test("accounts: nobody receives another's orders", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const nosy = await Trader.enter(at);
    const client = await follow(at, nosy.token, 0);
    await trader.place(trader.limit("long", 60_000));
    expect(await received(client)).toEqual([]);
    // A token of another account ends the private streams of the one before.
    await client.ask({ op: "auth", token: trader.token });
    await nosy.place(nosy.limit("long", 60_000));
    expect(await received(client)).toEqual([]);
  });
});

function idOf({ t, d }: Frame): string {
  return `${t} ${String(d.seq)}`;
}
