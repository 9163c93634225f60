/** The private streams' feed over real sockets: where a reader has no room, and where a read fails. */

import { getDefaultHighWaterMark } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { until } from "@perpgate/journal/testing";
import type { LinkTransport, Receiver } from "@perpgate/link";
import type { Deposit } from "@perpgate/protocol";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { COST } from "../../limits/costs.js";
import { budgetsWith } from "../../testing/running-gateway.js";
import { type RunningVenue, runVenue } from "../../venue/testing/running-venue.js";
import { Trader } from "../../venue/testing/trader.js";
import type { ClientSocket } from "../connection.js";
import { SocketPairs } from "../testing/connected-pair.js";
import { StreamClient } from "../testing/stream-client.js";
import { wireFrame } from "../wire-frame.js";
import { PrivateStreamFeed } from "./account-feed.js";

/** Of the core. */
const PAGE_ROWS = 64;
const ROWS_PER_TURN = 256;

type Frame = Parameters<Receiver["receive"]>[0];

/** Orders, each two rows of the history: more than a page of it. */
const ORDERS = 200;
const ACCOUNT = 1;
/** Bytes on a socket above which Node emits a drain. */
const NODE_BUFFER_BYTES = getDefaultHighWaterMark(false);

/** The feed of a further edge. */
async function feedOf(at: RunningVenue): Promise<PrivateStreamFeed> {
  const feed = new PrivateStreamFeed(await at.connect(), (error) => {
    throw error;
  });
  onTestFinished(() => feed.stop());
  return feed;
}

/** The first trader's session. */
function ownerOf({ session }: Trader) {
  return { number: session, account: ACCOUNT };
}

async function placeMany(trader: Trader): Promise<void> {
  const orders = Array.from({ length: ORDERS }, (_, i) =>
    trader.place(trader.limit("long", 60_000 + i, { margin: 1 })),
  );
  await Promise.all(orders);
}

describe("resume: a reader that stops and goes on", () => {
  const roomBytes = 1_024;

  test("over pages that have nothing for it, with little waiting before them", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const since = at.venue.seq;
    await placeMany(trader);
    const deposit = { chain: "ethereum", txHash: `0x${"1".padStart(64, "0")}`, token: "USDC" };
    await trader.send("/v1/bridge/deposit", deposit);
    const { connection, client } = await (await SocketPairs.open({ roomBytes })).connect();
    client.socket.pause();
    // More than the setting, and less than what makes Node emit a drain.
    const filler = wireFrame({ t: "ok", d: { text: "x".repeat(1_500) } });
    while (connection.bufferedBytes <= roomBytes) connection.send(filler);
    expect(connection.bufferedBytes).toBeLessThan(NODE_BUFFER_BYTES);
    (await feedOf(at)).open(connection, "deposits", ownerOf(trader), { since, from: 0 });
    client.socket.resume();
    expect((await client.next("deposits")).d).toMatchObject({ deposits: [{ status: "queued" }] });
  });

  test("over pages for which there is no room: complete, in order, and never above the cap", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const since = at.venue.seq;
    await placeMany(trader);
    const maxBufferedBytes = NODE_BUFFER_BYTES + 8_192;
    const limits = { roomBytes, maxBufferedBytes };
    const { connection, client } = await (await SocketPairs.open(limits)).connect();
    client.socket.pause();
    // All that the kernel buffers: no history is sent until the client reads.
    const filler = wireFrame({ t: "ok", d: { text: "x".repeat(1_500) } });
    while (connection.bufferedBytes === 0) connection.send(filler);
    (await feedOf(at)).open(connection, "orders", ownerOf(trader), { since, from: 0 });
    const seqs: number[] = [];
    while (seqs.length < ORDERS) {
      expect(connection.bufferedBytes).toBeLessThanOrEqual(maxBufferedBytes);
      client.socket.resume();
      seqs.push(Number((await client.next("orders")).d.seq));
      client.socket.pause();
    }
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    expect(connection.isOpen).toBe(true);
  });
});

