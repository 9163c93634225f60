import { until } from "@perpgate/journal/testing";
import { expect, onTestFinished, test } from "vitest";
import { parseScenario, type SandboxOptions, startVenue } from "./index.js";

const BUY = {
  symbol: "BTCUSD",
  side: "long",
  type: "market",
  margin: 1_000,
  leverage: 10,
} as const;

async function started(options: SandboxOptions = {}) {
  const venue = await startVenue({ ...options, until: onTestFinished });
  return { venue, trader: await venue.trader() };
}

/** As it is on the wire: what `date` and ids differ in is left out. */
async function rawOrder(url: string, token: string): Promise<object> {
  const response = await fetch(`${url}/v1/orders`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ ...BUY, nonce: 1 }),
  });
  const headers = Object.fromEntries(response.headers);
  delete headers.date;
  const id = headers["x-request-id"] ?? "";
  return {
    status: response.status,
    headers: JSON.stringify(headers).replaceAll(id, "id"),
    body: (await response.text()).replaceAll(id, "id"),
  };
}

test("refuse rate_limited: the same status, headers and body as those of a venue with limits", async () => {
  const limited = await started({ limits: true });
  // The 201st within the burst; slower than the limit refills it would take for ever, so each costs one.
  // Requests may be refused for their cost before.
  const real = await until(async () => {
    const burst = Array.from({ length: 60 }, () =>
      rawOrder(limited.venue.url, limited.trader.token),
    );
    return (await Promise.all(burst)).find(
      (one) => "status" in one && one.status === 429 && JSON.stringify(one).includes("orders"),
    );
  });
  const { venue, trader } = await started();
  venue.faults.refuse("rate_limited", { next: 1 });
  const asked = await rawOrder(venue.url, trader.token);
  expect(shapeOf(asked)).toEqual(shapeOf(real));
});

/** Positions and the time to wait differ from moment to moment. */
function shapeOf(answer: object): string {
  return JSON.stringify(answer).replaceAll(/\d+/g, (digits) => (digits === "429" ? digits : "0"));
}

test("refuse: the next ones of an operation, and no more; nothing is executed", async () => {
  const { venue, trader } = await started();
  venue.faults.refuse("insufficient_margin", {
    next: 2,
    values: { maxMargin: 11.9 },
    field: "margin",
  });
  const refused = () => trader.placeOrder(BUY).catch((error: unknown) => error);
  for (let at = 0; at < 2; at++) {
    expect(await refused()).toMatchObject({ code: "insufficient_margin", field: "margin" });
  }
  expect(await trader.fills()).toEqual([]);
  expect(await trader.placeOrder(BUY)).toMatchObject({ status: "filled" });
});

test.each([
  ["soon", {}, "soon is no code of the error table"],
  ["insufficient_margin", {}, "give it in values"],
  ["siwe_nonce_used", {}, "an order is never refused with siwe_nonce_used"],
  ["overloaded", { operations: ["buy"] }, "no operation is called buy"],
  ["overloaded", { next: 0 }, "next is a number of requests above 0"],
])("refuse %s %j: %s", async (code, options, reason) => {
  const { venue } = await started({ liquidity: false });
  expect(() => venue.faults.refuse(code, options)).toThrow(reason);
});

test("loseAnswers: the order is executed once; the SDK's repetition gets its acknowledgement", async () => {
  const { venue, trader } = await started();
  venue.faults.loseAnswers();
  expect(await trader.placeOrder(BUY)).toMatchObject({ status: "filled" });
  expect(await trader.fills()).toHaveLength(1);
});

test("latency: a request takes that long, and is what it was once it ends", async () => {
  const { venue, trader } = await started();
  const took = async () => {
    const before = performance.now();
    await trader.account();
    return performance.now() - before;
  };
  venue.faults.latency({ ms: 300, jitter: 20 });
  expect(await took()).toBeGreaterThan(270);
  venue.faults.clear();
  expect(await trader.placeOrder(BUY)).toMatchObject({ status: "filled" });
});

