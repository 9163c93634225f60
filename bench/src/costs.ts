/**
 * Processor time of the gateway per request, and the cost that its budget charges for it. A ratio
 * below 1 is work that a client gets for less than it costs. Work that is not for a client (ticks,
 * snapshots) is measured and subtracted; the kernel's time for sockets is left out.
 */
import { createPrivateKey } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { DEEP_ARRAYS, filled, LONG_EXPONENT, manyKeys } from "./attacks/kinds/json.js";
import { WRONG_SIGNATURE } from "./attacks/kinds/shared.js";
import { RawConnection } from "./harness/connection.js";
import { type BenchGateway, withGateway } from "./harness/gateway.js";
import { askOnce, type BenchAccount, signIn, signInMany } from "./harness/http.js";
import { parseOptions } from "./harness/options.js";
import { Report, repeat } from "./harness/report.js";
import {
  cancelRequest,
  message,
  orderBody,
  orderRequest,
  request,
  signatureOf,
} from "./harness/wire.js";

const options = parseOptions({
  command: "npm run bench -- costs",
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

/** New code is compiled while it runs: each kind is sent for this long before it is measured. */
const WARM_UP_MS = 300;
const PADDED_BYTES = 4_000;
const MESSAGE_BYTES = 61_440;

/** One kind of request, or of message. */
interface Kind {
  readonly name: string;
  readonly next: () => Buffer;
  readonly status?: number;
  /** Its connections are sockets, of a session if there is a token. */
  readonly socket?: { readonly token?: string };
}

/** Sends one request after the other on each connection; returns how many were answered. */
async function send(port: number, { status = 200, next, socket }: Kind, ms: number) {
  const opening = Array.from({ length: CONNECTIONS }, () => RawConnection.open({ port }, socket));
  const connections = await Promise.all(opening);
  const answers = repeat(ms, CONNECTIONS, (path) => answered(connections[path]!, next(), status));
  const { count } = await answers.finally(() => {
    for (const connection of connections) connection.close();
  });
  return count;
}

/** Rejects if the answer has another status, or the connection is lost. */
function answered(connection: RawConnection, bytes: Buffer, expected = 200): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.onAnswer = (status, body) => {
      // A handler that resolves on a later turn lets the connection finish its read.
      if (status === expected) setImmediate(resolve);
      else reject(new Error(`answered ${status} ${body.toString("utf8", 0, 200)}`));
    };
    connection.send(bytes);
  });
}

function signedOrders(
  { token, privateKeyPem }: BenchAccount,
  { isResting = false, padTo = 0, isMessage = false } = {},
): () => Buffer {
  const key = createPrivateKey(privateKeyPem);
  let nonce = 0;
  return () => {
    // Even nonces are long.
    nonce += isResting ? 2 : 1;
    const body = orderBody(nonce, isResting ? 60_000 : undefined).padEnd(padTo, " ");
    const sig = signatureOf(key, body);
    return isMessage ? message({ op: "order", body, sig }) : orderRequest(token, body, sig);
  };
}

/** The messages of strangers and of a session. */
function socketKinds(account: BenchAccount, secp: BenchAccount): readonly Kind[] {
  const { token } = account;
  const refused = (name: string, text: string | object): Kind => {
    const bytes = message(text);
    return { name: `message: ${name}`, next: () => bytes, status: 400, socket: {} };
  };
  const auth = message({ op: "auth", token });
  const wrong = message({ op: "order", body: orderBody(1e9), sig: WRONG_SIGNATURE });
  const orders = signedOrders(account, { isMessage: true });
  return [
    refused("an unknown operation", { op: "nothing" }),
    refused("60 KB of open arrays", filled("", "[", "", MESSAGE_BYTES)),
    refused("60 KB of deep arrays", DEEP_ARRAYS),
    refused("60 KB of an exponent", LONG_EXPONENT),
    refused("60 KB of keys", manyKeys(MESSAGE_BYTES)),
    refused("60 KB of white space", filled("", " ", "1", MESSAGE_BYTES)),
    refused("60 KB of a string", filled('{"op":"', "a", '"}', MESSAGE_BYTES)),
    { name: "message: auth again", next: () => auth, socket: { token } },
    { name: "message: an order", next: orders, socket: { token } },
    {
      name: "message: a wrong secp256k1 signature",
      next: () => wrong,
      status: 400,
      socket: { token: secp.token },
    },
  ];
}

/** Seconds that were charged so far. Metrics are collected at most once a second. */
async function chargedSeconds(port: number): Promise<number> {
  await sleep(1_100);
  const { text } = await askOnce({ port }, "/metrics");
  return Number(/^perpgate_cost_seconds_total(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1]);
}

async function measure(gateway: BenchGateway): Promise<void> {
  const { port } = gateway;
  const [trader, other, maker, padder, caller] = await signInMany({ port }, 5);
  const secp = await signIn({ port }, { keyKind: "secp256k1" });
  const { token } = trader!;
  const [order, otherOrder] = [signedOrders(trader!), signedOrders(other!)];
  const restingOrder = signedOrders(maker!, { isResting: true });
  await report.step("history", async () => {
    const connection = await RawConnection.open({ port });
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
  const kind = (name: string, next: () => Buffer, status = 200): Kind => ({ name, next, status });
  const wrongSecp = orderRequest(secp.token, orderBody(1e9), WRONG_SIGNATURE);
  const kinds: readonly Kind[] = [
    kind("GET /healthz", get("/healthz")),
    kind("a path that does not exist", get("/nope"), 404),
    kind("an order without a token", () => orderRequest("", "{}", WRONG_SIGNATURE), 401),
    kind("an order with a wrong signature", () => wrong, 401),
    kind("an order with a wrong secp256k1 signature", () => wrongSecp, 401),
    kind("an order", order),
    kind("an order, secp256k1", signedOrders(secp)),
    kind("an order of 4 KB", signedOrders(padder!, { padTo: PADDED_BYTES })),
    kind("cancel of an unknown order", () => cancelRequest(token, "999999999"), 404),
    kind("cancel-all of nothing", () => post("/v1/orders/cancel-all")),
    kind("GET /v1/auth/nonce", get("/v1/auth/nonce")),
    kind("GET /v1/markets", get("/v1/markets")),
    kind("GET book, depth 5000", get("/v1/markets/BTCUSD/book?depth=5000")),
    kind("GET ticker", get("/v1/markets/BTCUSD/ticker")),
    kind("GET trades, 1000", get("/v1/markets/BTCUSD/trades?limit=1000")),
    kind("GET candles, 1000", get("/v1/markets/BTCUSD/candles?resolution=1m&limit=1000")),
    kind("GET account", getOwn("/v1/account")),
    kind("GET positions", getOwn("/v1/positions")),
    kind("GET fills, 1000", getOwn("/v1/fills?limit=1000")),
    kind("GET orders, 500 open", () => request({ path: "/v1/orders", token: maker!.token })),
    kind("GET orders, all", getOwn("/v1/orders?status=all")),
    kind("GET openapi.json", get("/v1/openapi.json")),
    ...socketKinds(caller!, secp),
  ];
  for (const each of kinds) await send(port, each, WARM_UP_MS);
  for (const each of kinds) {
    const { name } = each;
    await report.step(name, async () => {
      const chargedBefore = await chargedSeconds(port);
      const before = gateway.processorMs;
      const startedMs = performance.now();
      const count = await send(port, each, options.number("seconds") * 1_000);
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
