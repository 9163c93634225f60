/**
 * Several addresses of one venue. Each address is a proxy in front of the same gateway, which a test
 * takes down, makes silent or slow: sessions, nonces and stream positions are valid at all of them.
 */

import { CuttingProxy, type RunningVenue } from "@perpgate/gateway/testing";
import type { ClientOptions, PerpgateClient, RequestLike, StreamProblem } from "@perpgate/sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { Gateways } from "./http/gateways.js";
import { BID, eventually, newClient, newSession, startVenue } from "./testing/venue.js";

const SMALL = { ...BID, margin: 10 };

describe("several gateways", () => {
  let venue: RunningVenue;

  beforeAll(async () => {
    venue = await startVenue({}, afterAll);
  });

  async function proxies(count: number): Promise<CuttingProxy[]> {
    return Promise.all(Array.from({ length: count }, () => CuttingProxy.before(venue.url)));
  }

  /** A client of all proxies that uses the first. */
  async function clientOf(
    gateways: readonly CuttingProxy[],
    options: Partial<ClientOptions> = {},
  ): Promise<PerpgateClient> {
    const url = gateways.map((gateway) => gateway.url);
    const client = newClient(venue, { ...options, url });
    await client.time();
    client.useGateway(url[0] ?? "");
    return client;
  }

  test("first request: the gateway that answers first is used, one that is down is not", async () => {
    const [dead, slow, near] = await proxies(3);
    dead!.isDown = true;
    const fetch = async (url: string, init: RequestLike) => {
      if (url.startsWith(slow!.url)) await new Promise((resolve) => setTimeout(resolve, 300));
      return globalThis.fetch(url, init);
    };
    const client = newClient(venue, { url: [dead!.url, slow!.url, near!.url], fetch });
    const changes: string[] = [];
    client.onGateway((url) => changes.push(url));
    await client.time();
    expect(client.url).toBe(near!.url);
    expect(changes).toEqual([near!.url]);
    await eventually(() =>
      client.gateways.map(({ roundTripMs }) => roundTripMs !== undefined),
    ).toEqual([false, true, true]);
    expect(client.gateways.map(({ isInUse }) => isInUse)).toEqual([false, false, true]);
  });

  test("useGateway before the first answer: kept", async () => {
    const [near, far] = await proxies(2);
    const fetch = async (url: string, init: RequestLike) => {
      // The far one does not answer its probes.
      if (!url.startsWith(far!.url) || url.endsWith("/v1/time")) return globalThis.fetch(url, init);
      return new Promise<Response>((_, reject) => {
        init.signal.addEventListener("abort", () => reject(init.signal.reason));
      });
    };
    // The connection to the near one is open, so that its probes are answered in time.
    await globalThis.fetch(`${near!.url}/healthz`);
    const client = newClient(venue, { url: [near!.url, far!.url], fetch });
    const first = client.time();
    client.useGateway(far!.url);
    await first;
    expect(client.url).toBe(far!.url);
  });

  test("no address, or one that is none of them: refused", async () => {
    expect(() => newClient(venue, { url: [] })).toThrow(TypeError);
    const client = newClient(venue, { url: [venue.url, "http://127.0.0.1:9"] });
    expect(() => client.useGateway("http://127.0.0.1:10")).toThrow(TypeError);
  });

  test("gateway down: orders over REST and over the socket go on at the next, each once", async () => {
    const [first, second] = await proxies(2);
    const client = await clientOf([first!, second!]);
    const session = await newSession(client);
    const streamed: string[] = [];
    await session.stream.watchPreconfirms(({ ackNonce }) => streamed.push(ackNonce)).ready;
    const placed = [await session.placeOrder(SMALL), await session.stream.placeOrder(SMALL)];
    const inFlight = [session.placeOrder(SMALL), session.stream.placeOrder(SMALL)];
    first!.isDown = true;
    first!.cutAll();
    placed.push(...(await Promise.all(inFlight)), await session.placeOrder(SMALL));
    placed.push(await session.stream.placeOrder(SMALL));
    expect(client.url).toBe(second!.url);
    expect(session.stream.gateway).toBe(second!.url);
    const ids = placed.map(({ orderId }) => Number(orderId)).sort((a, b) => a - b);
    expect((await session.openOrders()).map(({ orderId }) => Number(orderId))).toEqual(ids);
    await eventually(() => streamed.map(Number)).toEqual(ids);
  });

  test("answer lost: the order is sent again to the next gateway with its nonce", async () => {
    const [first, second] = await proxies(2);
    const client = await clientOf([first!, second!]);
    const session = await newSession(client);
    await session.account();
    first!.fate = (direction) => (direction === "down" ? "cut before" : "pass");
    const { orderId, replayed } = await session.placeOrder(SMALL);
    expect(replayed).toBe(true);
    expect((await session.openOrders()).map((order) => order.orderId)).toEqual([orderId]);
  });

  test("gateway silent: requests and sockets leave it long before their time-out", async () => {
    const [first, second] = await proxies(2);
    // Longer than the test may take.
    const client = await clientOf([first!, second!], { timeoutMs: 600_000 });
    const session = await newSession(client);
    await session.stream.watchOrders(() => undefined).ready;
    const states: string[] = [];
    session.stream.onState((state) => states.push(state));
    first!.fate = () => "swallow";
    const { orderId } = await session.placeOrder(SMALL);
    await eventually(() => session.stream.gateway).toBe(second!.url);
    // The socket was open throughout: the next one was opened before it was left.
    expect(states).toEqual([]);
    expect((await session.openOrders()).map((order) => order.orderId)).toEqual([orderId]);
  });

  test("gateway silent, and the next one refuses the order: unknown, over REST and the socket", async () => {
    for (const way of ["rest", "socket"] as const) {
      const [first, second] = await proxies(2);
      const client = await clientOf([first!, second!]);
      const session = await newSession(client);
      await session.stream.watchOrders(() => undefined).ready;
      first!.fate = () => "swallow";
      const placed = (way === "rest" ? session : session.stream).placeOrder({
        ...BID,
        margin: 1e6,
      });
      await expect(placed).rejects.toMatchObject({
        code: "insufficient_margin",
        outcome: "unknown",
      });
      expect(client.url).toBe(second!.url);
    }
  });

  test("socket that moves: frames once and in order, requests answered, nothing canceled", async () => {
    const gateways = await proxies(3);
    const client = await clientOf(gateways);
    const session = await newSession(client);
    const streamed: number[] = [];
    await session.stream.watchPreconfirms(({ seq }) => streamed.push(seq)).ready;
    await session.stream.cancelOnDisconnect(true);
    const placed: number[] = [];
    for (let move = 1; move <= 9; move++) {
      const { url } = gateways[move % 3]!;
      const inFlight = [session.stream.placeOrder(SMALL), session.stream.placeOrder(SMALL)];
      client.useGateway(url);
      for (const { ackNonce, replayed } of await Promise.all(inFlight)) {
        expect(replayed).toBe(false);
        placed.push(Number(ackNonce));
      }
      await eventually(() => session.stream.gateway).toBe(url);
    }
    await eventually(() => streamed.length).toBe(placed.length);
    expect(streamed).toEqual(placed.sort((a, b) => a - b));
    expect(await session.openOrders()).toHaveLength(placed.length);
  });

  test("socket that moves twice during one request: both old sockets are closed", async () => {
    const [first, second, third] = await proxies(3);
    const sockets: WebSocket[] = [];
    let isLosing = false;
    /** Loses messages while `isLosing`; the connection stays alive. */
    class Losing extends WebSocket {
      constructor(url: string) {
        super(url);
        sockets.push(this);
      }

      override emit(event: string | symbol, ...rest: unknown[]): boolean {
        return isLosing && event === "message" ? true : super.emit(event, ...rest);
      }
    }
    // The first socket is silent, and must not be left for that reason.
    const options = { WebSocket: Losing, heartbeatMs: 600_000 };
    const client = await clientOf([first!, second!, third!], options);
    const session = await newSession(client);
    await session.stream.watchPreconfirms(() => undefined).ready;
    isLosing = true;
    const controller = new AbortController();
    const call = { signal: controller.signal, timeoutMs: 600_000 };
    const inFlight = session.stream.placeOrder(SMALL, call);
    await eventually(() => session.openOrders()).toHaveLength(1);
    isLosing = false;
    for (const { url } of [second!, third!]) {
      client.useGateway(url);
      await eventually(() => session.stream.gateway).toBe(url);
    }
    const states = () => sockets.map(({ readyState }) => readyState);
    const { OPEN, CLOSED } = WebSocket;
    // The request may still be answered on the first one.
    expect(states()[0]).toBe(OPEN);
    controller.abort(new Error("not needed"));
    await expect(inFlight).rejects.toThrow("not needed");
    await eventually(states).toEqual([CLOSED, CLOSED, OPEN]);
  });

  test("socket that moves: watchTrades and watchBlocks report a gap", async () => {
    const [first, second] = await proxies(2);
    const client = await clientOf([first!, second!]);
    const problems: string[] = [];
    const onProblem = ({ kind, stream }: StreamProblem) => problems.push(`${stream} ${kind}`);
    await Promise.all(
      [
        client.stream.watchTrades("BTCUSD", () => undefined, { onProblem }),
        client.stream.watchBlocks(() => undefined, { onProblem }),
        client.stream.watchTicker("BTCUSD", () => undefined, { onProblem }),
        client.stream.watchCandles("BTCUSD", "1m", () => undefined, { onProblem }),
        client.stream.watchStatus(() => undefined, { onProblem }),
      ].map(({ ready }) => ready),
    );
    expect(problems).toEqual([]);
    client.useGateway(second!.url);
    await eventually(() => client.stream.gateway).toBe(second!.url);
    // Confirmed after the streams that moved.
    await client.stream.watchTicker("ETHUSD", () => undefined).ready;
    expect(problems.sort()).toEqual(["blocks gap", "trades.BTCUSD gap"]);
  });

  test("socket refused by a live gateway: nothing moves", async () => {
    const full = await startVenue({ sockets: { socketsPerAddress: 1 } });
    const holder = newClient(full);
    await holder.stream.watchBlocks(() => undefined).ready;
    const [first, second] = await Promise.all([
      CuttingProxy.before(full.url),
      CuttingProxy.before(full.url),
    ]);
    let dials = 0;
    class Counting extends WebSocket {
      constructor(url: string) {
        super(url);
        dials++;
      }
    }
    const client = await clientOf([first!, second!], { WebSocket: Counting });
    const moves: string[] = [];
    client.onGateway((url) => moves.push(url));
    const watch = client.stream.watchBlocks(() => undefined);
    await eventually(() => dials).toBeGreaterThan(3);
    expect(moves).toEqual([]);
    // One that is down is left.
    first!.isDown = true;
    first!.cutAll();
    await eventually(() => client.url).toBe(second!.url);
    holder.close();
    await watch.ready;
    expect(client.stream.gateway).toBe(second!.url);
  });

  test("socket refused by one gateway only: it alone goes to another, and back with the requests", async () => {
    const full = await startVenue({ sockets: { socketsPerAddress: 1 } });
    const holder = newClient(full);
    await holder.stream.watchBlocks(() => undefined).ready;
    const [first, second, third] = [
      await CuttingProxy.before(full.url),
      await CuttingProxy.before(full.url),
      await CuttingProxy.before(venue.url),
    ];
    const client = await clientOf([first, second, third]);
    const moves: string[] = [];
    client.onGateway((url) => moves.push(url));
    await client.stream.watchBlocks(() => undefined).ready;
    expect(client.stream.gateway).toBe(third.url);
    expect([client.url, moves]).toEqual([first.url, []]);
    // Lost, it goes to the gateway in use, which has a place now.
    holder.close();
    third.isDown = true;
    third.cutAll();
    await eventually(() => client.stream.gateway).toBe(first.url);
    expect(moves).toEqual([]);
  });

  test("socket refused by the gateway in use while another serves it: it stays there", async () => {
    const full = await startVenue({ sockets: { socketsPerAddress: 1 } });
    await newClient(full).stream.watchBlocks(() => undefined).ready;
    const [first, third] = await proxies(2);
    const second = await CuttingProxy.before(full.url);
    const dials: string[] = [];
    class Noting extends WebSocket {
      constructor(url: string) {
        super(url);
        dials.push(new URL(url).host);
      }
    }
    // The third is nearer than the first.
    const fetch = async (url: string, init: RequestLike) => {
      if (url.startsWith(first!.url)) await new Promise((resolve) => setTimeout(resolve, 100));
      return globalThis.fetch(url, init);
    };
    const client = await clientOf([first!, second, third!], { WebSocket: Noting, fetch });
    await client.stream.watchBlocks(() => undefined).ready;
    client.useGateway(second.url);
    await eventually(() => dials.length).toBeGreaterThan(2);
    expect(dials).not.toContain(new URL(third!.url).host);
    expect(client.stream.gateway).toBe(first!.url);
  });

  test("the next gateway of a refused socket: the one in use if it has not refused", () => {
    const [a, b, c] = ["http://a.test", "http://b.test", "http://c.test"] as const;
    const gateways = new Gateways([a, b, c], globalThis.fetch);
    gateways.use(c);
    expect(gateways.nextBut(new Set([a]))).toBe(c);
    expect(gateways.nextBut(new Set([c]))).toBe(a);
    gateways.lost(a);
    expect([gateways.isLost(a), gateways.isLost(b)]).toEqual([true, false]);
    expect(gateways.nextBut(new Set([c]))).toBe(b);
  });

  test("reads name the last position that the client has seen; requests of one gateway do not", async () => {
    const [first, second] = await proxies(2);
    const sent: (string | undefined)[] = [];
    const fetch = (url: string, init: RequestLike) => {
      sent.push(init.headers["perpgate-min-position"]);
      return globalThis.fetch(url, init);
    };
    const client = await clientOf([first!, second!], { fetch });
    const session = await newSession(client);
    const { ackNonce } = await session.stream.placeOrder(SMALL);
    sent.length = 0;
    await session.openOrders();
    expect(Number(sent[0])).toBeGreaterThanOrEqual(Number(ackNonce));
    const seen = Number(sent[0]);
    await session.stream.cancelOrder(ackNonce);
    sent.length = 0;
    await session.openOrders();
    expect(Number(sent[0])).toBeGreaterThan(seen);
    sent.length = 0;
    await newClient(venue, { fetch }).restore(session.save()).openOrders();
    expect(sent).toEqual([undefined]);
  });

  test("the venue is set up again at the same addresses: reads and sign-in go on", async () => {
    const old = await startVenue();
    const gateways = [await CuttingProxy.before(old.url), await CuttingProxy.before(old.url)];
    const client = await clientOf(gateways);
    const session = await newSession(client);
    await session.stream.watchOrders(() => undefined).ready;
    await session.stream.placeOrder(SMALL);
    await old.advance(20_000);
    await session.openOrders();
    const seen = old.venue.seq;
    const next = await startVenue();
    for (const gateway of gateways) {
      gateway.leadTo(next.url);
      gateway.cutAll();
    }
    expect(await client.markets()).not.toEqual([]);
    const again = await newSession(client);
    const { orderId } = await again.placeOrder(SMALL);
    expect((await again.openOrders()).map((order) => order.orderId)).toEqual([orderId]);
    expect(next.venue.seq).toBeLessThan(seen);
  });

  test("first request: one address refuses, the other is silent: not all its time is waited for", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const gateways = new Gateways(["http://refusing", "http://silent"], (url) =>
      url.startsWith("http://silent")
        ? new Promise(() => undefined)
        : Promise.reject(new TypeError("fetch failed")),
    );
    let isChosen = false;
    void gateways.chosen()?.then(() => {
      isChosen = true;
    });
    await vi.advanceTimersByTimeAsync(2_400);
    expect(isChosen).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(isChosen).toBe(true);
    expect(gateways.url).toBe("http://refusing");
  });

  test("gateways with a round trip of 1.3 s: the socket opens and stays", async () => {
    const gateways = await proxies(2);
    for (const gateway of gateways) gateway.delayMs = 650;
    const sent: string[] = [];
    let sockets = 0;
    class Noting extends WebSocket {
      constructor(url: string) {
        super(url);
        sockets++;
      }

      override send(text: string): void {
        sent.push(text);
        super.send(text);
      }
    }
    const url = gateways.map((gateway) => gateway.url);
    const client = newClient(venue, { url, WebSocket: Noting });
    const moves: string[] = [];
    const session = client.restore((await newSession(newClient(venue))).save());
    await session.stream.watchOrders(() => undefined).ready;
    client.onGateway((used) => moves.push(used));
    const pings = () => sent.filter((text) => text.includes("ping")).length;
    await eventually(pings).toBeGreaterThan(2);
    expect([sockets, moves]).toEqual([1, []]);
  });

  test("limits: a request that waits for that of a gateway is sent when another is used", async () => {
    const [first, second] = await proxies(2);
    let isLimited = false;
    const fetch = async (url: string, init: RequestLike) => {
      if (!isLimited || !url.startsWith(first!.url)) return globalThis.fetch(url, init);
      const body = { code: "rate_limited", message: "too many requests", requestId: "1" };
      return Response.json({ ...body, details: { retryAfterMs: 600_000 } }, { status: 429 });
    };
    const client = await clientOf([first!, second!], { fetch });
    isLimited = true;
    await expect(client.time()).rejects.toMatchObject({ code: "rate_limited" });
    const waiting = client.time({ signal: AbortSignal.timeout(20_000) });
    client.useGateway(second!.url);
    expect(await waiting).toBeGreaterThan(0);
  });

  test("not_executed, lagging: the next gateway gets the same request", async () => {
    const [first, second] = await proxies(2);
    let code = "";
    const refused: string[] = [];
    const fetch = async (url: string, init: RequestLike) => {
      if (code === "" || !url.startsWith(first!.url)) return globalThis.fetch(url, init);
      refused.push(`${code} ${init.method}`);
      return Response.json({ code, message: code, requestId: "1" }, { status: 503 });
    };
    const client = await clientOf([first!, second!], { fetch });
    const session = await newSession(client);
    for (code of ["not_executed", "outcome_unknown", "stopped"]) {
      client.useGateway(first!.url);
      const { replayed } = await session.placeOrder(SMALL);
      expect(replayed).toBe(false);
      expect(client.url).toBe(second!.url);
    }
    code = "lagging";
    client.useGateway(first!.url);
    expect(await session.openOrders()).toHaveLength(3);
    expect(refused).toEqual([
      "not_executed POST",
      "outcome_unknown POST",
      "stopped POST",
      "lagging GET",
    ]);
  });

  test("not_executed everywhere: tried for the budget, then refused; never unknown", async () => {
    const url = ["http://a.test", "http://b.test"];
    const answers: string[] = [];
    const fetch = async (at: string) => {
      answers.push(at);
      if (!at.endsWith("/orders")) return Response.json({ status: "ready" });
      const body = { code: "not_executed", message: "not executed", requestId: "1" };
      return Response.json(body, { status: 503 });
    };
    const real = await newSession(newClient(venue));
    const session = newClient(venue, { url, fetch, budgetMs: 1_500, retries: 1 }).restore(
      real.save(),
    );
    const failed = session.placeOrder(SMALL);
    await expect(failed).rejects.toMatchObject({ code: "not_executed", outcome: "refused" });
    const orders = answers.filter((at) => at.endsWith("/orders"));
    expect(orders.length).toBeGreaterThan(3);
    expect(new Set(orders).size).toBe(2);
  });
});