test("dropSockets: a stream goes on after its reconnection without a gap", async () => {
  const { venue, trader } = await started();
  const seen: unknown[] = [];
  await trader.stream.watchPreconfirms((ack) => seen.push(ack.orderId)).ready;
  venue.faults.dropSockets();
  const { orderId } = await trader.placeOrder(BUY);
  await expect.poll(() => seen, { timeout: 30_000 }).toEqual([orderId]);
});

test("restartGateway: closed with 1001, time goes on, sessions stay", async () => {
  const { venue, trader } = await started();
  await trader.placeOrder({ ...BUY, stopLoss: { price: 64_000 } });
  const socket = new WebSocket(`${venue.url.replace("http", "ws")}/ws/v1`);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener("close", ({ code }) => resolve(code));
  });
  const before = venue.time;
  await venue.price("BTCUSD", 60_000, { within: "1s" });
  await venue.faults.restartGateway({ downFor: "10s" });
  expect(await closed).toBe(1001);
  expect(venue.time).toBe(before + 10_000);
  expect(await trader.positions()).toEqual([]);
  expect(await trader.placeOrder(BUY)).toMatchObject({ status: "filled" });
});

test("restart-gateway: connections are refused until it is over", async () => {
  const { venue } = await started();
  const answers: boolean[] = [];
  await venue.play(parseScenario("1s restart-gateway 2s\n4s end", "restart"), {
    each: async () => {
      const isOk = await fetch(`${venue.url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
      answers.push(isOk);
    },
  });
  expect(answers).toEqual([false, false, true, true]);
});

test("restarts that overlap: the gateway is away until the last of them ends, and what waits is answered then", async () => {
  const { venue } = await started();
  const answers: boolean[] = [];
  const both = "1s restart-gateway 10s\n2s restart-gateway 2s\n14s end";
  await venue.play(parseScenario(both, "both"), {
    each: async () => {
      answers.push(
        await fetch(`${venue.url}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
    },
  });
  expect(answers.map(Number).join("")).toBe("00000000001111");
  const before = venue.time;
  await Promise.all([
    venue.faults.restartGateway({ downFor: "10s" }),
    venue.faults.restartGateway({ downFor: "1s" }),
  ]);
  expect(venue.time).toBe(before + 10_000);
});

test("restarts that overlap in real time: both calls resolve once it is open again", async () => {
  const { venue } = await started({ time: { speed: 50 } });
  const before = venue.time;
  await Promise.all([
    venue.faults.restartGateway({ downFor: "10s" }),
    venue.faults.restartGateway({ downFor: "1s" }),
  ]);
  expect(venue.time).toBeGreaterThanOrEqual(before + 10_000);
});

test("a restart in manual time within a longer one of a scenario: resolves when that is over", async () => {
  const { venue } = await started();
  venue.beginPlay(parseScenario("0s restart-gateway 10s\n20s end", "restart"));
  await venue.advance("1s");
  await venue.faults.restartGateway({ downFor: "1s" });
  expect(await fetch(`${venue.url}/healthz`).then(({ ok }) => ok)).toBe(true);
});

test("saved while the gateway is away: it comes back when it is due, also from the saved moment", async () => {
  const { venue } = await started();
  const isUp = () =>
    fetch(`${venue.url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  venue.beginPlay(parseScenario("1s restart-gateway 4s\n6s end", "restart"));
  await venue.advance("2s");
  const saved = await venue.save();
  expect(await isUp()).toBe(false);
  await venue.advance("4s");
  expect(await isUp()).toBe(true);
  await venue.restore(saved);
  expect(await isUp()).toBe(false);
  await venue.advance("4s");
  expect(await isUp()).toBe(true);
});

test("restart-venue: sessions, orders and positions are as they were", async () => {
  const { venue, trader } = await started();
  await trader.placeOrder(BUY);
  const bid = await trader.placeOrder({ ...BUY, type: "limit", price: 60_000 });
  const before = await trader.positions();
  await venue.play(parseScenario("0s restart-venue\n1s restart-venue\n2s end", "restart"));
  expect(await trader.positions()).toEqual(before);
  expect((await trader.openOrders()).map(({ orderId }) => orderId)).toEqual([bid.orderId]);
  expect(await trader.placeOrder(BUY)).toMatchObject({ status: "filled" });
});