describe("an answer and changes after it that arrive in one read of the link", () => {
  /** Keeps what the core sends until it is released, and then hands it over in one piece. */
  function gathered() {
    let kept: Frame[] | undefined = [];
    let onFrame = (_: Frame): void => undefined;
    const has = (name: string) => kept?.some((frame) => "name" in frame && frame.name === name);
    return {
      until: (name: string) => until(() => has(name) === true),
      hold: () => {
        kept = [];
      },
      release: () => {
        const frames = kept ?? [];
        kept = undefined;
        for (const frame of frames) onFrame(frame);
      },
      over:
        (connect: (receiver: Receiver) => LinkTransport) =>
        (receiver: Receiver): LinkTransport => {
          kept = undefined;
          onFrame = (frame) => receiver.receive(frame);
          return connect({
            receive: (frame) => (kept === undefined ? onFrame(frame) : kept.push(frame)),
            ended: (problem) => receiver.ended(problem),
          });
        },
    };
  }

  test.each([
    ["orders", "that begins"],
    ["orders", "that resumes"],
    ["preconfirms", "that begins"],
    ["preconfirms", "that resumes"],
  ] as const)("%s, a reader %s: none is missed", async (stream, kind) => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const frames = gathered();
    const feed = new PrivateStreamFeed(await at.connect(frames.over), (error) => {
      throw error;
    });
    onTestFinished(() => feed.stop());
    const { connection, client } = await (await SocketPairs.open()).connect();
    const from = at.venue.seq;
    frames.hold();
    const since = kind === "that resumes" ? from : undefined;
    onTestFinished(feed.open(connection, stream, ownerOf(trader), { since, from }));
    await frames.until("readStream");
    const { body } = await trader.place(trader.limit("long", 60_000, { margin: 1 }));
    await frames.until("privateUpdate");
    frames.release();
    const update = await client.take(({ t, d }) => t === stream && d.type !== "snapshot");
    expect(update.d.seq).toBe(Number(body.orderId));
  });
});

describe("resume over budget: every page that is paid for is sent", () => {
  /** Every page of more than three rows leaves a debt, however late the timers are. */
  const POOR = { costMsPerSecond: 100, costBurstMs: 0.05 };
  /** More than are read if every page is sent. */
  const MANY_ROWS = 20 * ORDERS;

  /** The frames that arrive until the reader is live, or has read the same rows many times. */
  async function resume(
    at: RunningVenue,
    trader: Trader,
    stream: "orders" | "fills",
    since: number,
  ) {
    const { connection, client } = await (await SocketPairs.open({}, budgetsWith(POOR))).connect();
    const feed = await feedOf(at);
    onTestFinished(feed.open(connection, stream, ownerOf(trader), { since, from: 0 }));
    const { counts } = connection;
    const isOver = () => feed.readerCount > 0 || counts.backfilledRows > MANY_ROWS;
    await until(isOver);
    connection.answer({ t: "pong", d: {} });
    await client.next("pong");
    return client.frames;
  }

  test("many orders", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const since = at.venue.seq;
    await placeMany(trader);
    const seqs = (await resume(at, trader, "orders", since)).map(({ d }) => Number(d.seq));
    expect(seqs).toHaveLength(ORDERS);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  });

  test("one command with more rows than a page", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    await placeMany(trader);
    const since = at.venue.seq;
    await trader.send("/v1/orders/cancel-all");
    const frames = await resume(at, trader, "orders", since);
    expect(frames).toHaveLength(1);
    expect(frames[0]?.d.orders).toHaveLength(ORDERS);
  });

  test("fills, which are read besides the page", async () => {
    const at = await runVenue();
    const [taker, maker] = [await Trader.enter(at), await Trader.enter(at)];
    await Promise.all(
      Array.from({ length: ORDERS }, () => maker.place(maker.limit("long", 65_000, { margin: 1 }))),
    );
    const since = at.venue.seq;
    const sales = 4;
    for (let i = 0; i < sales; i++) {
      await taker.place(taker.order({ side: "short", margin: ORDERS / sales }));
    }
    const fills = await taker.list("/v1/fills?limit=1000");
    expect(fills.length).toBeGreaterThanOrEqual(ORDERS);
    const frames = await resume(at, taker, "fills", since);
    expect(frames).toHaveLength(sales);
    expect(frames.flatMap(({ d }) => d.fills)).toHaveLength(fills.length);
  });
});

