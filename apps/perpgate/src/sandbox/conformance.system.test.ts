/**
 * What a sandbox does to a client is what a venue does, byte for byte: the same script of requests, frames and broken
 * input is sent to a process of `perpgate serve` and to a sandbox. What they send back may differ in the fields
 * listed here alone: times, random ids, positions of the log, what is left of a limit.
 */

import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { startVenue } from "@perpgate/sandbox";
import { privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { expect, onTestFinished, test } from "vitest";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";

const ACCOUNT = privateKeyToAccount(`0x${"5e".repeat(32)}`);
/** An Ed25519 key of a fixed seed: its fingerprint is in refusals. */
const PKCS8 = Buffer.from(`302e020100300506032b657004220420${"7a".repeat(32)}`, "hex");
/** Dollars of each account that signs in to a testnet. */
const GRANT = 10_000;
const ANSWER_MS = 20_000;

/** Everything that the server sends until it ends the connection. */
function exchange(
  url: string,
  bytes: string | Uint8Array,
  onReceived: (received: Buffer, socket: Socket) => void = () => undefined,
): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = Buffer.alloc(0);
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error(`no end: ${received}`)));
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      onReceived(received, socket);
    });
    socket.on("error", (error) => {
      if ("code" in error && error.code === "ECONNRESET") resolve(received);
      else reject(error);
    });
    socket.on("close", () => resolve(received));
    socket.write(bytes);
  });
}

interface HttpRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

