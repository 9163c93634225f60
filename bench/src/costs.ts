/**
 * Processor time of the gateway per request, and the cost that its budget charges for it. A ratio
 * below 1 is work that a client gets for less than it costs. Work that is not for a client (ticks,
 * snapshots) is measured and subtracted; the kernel's time for sockets is left out.
 */
import { createPrivateKey } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { WRONG_SIGNATURE } from "./attacks/kinds/shared.js";
import { Connection } from "./harness/connection.js";
import { type Gateway, withGateway } from "./harness/gateway.js";
import { type Account, askOnce, signInMany } from "./harness/http.js";
import { parseOptions } from "./harness/options.js";
import { Report, repeat } from "./harness/report.js";
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

/** Sends one request after the other on each connection; returns how many were answered. */
async function send(port: number, status: number, next: () => Buffer): Promise<number> {
  const opening = Array.from({ length: CONNECTIONS }, () => Connection.open({ port }));
  const connections = await Promise.all(opening);
  const answers = repeat(options.number("seconds") * 1_000, CONNECTIONS, (path) =>
    answered(connections[path]!, next(), status),
  );
  const { count } = await answers.finally(() => {
    for (const connection of connections) connection.close();
  });
  return count;
}

/** Rejects if the answer has another status, or the connection is lost. */
function answered(connection: Connection, bytes: Buffer, expected = 200): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.onAnswer = (status, body) => {
      // A handler that resolves on a later turn lets the connection finish its read.
      if (status === expected) setImmediate(resolve);
      else reject(new Error(`answered ${status} ${body.toString("utf8", 0, 200)}`));
    };
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
  const get = (path: string) => () => request({ path });
  const getOwn = (path: string) => () => request({ path, token });
  const wrong = orderRequest(token, orderBody(1e9), WRONG_SIGNATURE);
  const kinds: readonly (readonly [name: string, next: () => Buffer, status?: number])[] = [
    ["GET /healthz", get("/healthz")],
    ["a path that does not exist", get("/nope"), 404],
    ["an order without a token", () => orderRequest("", "{}", WRONG_SIGNATURE), 401],
    ["an order with a wrong signature", () => wrong, 401],
    ["an order", order],
    ["cancel of an unknown order", () => cancelRequest(token, "999999999"), 404],
    ["cancel-all of nothing", () => post("/v1/orders/cancel-all")],
    ["GET /v1/auth/nonce", get("/v1/auth/nonce")],
    ["GET /v1/markets", get("/v1/markets")],
    ["GET book, depth 5000", get("/v1/markets/BTCUSD/book?depth=5000")],
    ["GET ticker", get("/v1/markets/BTCUSD/ticker")],
    ["GET trades, 1000", get("/v1/markets/BTCUSD/trades?limit=1000")],
    ["GET candles, 1000", get("/v1/markets/BTCUSD/candles?resolution=1m&limit=1000")],
    ["GET account", getOwn("/v1/account")],
    ["GET positions", getOwn("/v1/positions")],
    ["GET fills, 1000", getOwn("/v1/fills?limit=1000")],
    ["GET orders, 500 open", () => request({ path: "/v1/orders", token: maker!.token })],
    ["GET orders, all", getOwn("/v1/orders?status=all")],
    ["GET openapi.json", get("/v1/openapi.json")],
  ];
  for (const [name, next, status = 200] of kinds) {
    await report.step(name, async () => {
      const chargedBefore = await chargedSeconds(port);
      const before = gateway.processorMs;
      const startedMs = performance.now();
      const count = await send(port, status, next);
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