describe("a frame that cannot be encoded", () => {
  const STREAMS = ["preconfirms", "orders"];
  const INTERNAL_ERROR = { code: 1011, reason: "internal_error" };
  afterEach(() => {
    vi.restoreAllMocks();
  });

  async function follow(at: RunningVenue, { token }: Trader, since?: number) {
    const client = await StreamClient.connect(at.url, token);
    const resume = since === undefined ? {} : { since };
    const { t } = await client.ask({ op: "subscribe", streams: STREAMS, ...resume });
    expect(t).toBe("ok");
    return client;
  }

  /** The seqs of the orders that a client received. */
  async function orderSeqs(client: StreamClient, count: number): Promise<number[]> {
    const seqs: number[] = [];
    while (seqs.length < count) {
      const { d } = await client.next("orders");
      if (d.type === "update") seqs.push(Number(d.seq));
    }
    return seqs;
  }

  async function rest(trader: Trader): Promise<number> {
    const { body } = await trader.place(trader.limit("long", 60_000, { margin: 1 }));
    return Number(body.orderId);
  }

  /** Makes a read of the venue fail once. */
  function failOnce(at: RunningVenue, read: "change" | "changesSince" | "openOrders"): void {
    vi.spyOn(at.venue.views, read).mockImplementationOnce(() => {
      throw new Error("the disk is on fire");
    });
  }

  test("live: the sockets that would miss it are closed, resume without a gap, others stay", async () => {
    const at = await runVenue();
    const [trader, other] = [await Trader.enter(at), await Trader.enter(at)];
    const [client, bystander] = [await follow(at, trader), await follow(at, other)];
    const first = await rest(trader);
    expect(await orderSeqs(client, 1)).toEqual([first]);
    // Of a command's two frames the first can be encoded, and is not sent either.
    failOnce(at, "change");
    // In one batch, so that good frames directly follow the one that fails.
    const later = await Promise.all([rest(trader), rest(trader), rest(trader)]);
    expect(await client.closed).toEqual(INTERNAL_ERROR);
    expect(client.frames.filter(({ d }) => Number(d.seq) > first)).toEqual([]);
    const back = await follow(at, trader, first);
    expect(await orderSeqs(back, 3)).toEqual(later.sort((a, b) => a - b));
    const own = await rest(other);
    expect(await orderSeqs(bystander, 1)).toEqual([own]);
    expect(at.streamFaults).toHaveLength(1);
  });

  test("resume: a history that cannot be read closes the socket", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const since = at.venue.seq;
    const seqs = [await rest(trader), await rest(trader)];
    failOnce(at, "changesSince");
    expect(await (await follow(at, trader, since)).closed).toEqual(INTERNAL_ERROR);
    expect(await orderSeqs(await follow(at, trader, since), 2)).toEqual(seqs);
    expect(at.streamFaults).toHaveLength(1);
  });

  test("subscribe: a state that cannot be read closes the socket after its ok", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    failOnce(at, "openOrders");
    expect(await (await follow(at, trader)).closed).toEqual(INTERNAL_ERROR);
    expect((await (await follow(at, trader)).next("orders")).d.type).toBe("snapshot");
    expect(at.streamFaults).toHaveLength(1);
  });

  test("changes whose account is unknown: every private reader is closed, public ones stay", async () => {
    const at = await runVenue();
    const [trader, other] = [await Trader.enter(at), await Trader.enter(at)];
    const clients = [await follow(at, trader), await follow(at, other)];
    const reader = await StreamClient.connect(at.url);
    await reader.ask({ op: "subscribe", streams: ["book.BTCUSD"] });
    vi.spyOn(at.venue.views, "lastChanges", "get").mockImplementationOnce(() => {
      throw new Error("the disk is on fire");
    });
    const since = at.venue.seq;
    const order = await rest(trader);
    for (const client of clients) expect(await client.closed).toEqual(INTERNAL_ERROR);
    expect(await orderSeqs(await follow(at, trader, since), 1)).toEqual([order]);
    await reader.take(({ d }) => d.type === "delta");
    expect(at.streamFaults).toHaveLength(1);
  });

  test("a fault of the public streams loses no private frame", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const client = await follow(at, trader);
    const reader = await StreamClient.connect(at.url);
    await reader.ask({ op: "subscribe", streams: ["trades.BTCUSD"] });
    vi.spyOn(at.venue.views, "emitPublicEvents").mockImplementationOnce(() => {
      throw new Error("the disk is on fire");
    });
    const order = await rest(trader);
    expect(await orderSeqs(client, 1)).toEqual([order]);
    expect(at.streamFaults).toHaveLength(1);
  });
});

