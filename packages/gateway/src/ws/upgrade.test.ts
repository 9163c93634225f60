/** Upgrades: which are refused, how, and the address they count for. */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "@perpgate/protocol/core";
import { listening } from "@perpgate/protocol/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { refuseUpgrade } from "../http/refuse-directly.js";
import { readUntilClose } from "../testing/running-gateway.js";
import { type RunningVenue, runVenue, type VenueChanges } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { fieldsOf, type Payload, StreamClient } from "./testing/stream-client.js";

interface UpgradeAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Payload;
}

type Headers = Readonly<Record<string, string>>;

function requestOf(headers: Headers): string {
  const all = {
    host: "venue.example:8080",
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `GET /ws/v1 HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
}

/** Asks for a socket; one that is granted stays open until the test ends. */
async function upgrade(at: RunningVenue, headers: Headers = {}): Promise<UpgradeAnswer> {
  const socket = await at.dial();
  const granted = new Promise<string>((resolve) => {
    socket.once("data", (chunk: Buffer) => {
      if (chunk.toString("latin1").startsWith("HTTP/1.1 101")) resolve(chunk.toString("latin1"));
    });
  });
  const refused = readUntilClose(socket);
  socket.write(requestOf(headers));
  return answerOf(await Promise.race([granted, refused]));
}

function answerOf(text: string): UpgradeAnswer {
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  return {
    status: Number(statusLine.split(" ")[1]),
    headers: new Map(
      lines.map((line) => {
        const at = line.indexOf(":");
        return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
      }),
    ),
    body: body.startsWith("{") ? fieldsOf(JSON.parse(body)) : {},
  };
}

describe("a refused upgrade", () => {
  test("too many sockets: 429 with Retry-After, in the shape of every error", async () => {
    const at = await runVenue({ sockets: { socketsPerAddress: 1, pingIntervalMs: 20_000 } });
    expect((await upgrade(at)).status).toBe(101);
    const { status, headers, body } = await upgrade(at);
    expect([status, body.code]).toEqual([429, "too_many_sockets"]);
    // By then a silent socket has been closed.
    expect(headers.get("retry-after")).toBe("20");
    expect(headers.get("x-request-id")).toBe(body.requestId);
  });

  test("sockets for a session with cancel-on-disconnect, too often: 429 with Retry-After", async () => {
    const at = await runVenue({ sockets: { socketsPerAddress: 1_000 } });
    const trader = await Trader.enter(at);
    const client = await StreamClient.connect(at.url, trader.token);
    await client.ask({ op: "session", cancelOnDisconnect: true });
    // Far more than the bucket refills meanwhile, even on a slow machine.
    const answers = await Promise.all(
      Array.from({ length: 400 }, () => upgrade(at, trader.bearer())),
    );
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    for (const { headers, body } of limited) {
      expect(body).toMatchObject({ code: "rate_limited", details: { limit: "sockets" } });
      expect(headers.get("retry-after")).toBe("1");
    }
  });

  test("a header without a bearer token, or with an unknown one: 401, without Retry-After", async () => {
    const at = await runVenue();
    const cases = { "Basic abc": "token_required", "Bearer no-such-token": "invalid_token" };
    for (const [authorization, code] of Object.entries(cases)) {
      const { status, headers, body } = await upgrade(at, { authorization });
      expect([status, body.code]).toEqual([401, code]);
      expect(headers.has("retry-after")).toBe(false);
    }
  });
});

describe("the address that a socket counts for", () => {
  /** One socket and no more, by each address. */
  async function statuses(server: VenueChanges["server"], forwarded: readonly string[]) {
    const at = await runVenue({ sockets: { socketsPerAddress: 1 }, ...(server && { server }) });
    const seen: number[] = [];
    for (const address of forwarded) {
      seen.push((await upgrade(at, { "x-forwarded-for": address })).status);
    }
    return seen;
  }

  test("no proxy is trusted: forwarding headers count for nothing", async () => {
    expect(await statuses(undefined, ["1.1.1.1", "2.2.2.2"])).toEqual([101, 429]);
  });

  test("one hop is trusted: the address it names counts, what the client wrote before it does not", async () => {
    const forwarded = ["1.1.1.1", "2.2.2.2", "9.9.9.9, 1.1.1.1", "2001:db8::1", "2001:db8::2"];
    expect(await statuses({ trustProxy: 1 }, forwarded)).toEqual([101, 101, 429, 101, 429]);
  });

  test("listed proxies are trusted: others are taken for clients", async () => {
    const forwarded = ["1.1.1.1", "2.2.2.2"];
    expect(await statuses({ trustProxy: ["127.0.0.0/8"] }, forwarded)).toEqual([101, 101]);
    expect(await statuses({ trustProxy: ["10.0.0.1"] }, forwarded)).toEqual([101, 429]);
  });
});

describe("the origin of a socket", () => {
  test("by default: any, and none", async () => {
    const at = await runVenue();
    expect((await upgrade(at)).status).toBe(101);
    expect((await upgrade(at, { origin: "https://anyone.example" })).status).toBe(101);
  });

  test("with a list: those pages, the gateway's own, and clients without Origin", async () => {
    const at = await runVenue({ server: { origins: ["https://app.example"] } });
    const allowed = ["https://app.example", "http://venue.example:8080"];
    for (const origin of allowed) expect((await upgrade(at, { origin })).status, origin).toBe(101);
    expect((await upgrade(at)).status).toBe(101);
    // A proxy that terminates TLS in front of it, on the default port.
    const own = { host: "venue.example:443", origin: "https://venue.example" };
    expect((await upgrade(at, own)).status).toBe(101);
    const others = [
      "https://evil.example",
      "http://app.example",
      "https://app.example:8443",
      "https://app.example.evil.example",
      "http://venue.example",
      "null",
      "",
      "venue.example:8080",
    ];
    for (const origin of others) {
      const { status, body } = await upgrade(at, { origin });
      expect([status, body.code], origin).toEqual([403, "origin_not_allowed"]);
    }
    expect(at.streamFaults).toEqual([]);
  });
});

describe("an upgrade behind another request in the same read", () => {
  const H2C = requestOf({ upgrade: "h2c" }).replace("/ws/v1", "/healthz");
  const SOCKET = requestOf({});
  const GET = "GET /healthz HTTP/1.1\r\nhost: venue.example\r\n\r\n";

  test.each([
    ["a socket behind a read", GET + SOCKET, ["200"]],
    ["a socket behind an offer that is ignored", H2C + SOCKET, ["200"]],
    ["several offers that are ignored", H2C.repeat(5), ["200"]],
    ["a request behind a socket", SOCKET + GET, ["101"]],
  ])("%s, then the client ends: one answer, and closed", async (_, bytes, statuses) => {
    const at = await runVenue();
    const socket = await at.dial();
    const received = readUntilClose(socket);
    socket.end(bytes);
    const found = (await received).match(/HTTP\/1\.1 \d{3}/g) ?? [];
    expect(found.map((line) => line.slice(-3))).toEqual(statuses);
  });
});

test("refuseUpgrade: a client that has reset its connection: no unhandled error", async () => {
  const server = createServer({ pauseOnConnect: true });
  onTestFinished(() => void server.close());
  const port = await listening(server);
  const accepted = once(server, "connection");
  const client = connect(port, "127.0.0.1");
  await once(client, "connect");
  const [socket]: Socket[] = await accepted;
  if (socket === undefined) throw new Error("not accepted");
  client.resetAndDestroy();
  await once(client, "close");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  refuseUpgrade(socket, new ApiError("stopped", {}));
  expect(await closed).toBe(true);
});

describe("a client that resets its connection", () => {
  const FAR = "9999999999999999";

  /** Sends the text, resets the connection, and returns the errors that nobody handled. */
  async function unhandledAfterReset(text: string): Promise<unknown[]> {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    const at = await runVenue();
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", note);
    try {
      const socket = await at.dial();
      socket.write(text);
      // The request is read, and its position is awaited for a second.
      await sleep(200);
      socket.resetAndDestroy();
      await sleep(300);
      expect((await upgrade(at)).status).toBe(101);
    } finally {
      process.off("uncaughtException", note);
      for (const other of others) process.on("uncaughtException", other);
    }
    return unhandled;
  }

  test("while its upgrade waits for a position: no unhandled error", async () => {
    const text = requestOf({ "perpgate-min-position": FAR });
    expect(await unhandledAfterReset(text)).toEqual([]);
  });

  test("while its upgrade is behind a request that waits: no unhandled error", async () => {
    const waiting = `GET /healthz HTTP/1.1\r\nhost: x\r\nperpgate-min-position: ${FAR}\r\n\r\n`;
    expect(await unhandledAfterReset(waiting + requestOf({}))).toEqual([]);
  });
});