function requestText({ method = "GET", path, headers = {}, body }: HttpRequest): string {
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const all = { host: "venue.example", connection: "close", ...length, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${[`${method} ${path} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n${body ?? ""}`;
}

const JSON_TYPE = { "content-type": "application/json" };

/** A client whose key is the same at each start, and whose session the venue knows. */
class Client {
  token = "";
  private readonly key = createPrivateKey({ key: PKCS8, format: "der", type: "pkcs8" });

  constructor(readonly url: string) {}

  async enter(): Promise<void> {
    const { x = "" } = createPublicKey(this.key).export({ format: "jwk" });
    const message = createSiweMessage({
      domain: "localhost",
      uri: "http://localhost",
      address: ACCOUNT.address,
      chainId: 1,
      nonce: "conformance1",
      version: "1",
    });
    const body = JSON.stringify({
      message,
      signature: await ACCOUNT.signMessage({ message }),
      sessionKey: Buffer.from(x, "base64url").toString("hex"),
    });
    const options = { method: "POST", headers: JSON_TYPE, body };
    const answer = await fetch(`${this.url}/v1/auth/siwe`, options);
    const session: unknown = await answer.json();
    if (answer.status !== 200) throw new Error(JSON.stringify(session));
    this.token = String(Object(session).token);
  }

  bearer(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.token}` };
  }

  signed(path: string, body: string): HttpRequest {
    const digest = createHash("sha256").update(body).digest();
    const signature = sign(null, digest, this.key).toString("hex");
    const headers = { ...JSON_TYPE, ...this.bearer(), "x-service-sig": signature };
    return { method: "POST", path, headers, body };
  }
}

const ORDER = {
  symbol: "BTCUSD",
  side: "long",
  type: "limit",
  price: 60_000,
  size: 0.01,
  leverage: 5,
};

/** Requests by name; each is sent on a connection of its own. */
function requestsOf(client: Client): Readonly<Record<string, string>> {
  const order = (changes: object) =>
    requestText(client.signed("/v1/orders", JSON.stringify({ ...ORDER, nonce: 1, ...changes })));
  const post = (path: string, body: string, headers: object = {}) =>
    requestText({ method: "POST", path, body, headers: { ...JSON_TYPE, ...headers } });
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    requestText({ path, headers });
  return {
    "no such path": get("/v1/nothing"),
    "another method": requestText({ method: "DELETE", path: "/v1/markets" }),
    "a method that is none": requestText({ method: "BREW", path: "/v1/markets" }),
    head: requestText({ method: "HEAD", path: "/v1/markets/NONE" }),
    preflight: requestText({
      method: "OPTIONS",
      path: "/v1/orders",
      headers: { origin: "https://bot.example", "access-control-request-method": "POST" },
    }),
    "no such market": get("/v1/markets/NONE/book"),
    "a depth that is none": get("/v1/markets/BTCUSD/book?depth=x"),
    "a query twice": get("/v1/markets/BTCUSD/book?depth=1&depth=2"),
    "an unknown query": get("/v1/markets/BTCUSD/book?more=1"),
    "no token": get("/v1/account"),
    "a token that is none": get("/v1/account", { authorization: "Bearer nothing" }),
    "another scheme": get("/v1/account", { authorization: "Basic bm9ib2R5" }),
    "no json": post("/v1/orders", "{"),
    "json of another type": post("/v1/orders", "[]", client.bearer()),
    "a field twice": post("/v1/orders", '{"nonce":1,"nonce":1}', client.bearer()),
    "no content type": requestText({ method: "POST", path: "/v1/orders", body: "{}" }),
    "another content type": post("/v1/orders", "{}", { "content-type": "text/plain" }),
    "a body that is too long": post("/v1/orders", JSON.stringify({ more: "x".repeat(100_000) })),
    "no signature": post("/v1/orders", JSON.stringify({ ...ORDER, nonce: 1 }), client.bearer()),
    "a wrong signature": post("/v1/orders", JSON.stringify({ ...ORDER, nonce: 1 }), {
      ...client.bearer(),
      "x-service-sig": "ab".repeat(64),
    }),
    "a signature that is none": post("/v1/orders", "{}", {
      ...client.bearer(),
      "x-service-sig": "ab",
    }),
    "an unknown field": order({ more: 1 }),
    "a missing field": order({ side: undefined }),
    "a price off the tick": order({ price: 60_000.000_1 }),
    "a size off the lot": order({ size: 0.000_000_1 }),
    "another market": order({ symbol: "NONE" }),
    "no leverage like that": order({ leverage: 5_000 }),
    "without the money": order({ size: 100 }),
    "a nonce below zero": order({ nonce: -1 }),
    "no such order": get("/v1/orders/999999", client.bearer()),
    "a batch of nothing": requestText(
      client.signed("/v1/orders/batch", JSON.stringify({ nonce: 2, operations: [] })),
    ),
    "no orders": get("/v1/orders", client.bearer()),
    "no positions": get("/v1/positions", client.bearer()),
    "a cursor that is none": get("/v1/fills?before=x", client.bearer()),
    "a broken request line": "GET /v1/nothing\r\n\r\n",
    "no host": "GET /v1/nothing HTTP/1.1\r\nconnection: close\r\n\r\n",
    "a header without a colon": "GET /v1/nothing HTTP/1.1\r\nhost x\r\n\r\n",
    "two lengths": requestText({
      method: "POST",
      path: "/v1/orders",
      headers: { ...JSON_TYPE, "content-length": "2", "Content-Length": "3" },
      body: "{}",
    }),
    "a header that is too long": get("/v1/nothing", { "x-long": "x".repeat(100_000) }),
    "an upgrade without a key": get("/ws/v1", { connection: "upgrade", upgrade: "websocket" }),
    "an upgrade of another version": upgrade({ "sec-websocket-version": "12" }),
    "an upgrade elsewhere": upgrade({}, "/v1/nothing"),
    "an upgrade with a token that is none": upgrade({ authorization: "Bearer nothing" }),
  };
}

function upgrade(headers: Readonly<Record<string, string>> = {}, path = "/ws/v1"): string {
  return requestText({
    path,
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...headers,
    },
  });
}

/** A masked frame; the mask is zero, so that its bytes are those of the content. */
function frame(
  opcode: number,
  content: string | Uint8Array,
  { isMasked = true, fin = 0x80 } = {},
): Buffer {
  const bytes = Buffer.from(content);
  const length =
    bytes.length < 126 ? [bytes.length] : [126, bytes.length >> 8, bytes.length & 0xff];
  const [first = 0, ...rest] = length;
  const mask = isMasked ? [0, 0, 0, 0] : [];
  return Buffer.concat([
    Buffer.from([fin | opcode, first | (isMasked ? 0x80 : 0), ...rest, ...mask]),
    bytes,
  ]);
}

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const NORMAL_CLOSE = frame(CLOSE, Uint8Array.of(0x03, 0xe8));

/** Frames by name, sent after the upgrade, each when the one before is answered; a normal close follows those that do not end the socket. */
function framesOf(client: Client): Readonly<Record<string, readonly Buffer[]>> {
  const text = (message: unknown) => frame(TEXT, JSON.stringify(message));
  const order = JSON.stringify({ ...ORDER, nonce: 9 });
  return {
    "a normal close": [],
    "a ping": [frame(PING, "abc")],
    "no json": [frame(TEXT, "{")],
    "another type": [text([])],
    "no op": [text({ id: 1 })],
    "an unknown op": [text({ op: "nothing", id: "a" })],
    "an id that is none": [text({ op: "ping", id: {} })],
    "an unknown stream": [text({ op: "subscribe", id: 1, streams: ["nothing.BTCUSD"] })],
    "a stream of no market": [text({ op: "subscribe", id: 1, streams: ["book.NONE"] })],
    "no streams": [text({ op: "subscribe", id: 1, streams: [] })],
    "a private stream without a token": [text({ op: "subscribe", id: 1, streams: ["account"] })],
    "a token that is none": [text({ op: "auth", id: 1, token: "nothing" })],
    "an order without a token": [text({ op: "order", id: 1, body: order, sig: "ab".repeat(64) })],
    "an order with a wrong signature": [
      text({ op: "auth", id: 1, token: client.token }),
      text({ op: "order", id: 2, body: order, sig: "ab".repeat(64) }),
    ],
    "a cancel of no order": [
      text({ op: "auth", id: 1, token: client.token }),
      text({ op: "cancel", id: 2, orderId: "999999" }),
    ],
    "an unknown field": [text({ op: "ping", id: 1, more: 1 })],
    "a binary frame": [frame(BINARY, Uint8Array.of(0x80))],
    "no utf-8": [frame(TEXT, Uint8Array.of(0xff, 0xfe))],
    "a frame without a mask": [frame(TEXT, "{}", { isMasked: false })],
    "a reserved opcode": [frame(3, "")],
    "a reserved bit": [frame(TEXT, "{}", { fin: 0xc0 })],
    "a message that is too long": [frame(TEXT, "x".repeat(65_000))],
    "a ping that is too long": [frame(PING, "x".repeat(126))],
    "a close code that is none": [frame(CLOSE, Uint8Array.of(0x03, 0xed))],
    "a close of one byte": [frame(CLOSE, Uint8Array.of(0x03))],
    "a part that continues nothing": [frame(0, "{}")],
  };
}

/** What may differ. */
const DECLARED: readonly (readonly [RegExp, string])[] = [
  [/^date: .*$/gim, "date: …"],
  [/"requestId":"[^"]*"/g, '"requestId":"…"'],
  [/^x-request-id: .*$/gim, "x-request-id: …"],
  [/^perpgate-position: \d+/gim, "perpgate-position: …"],
  // What is left of a bucket, and when it fills: the policies are compared.
  [/^ratelimit: .*$/gim, "ratelimit: …"],
  [/(time\xcb)[\s\S]{8}/g, "$1…"],
  [/(\xa9requestId)[\xa0-\xbf\xd9][^\xa0-\xbf]*?(?=[\x80-\xbf]|$)/g, "$1…"],
];

/** As printable text. */
function undeclared(received: Buffer): string {
  const text = received.toString("latin1");
  const shown = DECLARED.reduce((rest, [pattern, name]) => rest.replace(pattern, name), text);
  return shown.replace(/[^\n -~…]/g, (each) => {
    return `<${each.charCodeAt(0).toString(16).padStart(2, "0")}>`;
  });
}

/** A connection that the server keeps after a whole answer. */
function endKept(received: Buffer, socket: Socket): void {
  const head = received.indexOf("\r\n\r\n");
  const lines = received.toString("latin1", 0, head);
  const length = Number(/^content-length: (\d+)$/im.exec(lines)?.[1] ?? 0);
  const isKept = /^connection: keep-alive$/im.test(lines);
  if (head >= 0 && isKept && received.length >= head + 4 + length) socket.end();
}

/** Whole frames of the server after its headers; −1 before them. */
function framesIn(received: Buffer): number {
  const head = received.indexOf("\r\n\r\n");
  if (head < 0) return -1;
  let count = 0;
  for (let at = head + 4; at + 2 <= received.length; count++) {
    const short = (received[at + 1] ?? 0) & 0x7f;
    at += short < 126 ? 2 + short : 4 + received.readUInt16BE(at + 2);
    if (at > received.length) break;
  }
  return count;
}

/** All answers of one venue, by the name of what was sent. */
async function answersOf(url: string): Promise<Map<string, string>> {
  const client = new Client(url);
  await client.enter();
  const answers = new Map<string, string>();
  for (const [name, bytes] of Object.entries(requestsOf(client))) {
    answers.set(name, undeclared(await exchange(url, bytes, endKept)));
  }
  for (const [name, frames] of Object.entries(framesOf(client))) {
    // One at a time: requests that are in flight together may be answered in any order.
    const turns = [...frames, NORMAL_CLOSE];
    const first = Buffer.concat([Buffer.from(upgrade()), ...turns.slice(0, frames.length && 1)]);
    let sent = frames.length && 1;
    const answer = await exchange(url, first, (received, socket) => {
      const next = turns[sent];
      if (next === undefined || framesIn(received) < sent) return;
      sent++;
      socket.write(next);
    });
    answers.set(`socket: ${name}`, undeclared(answer));
  }
  return answers;
}

/** What an open socket gets when its gateway stops. */
async function endOf(url: string, stop: () => unknown): Promise<string> {
  let isOpen = false;
  const received = await exchange(url, upgrade(), (bytes) => {
    if (isOpen || framesIn(bytes) < 0) return;
    isOpen = true;
    stop();
  });
  return undeclared(received);
}

test("a sandbox and a venue: the same errors, frames and closes", async () => {
  const file = configurationFile({ auth: { domains: ["localhost"] } });
  const data = join(temporaryFolder(), "data");
  const served = new PerpgateProcess(["--port", "0", "--config", file, "--data", data]);
  const sandbox = await startVenue({
    time: "real",
    limits: true,
    liquidity: false,
    grant: GRANT,
    until: onTestFinished,
  });
  const [venue, imitated] = [await answersOf(await served.url()), await answersOf(sandbox.url)];
  expect(venue.size).toBeGreaterThan(60);
  expect(Object.fromEntries(imitated)).toEqual(Object.fromEntries(venue));
  const ended = await endOf(await served.url(), () => served.signal("SIGTERM"));
  expect(ended).toMatch(/<88>\n<03><e9>stopping$/);
  expect(await endOf(sandbox.url, () => sandbox.faults.restartGateway())).toBe(ended);
}, 120_000);