describe("what readers cost", () => {
  /** The rows whose cost is charged, without the frames. */
  function rowsCharged(connection: ClientSocket): () => number {
    const charge = vi.spyOn(connection, "charge");
    return () => {
      const rows = charge.mock.calls.map(([micros]) => micros / COST.historyRow);
      // The cost of a frame is no multiple of a row's.
      return rows.filter(Number.isInteger).reduce((sum, count) => sum + count, 0);
    };
  }

  test("orders: the first frame is charged by its rows", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    await placeMany(trader);
    const { connection, client } = await (await SocketPairs.open()).connect();
    const charged = rowsCharged(connection);
    (await feedOf(at)).open(connection, "orders", ownerOf(trader), { since: undefined, from: 0 });
    await client.next("orders");
    expect(charged()).toBe(ORDERS);
  });

  test("fills: a resumption is charged by the changes and the fills that it reads", async () => {
    const at = await runVenue();
    const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
    const since = at.venue.seq;
    const fills = 5;
    for (let i = 0; i < fills; i++) {
      await maker.place(maker.limit("long", 65_000, { margin: 1 }));
      await taker.place(taker.limit("short", 65_000, { margin: 1 }));
    }
    const { connection, client } = await (await SocketPairs.open()).connect();
    const charged = rowsCharged(connection);
    const changes = at.venue.views.changesSince(ACCOUNT, since, 1_000).length;
    const end = (await feedOf(at)).open(connection, "fills", ownerOf(maker), { since, from: 0 });
    for (let i = 0; i < fills; i++) await client.next("fills");
    expect(charged()).toBe(changes + 1 + 2 * fills);
    end();
  });

  test("a deposit of 100 senders: one frame for all of them; a resumption pays for its length", async () => {
    const at = await runVenue({
      parameters: { attestorKind: "chain", attestors: 1, attestorQuorum: 1, devCredit: 0 },
      attestors: { venue: "test-venue", members: ["ab".repeat(32)] },
    });
    const traders = [await Trader.enter(at), await Trader.enter(at), await Trader.enter(at)];
    const registration = { chain: "ethereum", txHash: "ab".repeat(32), token: "USDC" };
    const { body } = await traders[0]!.send("/v1/bridge/deposit", registration);
    const clients: StreamClient[] = [];
    for (const { token } of traders) {
      const client = await StreamClient.connect(at.url, token);
      await client.ask({ op: "subscribe", streams: ["deposits"] });
      await client.next("deposits");
      clients.push(client);
    }
    const decode = vi.spyOn(at.venue.views, "change");
    const since = at.venue.seq;
    const others = Array.from({ length: 97 }, (_, i) => (i + 1).toString(16).padStart(40, "0"));
    const own = traders.map(({ wallet }) => wallet.address.slice(2).toLowerCase());
    await at.execute({
      kind: "AttestDeposit",
      stampMs: at.nowMs(),
      attestor: 0,
      depositId: Number(body.depositId),
      verdict: "credit",
      votedAtMs: at.nowMs(),
      confirmations: 12,
      required: 12,
      credits: [...own, ...others].map((address, logIndex) => {
        return { address, amountMicros: 5_000_000, logIndex, token: "USDC" };
      }),
      reason: "",
    });
    for (const [i, client] of clients.entries()) {
      const { deposits } = (await client.next("deposits")).d;
      const listed: Deposit[] = JSON.parse((await traders[i]!.get("/v1/bridge/deposits")).text);
      expect(listed[0]?.credits).toHaveLength(100);
      expect(deposits).toEqual(listed);
    }
    expect(decode).toHaveBeenCalledTimes(1);
    const { connection, client } = await (await SocketPairs.open()).connect();
    const charged = rowsCharged(connection);
    (await feedOf(at)).open(connection, "deposits", ownerOf(traders[0]!), { since, from: 0 });
    await client.next("deposits");
    expect(charged()).toBeGreaterThan(20);
  });

  test("resumes without room until its changes are dropped: a gap, the state, then live", async () => {
    const at = await runVenue({ outboxCommands: 16 });
    const trader = await Trader.enter(at);
    const since = at.venue.seq;
    const { connection, client } = await (await SocketPairs.open()).connect();
    let makeRoom: () => void = () => undefined;
    const room = new Promise<void>((resolve) => {
      makeRoom = resolve;
    });
    vi.spyOn(connection, "hasRoom", "get").mockReturnValueOnce(false);
    vi.spyOn(connection, "room").mockReturnValueOnce(room);
    const feed = await feedOf(at);
    feed.open(connection, "orders", ownerOf(trader), { since, from: 0 });
    await placeMany(trader);
    expect([feed.readerCount, at.venue.views.changesFrom > since + 1]).toEqual([0, true]);
    makeRoom();
    const { seq } = at.venue;
    expect((await client.next("orders")).d).toEqual({ type: "gap", since, seq });
    expect((await client.next("orders")).d).toMatchObject({ type: "snapshot", seq });
    expect([feed.readerCount, connection.counts.activeBackfills]).toEqual([1, 0]);
  });

  test("many that resume: a bounded number of rows per turn for all together, a page each", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const since = at.venue.seq;
    await placeMany(trader);
    const { connection } = await (await SocketPairs.open()).connect();
    const { counts } = connection;
    const feed = await feedOf(at);
    const read = vi.spyOn(at.venue.views, "changesSince");
    const readers = 12;
    for (let i = 0; i < readers; i++)
      feed.open(connection, "deposits", ownerOf(trader), { since, from: 0 });
    expect([counts.activeBackfills, counts.backfilledRows]).toEqual([readers, 0]);
    const rowsRead = () =>
      read.mock.results.reduce(
        (sum, { type, value }) => sum + (type === "return" ? value.length : 0),
        0,
      );
    while (rowsRead() === 0) await nextTurn();
    // Four readers have one page each.
    expect(new Set(read.mock.calls.map(([, seq]) => seq))).toEqual(new Set([since]));
    for (let before = rowsRead(); feed.readerCount < readers; ) {
      await nextTurn();
      expect(rowsRead() - before).toBeLessThan(ROWS_PER_TURN + PAGE_ROWS);
      before = rowsRead();
    }
    expect(counts.activeBackfills).toBe(0);
    expect(counts.backfilledRows).toBeGreaterThan(readers * ORDERS - 1);
  });

  test("a reader that ends while it resumes: leaves the queue, and nothing is read for it", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const { connection } = await (await SocketPairs.open()).connect();
    const end = (await feedOf(at)).open(connection, "orders", ownerOf(trader), {
      since: 0,
      from: 0,
    });
    expect(connection.counts.activeBackfills).toBe(1);
    end();
    expect(connection.counts.activeBackfills).toBe(0);
    await nextTurn();
    expect(connection.counts.backfilledRows).toBe(0);
  });
});
