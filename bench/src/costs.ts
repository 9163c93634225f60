/**
 * What serving a client takes, next to what it is charged: processor time of the whole process per
 * request, and the cost that the gateway's table has for it. A ratio below 1 is work that a client
 * gets for less than it costs.
 *
 *   npm run bench:costs [-- --help]
 */
import { readdirSync, readFileSync } from "node:fs";
import { benchOptions } from "./options.js";
import { Connection } from "./orders/connection.js";
import { type Gateway, withGateway } from "./orders/gateway.js";
import { type SignedIn, signIn } from "./orders/sign-in.js";
import { orderBody, orderRequest, readRequest } from "./orders/wire.js";
import { Report } from "./report.js";

const options = benchOptions({
  command: "bench:costs",
  about: "Processor time of each kind of request, next to what the cost budget charges for it.",
  amounts: {
    seconds: { about: "seconds of each kind", full: 3, short: 1 },
    rows: { about: "orders and trades that lists have to show", full: 1_000, short: 1_000 },
  },
});
const report = new Report("costs", [
  "work that is not for a client: ticks, snapshots, which is measured and taken off",
  "the kernel's time for sockets, which counts for the process that it interrupts",
]);
const CONNECTIONS = 4;
const NS_PER_MICRO = 1_000;

/** Processor time of all threads of a process, in microseconds. */
function processorMicros(pid: number): number {
  let sum = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const [onProcessor = "0"] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(
      " ",
    );
    sum += Number(onProcessor) / NS_PER_MICRO;
  }
  return sum;
}

async function chargedMicros({ origin }: Gateway): Promise<number> {
  // Collected once a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const text = await (await fetch(`${origin}/metrics`)).text();
  return 1e6 * Number(/^perpgate_cost_seconds_total (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
}

interface Spent {
  readonly requests: number;
  readonly micros: number;
  readonly charged: number;
}

/** Sends one request after the other on each connection for so many seconds. */
async function spend(gateway: Gateway, next: () => Buffer): Promise<Spent> {
  const pid = gateway.child.pid ?? 0;
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => Connection.open(gateway.port)),
  );
  const charged = await chargedMicros(gateway);
  const before = processorMicros(pid);
  const until = performance.now() + options.amounts.seconds * 1_000;
  let requests = 0;
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((resolve) => {
          const send = (): void => {
            if (performance.now() >= until) {
              resolve();
              return;
            }
            connection.send(next(), () => {
              requests++;
              setImmediate(send);
            });
          };
          send();
        }),
    ),
  );
  const micros = processorMicros(pid) - before;
  for (const connection of connections) connection.close();
  return { requests, micros, charged: (await chargedMicros(gateway)) - charged };
}

/** Of a process that nobody asks anything, by the second. */
async function idleMicros(gateway: Gateway): Promise<number> {
  const pid = gateway.child.pid ?? 0;
  const before = processorMicros(pid);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  return (processorMicros(pid) - before) / 2;
}

function authorized(path: string, { token }: SignedIn, method = "GET"): Buffer {
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\ncontent-length: 0\r\n\r\n`,
  );
}

await withGateway(async (gateway) => {
  const trader = await signIn(gateway.origin);
  const { createPrivateKey } = await import("node:crypto");
  const signer = { token: trader.token, key: createPrivateKey(trader.privateKeyPem) };
  const other = await signIn(gateway.origin);
  const otherSigner = { token: other.token, key: createPrivateKey(other.privateKeyPem) };
  let nonce = 0;
  const order = (): Buffer => orderRequest(signer, orderBody(++nonce, 65_000));
  await report.step("a past", async () => {
    const connection = await Connection.open(gateway.port);
    const ask = (request: Buffer) =>
      new Promise<void>((resolve) => connection.send(request, () => resolve()));
    for (let i = 0; i < options.amounts.rows; i++) {
      await ask(order());
      await ask(orderRequest(otherSigner, orderBody(i * 2 + 1, 65_000)));
    }
    connection.close();
  });
  const idle = await idleMicros(gateway);
  const kinds: readonly (readonly [string, () => Buffer])[] = [
    ["GET /healthz", () => readRequest("/healthz")],
    ["a path that does not exist", () => readRequest("/nope")],
    ["an order without a token", () => orderRequest({ ...signer, token: "" }, "{}")],
    [
      "an order with a wrong signature",
      () => orderRequest(signer, orderBody(1e9, 65_000)).fill("A", 220, 230),
    ],
    ["an order", order],
    ["cancel of an unknown order", () => authorized("/v1/orders/999999999/cancel", trader, "POST")],
    ["cancel-all of nothing", () => authorized("/v1/orders/cancel-all", trader, "POST")],
    ["GET /v1/auth/nonce", () => readRequest("/v1/auth/nonce")],
    ["GET /v1/markets", () => readRequest("/v1/markets")],
    ["GET book, depth 5000", () => readRequest("/v1/markets/BTCUSD/book?depth=5000")],
    ["GET ticker", () => readRequest("/v1/markets/BTCUSD/ticker")],
    ["GET trades, 1000", () => readRequest("/v1/markets/BTCUSD/trades?limit=1000")],
    ["GET candles, 1000", () => readRequest("/v1/markets/BTCUSD/candles?resolution=1m&limit=1000")],
    ["GET account", () => authorized("/v1/account", trader)],
    ["GET positions", () => authorized("/v1/positions", trader)],
    ["GET fills, 1000", () => authorized("/v1/fills?limit=1000", trader)],
    ["GET orders, all", () => authorized("/v1/orders?status=all", trader)],
    ["GET openapi.json", () => readRequest("/v1/openapi.json")],
  ];
  for (const [name, next] of kinds) {
    await report.step(name, async () => {
      const { requests, micros, charged } = await spend(gateway, next);
      const each = (micros - idle * options.amounts.seconds) / requests;
      const paid = charged / requests;
      report.add(name, each, "µs", `charged ${Math.round(paid)} µs`, paid / each);
    });
  }
});
report.print(options.json);
