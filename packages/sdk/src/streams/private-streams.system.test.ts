/** The account's streams: every change once and in order, across cuts and restarts. */

import { CuttingProxy, newFolder, type RunningVenue } from "@perpgate/gateway/testing";
import type {
  OrdersFrame,
  PreconfirmFrame,
  Session,
  StreamGap,
  StreamProblem,
} from "@perpgate/sdk";
import { describe, expect, test } from "vitest";
import { spoiling } from "../testing/spoiling-socket.js";
import { ASK, BID, BUY, eventually, newClient, newSession, startVenue } from "../testing/venue.js";

const SMALL = { ...BID, margin: 10 };

/** Places `count` orders without the proxy, so that only the stream is cut. */
async function place(at: RunningVenue, session: Session, count: number): Promise<string[]> {
  const direct = newClient(at).restore(session.save());
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await direct.placeOrder(SMALL)).ackNonce);
  return ids;
}

describe("private streams", () => {
  test("fills and account: each fill once, and what is owned after each change", async () => {
    const at = await startVenue();
    const client = newClient(at);
    const [maker, taker] = [await newSession(client), await newSession(client)];
    const fills: string[] = [];
    const balances: number[] = [];
    const watches = [
      taker.stream.watchFills((frame) => fills.push(...frame.fills.map(({ id }) => id))),
      taker.stream.watchAccount(({ balance }) => balances.push(balance)),
    ];
    await Promise.all(watches.map(({ ready }) => ready));
    await maker.placeOrder({ ...ASK, price: 65_010, margin: 130.02 });
    await taker.placeOrder({ ...BUY, margin: 100 });
    await eventually(() => fills.length).toBe(1);
    expect((await taker.fills()).map(({ id }) => id)).toEqual(fills);
    await eventually(() => balances.at(-1)).toBe((await taker.account()).balance);
    expect(balances[0]).toBe(10_000);
    // A later watch of the same stream begins with the latest state.
    const again: number[] = [];
    await taker.stream.watchAccount(({ balance }) => again.push(balance)).ready;
    await eventually(() => again[0]).toBe(balances.at(-1));
  });

  test("orders, positions, deposits and preconfirms: what is open, then what changes", async () => {
    const at = await startVenue();
    const client = newClient(at);
    const [maker, taker] = [await newSession(client), await newSession(client)];
    const first = await maker.placeOrder(BID);
    const seen: string[] = [];
    const { stream } = maker;
    const watches = [
      stream.watchOrders(({ type, orders }) => {
        seen.push(...orders.map(({ orderId, status }) => `${type} ${orderId} ${status}`));
      }),
      stream.watchPositions(({ type, positions }) => {
        seen.push(`${type} ${positions.map(({ symbol, size }) => `${symbol} ${size}`)}`);
      }),
      stream.watchDeposits(({ type, deposits }) => {
        seen.push(`${type} ${deposits.map(({ status }) => status)}`);
      }),
      stream.watchPreconfirms(({ seq, ackNonce, status }) =>
        seen.push(`ack ${seq} ${ackNonce} ${status}`),
      ),
    ];
    await Promise.all(watches.map(({ ready }) => ready));
    await eventually(() => seen).toEqual([
      `snapshot ${first.orderId} resting`,
      "snapshot ",
      "snapshot ",
    ]);
    seen.length = 0;
    const ask = await maker.placeOrder({ ...ASK, price: 65_010, margin: 130.02 });
    const { filledSize } = await taker.placeOrder({ ...BUY, margin: 200 });
    await maker.deposit({ chain: "ethereum", txHash: "1".repeat(64), token: "USDC" });
    await eventually(() => seen.length).toBeGreaterThanOrEqual(5);
    // A stream has the order of the log; the order of streams within one command is undefined.
    expect(new Set(seen)).toEqual(
      new Set([
        `ack ${ask.ackNonce} ${ask.ackNonce} resting`,
        `update ${ask.orderId} resting`,
        `update ${ask.orderId} filled`,
        `update BTCUSD ${-filledSize}`,
        "update queued",
      ]),
    );
    expect(seen).toHaveLength(5);
    const ofOrders = seen.filter((line) => line.startsWith(`update ${ask.orderId}`));
    expect(ofOrders.map((line) => line.split(" ")[2])).toEqual(["resting", "filled"]);
    // A later watch gets what is open now.
    const late: OrdersFrame[] = [];
    stream.watchOrders((frame) => late.push(frame));
    await eventually(() => late).toMatchObject([
      { type: "snapshot", orders: [{ orderId: first.orderId }] },
    ]);
    for (const watch of watches) watch.close();
  });

  test("cut repeatedly while orders are placed: no gap, no repeat", async () => {
    const at = await startVenue();
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy));
    const seen: string[] = [];
    const gaps: StreamGap[] = [];
    await session.stream.watchPreconfirms(({ ackNonce }) => seen.push(ackNonce), {
      onGap: (gap) => gaps.push(gap),
    }).ready;
    const placed: string[] = [];
    for (let round = 0; round < 5; round++) {
      placed.push(...(await place(at, session, 7)));
      proxy.cutAll();
      placed.push(...(await place(at, session, 7)));
      if (round % 2 === 0) await eventually(() => seen.length).toBe(placed.length);
    }
    await eventually(() => seen).toEqual(placed);
    expect(gaps).toEqual([]);
  });

  test("cut while past frames are sent: resumes after the last frame", async () => {
    const at = await startVenue();
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy));
    const placed = await place(at, session, 300);
    proxy.fate = (direction, totalBytes) =>
      direction === "down" && totalBytes > 8_192 && proxy.cuts < 5 ? "cut within" : "pass";
    const seen: string[] = [];
    session.stream.watchPreconfirms(({ ackNonce }) => seen.push(ackNonce), { since: 0 });
    await eventually(() => seen).toEqual(placed);
    expect(proxy.cuts).toBe(5);
  });

  test("the server restarts: the streams resume", async () => {
    const directory = newFolder();
    const before = await startVenue({ directory });
    const proxy = await CuttingProxy.before(before.url);
    const session = await newSession(newClient(proxy));
    const seen: string[] = [];
    const orders: string[] = [];
    const problems: StreamProblem[] = [];
    const onProblem = (problem: StreamProblem) => problems.push(problem);
    await Promise.all([
      session.stream.watchPreconfirms(({ ackNonce }) => seen.push(ackNonce), { onProblem }).ready,
      session.stream.watchOrders(({ type, orders: some }) => {
        orders.push(...some.map(({ orderId }) => `${type} ${orderId}`));
      }).ready,
    ]);
    const placed = await place(before, session, 5);
    await before.stop();
    const after = await startVenue({ directory, startMs: before.nowMs() + 1_000 });
    placed.push(...(await place(after, session, 5)));
    proxy.leadTo(after.url);
    await eventually(() => seen).toEqual(placed);
    await eventually(() => orders).toEqual(placed.map((id) => `update ${id}`));
    expect(problems.map(({ kind }) => kind)).toEqual(["disconnected"]);
    expect(await session.stream.placeOrder(SMALL)).toMatchObject({ status: "resting" });
  });

  test.each([
    ["ok", {}],
    ["gap", { since: 1e9 }],
  ])(
    "connection cut between %s and snapshot: the next one begins with a snapshot",
    async (sent, options) => {
      const at = await startVenue();
      const proxy = await CuttingProxy.before(at.url);
      let lost = 0;
      const WebSocket = spoiling((data) => {
        if (lost >= 4 || !new TextDecoder("latin1").decode(data).includes("snapshot")) return data;
        lost++;
        return undefined;
      });
      const session = await newSession(newClient(proxy, { WebSocket }));
      const { orderId } = await session.placeOrder(SMALL);
      const seen: string[] = [];
      const gaps: string[] = [];
      const { stream } = session;
      const reporting = (name: string) => ({ ...options, onGap: () => gaps.push(name) });
      stream.watchOrders(
        ({ type, orders }) => seen.push(`orders ${type} ${orders.map((order) => order.orderId)}`),
        reporting("orders"),
      );
      stream.watchPositions(({ type }) => seen.push(`positions ${type}`), reporting("positions"));
      stream.watchAccount(({ type }) => seen.push(`account ${type}`), reporting("account"));
      stream.watchDeposits(({ type }) => seen.push(`deposits ${type}`), reporting("deposits"));
      await eventually(() => lost).toBe(4);
      expect(seen).toEqual([]);
      proxy.cutAll();
      await eventually(() => seen.sort()).toEqual([
        "account snapshot",
        "deposits snapshot",
        `orders snapshot ${orderId}`,
        "positions snapshot",
      ]);
      expect(gaps).toHaveLength(sent === "gap" ? 4 : 0);
      const next = await session.placeOrder(SMALL);
      await eventually(() => seen).toContain(`orders update ${next.orderId}`);
    },
  );

  test("since: another client resumes from the given seq", async () => {
    const at = await startVenue();
    const session = await newSession(newClient(at));
    const placed = await place(at, session, 6);
    const seen: PreconfirmFrame[] = [];
    const other = newClient(at).restore(session.save());
    other.stream.watchPreconfirms((ack) => seen.push(ack), { since: Number(placed[2]) });
    await eventually(() => seen.map(({ ackNonce }) => ackNonce)).toEqual(placed.slice(3));
    expect(seen[0]).toMatchObject({ symbol: "BTCUSD", status: "resting", seq: Number(placed[3]) });
    // A stream has one seq.
    expect(() => other.stream.watchPreconfirms(() => undefined, { since: 1 })).toThrow(TypeError);
    const orders: OrdersFrame[] = [];
    other.stream.watchOrders((frame) => orders.push(frame), { since: Number(placed[4]) });
    await eventually(() => orders.map(({ seq }) => seq)).toEqual([Number(placed[5])]);
    expect(() => other.stream.watchOrders(() => undefined)).toThrow(TypeError);
  });

  test("a seq of another log: onGap, then a snapshot", async () => {
    const at = await startVenue();
    const session = await newSession(newClient(at));
    const { orderId } = await session.placeOrder(SMALL);
    const gaps: StreamGap[] = [];
    const problems: string[] = [];
    const frames: OrdersFrame[] = [];
    session.stream.watchOrders((frame) => frames.push(frame), {
      since: 1e9,
      onGap: (gap) => gaps.push(gap),
      onProblem: ({ kind }) => problems.push(kind),
    });
    await eventually(() => frames).toMatchObject([{ type: "snapshot", orders: [{ orderId }] }]);
    expect(gaps).toEqual([{ since: 1e9, seq: at.venue.seq }]);
    expect(problems).toEqual(["gap"]);
    await session.placeOrder(SMALL);
    await eventually(() => frames.length).toBe(2);
  });

  test("signed out: the stream is refused and closed, without reconnection", async () => {
    const at = await startVenue();
    const client = newClient(at);
    const session = await newSession(client);
    const other = newClient(at).restore(session.save());
    const problems: StreamProblem[] = [];
    const watch = other.stream.watchOrders(() => undefined, {
      onProblem: (problem) => problems.push(problem),
    });
    await watch.ready;
    await session.signOut();
    expect(session.stream.state).toBe("closed");
    await eventually(() => other.stream.state).toBe("closed");
    expect(problems).toMatchObject([{ kind: "refused", error: { code: "invalid_token" } }]);
    await expect(other.stream.placeOrder(SMALL)).rejects.toThrow(/closed/);
    const late = newClient(at).restore(session.save());
    await expect(late.stream.watchOrders(() => undefined).ready).rejects.toMatchObject({
      code: "invalid_token",
      status: 401,
    });
    expect(late.stream.state).toBe("closed");
  });

  test("cancelOnDisconnect: a lost connection cancels the orders, and the stream reports it", async () => {
    const at = await startVenue();
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy));
    await session.stream.cancelOnDisconnect(true);
    expect((await session.account()).session.cancelOnDisconnect).toBe(true);
    const seen: string[] = [];
    await session.stream.watchOrders(({ orders }) => {
      seen.push(...orders.map(({ status, reason }) => `${status} ${reason}`));
    }).ready;
    await session.stream.placeOrder(SMALL);
    await eventually(() => seen).toEqual(["resting null"]);
    proxy.cutAll();
    await eventually(() => seen).toEqual(["resting null", "canceled disconnected"]);
    await session.stream.cancelOnDisconnect(false);
    await session.stream.placeOrder(SMALL);
    const states: string[] = [];
    session.stream.onState((state) => states.push(state));
    proxy.cutAll();
    await eventually(() => states).toContain("open");
    expect(await session.openOrders()).toHaveLength(1);
  });

  test("two sessions of one client: each sees its own", async () => {
    const at = await startVenue();
    const client = newClient(at);
    const [one, two] = [await newSession(client), await newSession(client)];
    const seen: string[] = [];
    await Promise.all([
      one.stream.watchPreconfirms(({ ackNonce }) => seen.push(`one ${ackNonce}`)).ready,
      two.stream.watchPreconfirms(({ ackNonce }) => seen.push(`two ${ackNonce}`)).ready,
    ]);
    const [a, b] = [await one.stream.placeOrder(SMALL), await two.stream.placeOrder(SMALL)];
    await eventually(() => seen).toEqual([`one ${a.ackNonce}`, `two ${b.ackNonce}`]);
  });
});
