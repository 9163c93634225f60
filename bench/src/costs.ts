/**
 * Processor time of the gateway per request, and the cost that its budget charges for it. A ratio
 * below 1 is work that a client gets for less than it costs. Work that is not for a client (ticks,
 * snapshots) is measured and subtracted; the kernel's time for sockets is left out.
 *
 *   npm run bench:costs [-- --help]
 */
import { createPrivateKey } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "./harness/connection.js";
import { type Gateway, withGateway } from "./harness/gateway.js";
import { type Account, askOnce, signInMany } from "./harness/http.js";
import { parseOptions } from "./harness/options.js";
import { Report } from "./harness/report.js";
import { cancelRequest, orderBody, orderRequest, request, signatureOf } from "./harness/wire.js";

const options = parseOptions({
  command: "bench:costs",
  about: "Processor time of each kind of request, compared with what the cost budget charges.",
  numbers: {
    seconds: ["seconds of each kind", 3, 1],
    rows: ["orders and trades in the history", 1_000, 1_000],
  },
});
const report = new Report("costs");
const CONNECTIONS = 4;
/** As many as an account may have in a market. */
const OPEN_ORDERS = 500;
const WRONG_SIGNATURE = Buffer.alloc(64, 7).toString("base64");

/** Sends one request after the other on each connection; returns how many were answered. */
async function repeat(port: number, untilMs: number, next: () => Buffer): Promise<number> {
  let requests = 0;
  const one = async (): Promise<void> => {
    const connection = await Connection.open({ port });
    while (performance.now() < untilMs) {
      await answered(connection, next());
      requests++;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  return requests;
}

function answered(connection: Connection, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    // A handler that resolves on a later turn lets the connection finish its read.
    connection.onAnswer = () => void setImmediate(resolve);
    connection.send(bytes);
  });
}

function signedOrders({ token, privateKeyPem }: Account, isResting = false): () => Buffer {
  const key = createPrivateKey(privateKeyPem);
  let nonce = 0;
  return () => {
    // Even nonces are long.
    nonce += isResting ? 2 : 1;
    const body = isResting ? orderBody(nonce, 60_000) : orderBody(nonce);
    return orderRequest(token, body, signatureOf(key, body));
  };
}

/** Seconds that were charged so far. Metrics are collected at most once a second. */
async function chargedSeconds(port: number): Promise<number> {
  await sleep(1_100);
  const { text } = await askOnce({ port }, "/metrics");
  return Number(/^perpgate_cost_seconds_total(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1]);
}

async function measure(gateway: Gateway): Promise<void> {
  const { port } = gateway;
  const [trader, other, maker] = await signInMany({ port }, 3);
  const { token } = trader!;
  const [order, otherOrder] = [signedOrders(trader!), signedOrders(other!)];
  const restingOrder = signedOrders(maker!, true);
  await report.step("history", async () => {
    const connection = await Connection.open({ port });
    for (let i = 0; i < options.number("rows"); i++) {
      await answered(connection, order());
      await answered(connection, otherOrder());
    }
    for (let i = 0; i < OPEN_ORDERS; i++) await answered(connection, restingOrder());
    connection.close();
  });
  const idleFrom = gateway.processorMs;
  await sleep(2_000);
  const idleMsPerSecond = (gateway.processorMs - idleFrom) / 2;
  const post = (path: string): Buffer =>
    request({ method: "POST", path, token, headers: { "content-length": "0" } });
  const kinds: readonly (readonly [string, () => Buffer])[] = [
    ["GET /healthz", () => request({ path: "/healthz" })],
    ["a path that does not exist", () => request({ path: "/nope" })],
    ["an order without a token", () => orderRequest("", "{}", WRONG_SIGNATURE)],
    ["an order with a wrong signature", () => orderRequest(token, orderBody(1e9), WRONG_SIGNATURE)],
    ["an order", order],
    ["cancel of an unknown order", () => cancelRequest(token, "999999999")],
    ["cancel-all of nothing", () => post("/v1/orders/cancel-all")],
    ["GET /v1/auth/nonce", () => request({ path: "/v1/auth/nonce" })],
    ["GET /v1/markets", () => request({ path: "/v1/markets" })],
    ["GET book, depth 5000", () => request({ path: "/v1/markets/BTCUSD/book?depth=5000" })],
    ["GET ticker", () => request({ path: "/v1/markets/BTCUSD/ticker" })],
    ["GET trades, 1000", () => request({ path: "/v1/markets/BTCUSD/trades?limit=1000" })],
    [
      "GET candles, 1000",
      () => request({ path: "/v1/markets/BTCUSD/candles?resolution=1m&limit=1000" }),
    ],
    ["GET account", () => request({ path: "/v1/account", token })],
    ["GET positions", () => request({ path: "/v1/positions", token })],
    ["GET fills, 1000", () => request({ path: "/v1/fills?limit=1000", token })],
    ["GET orders, 500 open", () => request({ path: "/v1/orders", token: maker!.token })],
    ["GET orders, all", () => request({ path: "/v1/orders?status=all", token })],
    ["GET openapi.json", () => request({ path: "/v1/openapi.json" })],
  ];
  for (const [name, next] of kinds) {
    await report.step(name, async () => {
      const chargedBefore = await chargedSeconds(port);
      const before = gateway.processorMs;
      const startedMs = performance.now();
      const count = await repeat(port, startedMs + options.number("seconds") * 1_000, next);
      const idleMs = (idleMsPerSecond * (performance.now() - startedMs)) / 1_000;
      const micros = (1_000 * (gateway.processorMs - before - idleMs)) / count;
      const charged = (await chargedSeconds(port)) - chargedBefore;
      const paid = (1e6 * charged) / count;
      report.add(name, micros, "µs", `charged ${Math.round(paid)} µs`, paid / micros);
    });
  }
}

await report.step("gateway", () => withGateway(measure));
report.print(options.has("json"));
