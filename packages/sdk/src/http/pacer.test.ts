import { describe, expect, test } from "vitest";
import { BID, eventually, newClient, newSession, startVenue } from "../testing/venue.js";
import { limitStateOf, retryAfterMsOf } from "./limit-headers.js";
import { Pacer } from "./pacer.js";

const SMALL = { ...BID, margin: 10 };

describe("limits", () => {
  test("more concurrent orders than the limit: all placed, hardly any refused by the server", async () => {
    const at = await startVenue({ limits: { ordersPerSecond: 100, ordersBurst: 20 } });
    const session = await newSession(newClient(at));
    const acks = await Promise.all(Array.from({ length: 120 }, () => session.placeOrder(SMALL)));
    expect(new Set(acks.map(({ orderId }) => orderId)).size).toBe(120);
    const refused = at.logLines.filter((line) => line.includes('"status":429')).length;
    expect(refused).toBeLessThan(20);
  });

  test("without pacing: refused with Retry-After, then placed", async () => {
    const at = await startVenue({ limits: { ordersPerSecond: 4, ordersBurst: 1 } });
    const session = await newSession(newClient(at, { pacing: false }));
    const acks = await Promise.all(Array.from({ length: 6 }, () => session.placeOrder(SMALL)));
    expect(new Set(acks.map(({ orderId }) => orderId)).size).toBe(6);
    expect(at.logLines.some((line) => line.includes('"status":429'))).toBe(true);
  });

  test("over the socket: the same limit, the same waiting", async () => {
    const at = await startVenue({ limits: { ordersPerSecond: 50, ordersBurst: 5 } });
    const session = await newSession(newClient(at));
    const acks = await Promise.all(
      Array.from({ length: 30 }, () => session.stream.placeOrder(SMALL)),
    );
    expect(new Set(acks.map(({ orderId }) => orderId)).size).toBe(30);
  });

  test("reads of two accounts through one client: neither waits for the other's limit", async () => {
    const at = await startVenue({ limits: { accountReadsPerSecond: 0.02, accountReadsBurst: 1 } });
    const client = newClient(at);
    const [spent, fresh] = [await newSession(client), await newSession(client)];
    await spent.account();
    const giveUp = new AbortController();
    let isAnswered = false;
    const second = spent.account({ signal: giveUp.signal }).then(() => {
      isAnswered = true;
    });
    await fresh.account();
    expect(isAnswered).toBe(false);
    giveUp.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
  });

  test("a limit that others use up: 429 is reported when the budget ends", async () => {
    const at = await startVenue({ limits: { ordersPerSecond: 0.1, ordersBurst: 1 } });
    const session = await newSession(newClient(at, { budgetMs: 500 }));
    await session.placeOrder(SMALL);
    await expect(
      newClient(at).restore(session.save()).placeOrder(SMALL, { budgetMs: 500 }),
    ).rejects.toMatchObject({
      code: "rate_limited",
      status: 429,
      retryAfterMs: expect.any(Number),
      outcome: "refused",
    });
  });

  test("messages faster than the socket allows: slowed down, all answered", async () => {
    const at = await startVenue({ sockets: { messagesPerSecond: 50, messagesBurst: 40 } });
    const client = newClient(at, {
      messagesPerSecond: 1e6,
      timeoutMs: 1_000,
      retries: 50,
      budgetMs: 50_000,
    });
    const session = await newSession(client);
    const acks = await Promise.all(
      Array.from({ length: 64 }, () => session.stream.placeOrder(SMALL)),
    );
    expect(new Set(acks.map(({ orderId }) => orderId)).size).toBe(64);
  });
});

describe("limit headers", () => {
  const headersOf = (fields: Record<string, string>) => new Headers(fields);

  test("limitStateOf: the gateway's headers", () => {
    const headers = headersOf({
      "ratelimit-policy": '"orders";q=200;w=2',
      ratelimit: '"orders";r=187;t=1',
    });
    expect(limitStateOf(headers)).toEqual({
      name: "orders",
      burst: 200,
      perSecond: 100,
      remaining: 187,
    });
  });

  test("limitStateOf: anything else is no limit", () => {
    const wrong: [string, string][] = [
      ['"orders";q=200;w=0', '"orders";r=1;t=1'],
      ['"orders";q=0;w=2', '"orders";r=1;t=1'],
      ['"orders";q=200;w=2', '"reads";r=1;t=1'],
      ['"orders";q=200', '"orders";r=1;t=1'],
      ["orders", "orders"],
      ["", ""],
    ];
    for (const [policy, state] of wrong) {
      const headers = headersOf({ "ratelimit-policy": policy, ratelimit: state });
      expect(limitStateOf(headers), policy).toBeUndefined();
    }
    expect(limitStateOf(headersOf({}))).toBeUndefined();
  });

  test("retryAfterMsOf: seconds or a date", () => {
    expect(retryAfterMsOf(headersOf({ "retry-after": "3" }))).toBe(3_000);
    expect(
      retryAfterMsOf(
        headersOf({ "retry-after": "Thu, 01 Jan 2026 00:00:05 GMT" }),
        Date.parse("2026-01-01T00:00:00Z"),
      ),
    ).toBe(5_000);
    expect(retryAfterMsOf(headersOf({ "retry-after": "Thu, 01 Jan 2026 00:00:00 GMT" }))).toBe(0);
    expect(retryAfterMsOf(headersOf({ "retry-after": "soon" }))).toBeUndefined();
    expect(retryAfterMsOf(headersOf({}))).toBeUndefined();
  });
});

describe("Pacer", () => {
  /** Sends that wait to be let go. */
  function gated() {
    const started: number[] = [];
    const release: (() => void)[] = [];
    const send = (name: number) => () =>
      new Promise<void>((resolve) => {
        started.push(name);
        release.push(resolve);
      });
    return { started, release, send };
  }

  test("few in flight until the limit is known, then all", async () => {
    const pacer = new Pacer(30);
    const { started, release, send } = gated();
    const all = Array.from({ length: 40 }, (_, name) => pacer.run(undefined, send(name)));
    await eventually(() => started.length).toBe(16);
    pacer.learn({ name: "x", burst: 100, perSecond: 1e6, remaining: 100 });
    release.shift()?.();
    await eventually(() => started.length).toBe(31);
    expect(started).toEqual(Array.from({ length: 31 }, (_, name) => name));
    while (release.length > 0 || started.length < 40) {
      release.shift()?.();
      await Promise.resolve();
    }
    await Promise.all(all);
  });

  test("aborted in the queue: leaves it, the others keep their order", async () => {
    const pacer = new Pacer(1);
    const { started, release, send } = gated();
    const controller = new AbortController();
    const first = pacer.run(undefined, send(0));
    const second = pacer.run(controller.signal, send(1));
    const third = pacer.run(undefined, send(2));
    controller.abort(new Error("no"));
    await expect(second).rejects.toThrow("no");
    release.shift()?.();
    await first;
    await eventually(() => started).toEqual([0, 2]);
    release.shift()?.();
    await third;
  });

  test("a send that throws: frees its slot", async () => {
    const pacer = new Pacer(1);
    await expect(pacer.run(undefined, () => Promise.reject(new Error("x")))).rejects.toThrow("x");
    expect(await pacer.run(undefined, async () => 7)).toBe(7);
  });
});
