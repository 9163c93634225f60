/**
 * The log stores signed bodies forever, so padding would buy space on the venue's disk: bodies longer
 * than an order can be are refused before the log.
 */

import { expect, test } from "vitest";
import { RawClient, rawOrder } from "../http/testing/raw-http.js";
import { ask } from "../testing/running-gateway.js";
import { StreamClient } from "../ws/testing/stream-client.js";
import { newFolder, type RunningVenue, runVenue } from "./testing/running-venue.js";
import { newSessionKey, Trader } from "./testing/trader.js";

const TOO_LONG = { code: "body_too_large", message: expect.stringContaining("4096") };
/** A media type that the lean path leaves to Fastify's route. */
const WITH_CHARSET = "application/json; charset=utf-8";

interface Answered {
  readonly status: number | undefined;
  readonly body: unknown;
}

/** The entry points of an order: the lean path, Fastify's route, a socket. */
const ENTRY_POINTS: Readonly<Record<string, (at: RunningVenue, trader: Trader) => Promise<Way>>> = {
  lean: async (at, trader) => async (text) => {
    const client = await RawClient.open(at.dial);
    return answered(await client.ask(rawOrder(text, headersOf(trader, text))));
  },
  route: async (at, trader) => async (text) => {
    const client = await RawClient.open(at.dial);
    return answered(await client.ask(rawOrder(text, headersOf(trader, text), WITH_CHARSET)));
  },
  socket: async (at, trader) => {
    const client = await StreamClient.connect(at.url, trader.token);
    // Answered once the log has the session as connected.
    await client.ask({ op: "auth", token: trader.token });
    return async (text) => {
      const sig = trader.signatureOf(text)["x-service-sig"] ?? "";
      const { t, d } = await client.ask({ op: "order", body: text, sig });
      return { status: t === "ok" ? 200 : undefined, body: d };
    };
  },
};
type Way = (text: string) => Promise<Answered>;

function headersOf(trader: Trader, text: string): Record<string, string> {
  return { ...trader.bearer(), ...trader.signatureOf(text) };
}

function answered({ status, body }: { status: number; body: string }): Answered {
  return { status, body: JSON.parse(body) };
}

/** The same value, padded to a length in bytes. */
function padded(value: object, bytes: number): string {
  const text = JSON.stringify(value);
  return `${text.slice(0, -1)}${" ".repeat(bytes - text.length)}}`;
}

test.each(Object.keys(ENTRY_POINTS))(
  "an order of 8 KiB by the %s: refused, and not in the log",
  async (name) => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const place = await ENTRY_POINTS[name]!(at, trader);
    const before = at.venue.seq;
    for (const bytes of [8_192, 4_097]) {
      const { status, body } = await place(padded(trader.limit("long", 60_000), bytes));
      if (name !== "socket") expect(status).toBe(413);
      expect(body).toMatchObject(TOO_LONG);
    }
    expect(at.venue.seq).toBe(before);
    expect((await place(padded(trader.limit("long", 60_000), 4_096))).status).toBe(200);
    expect(at.venue.seq).toBe(before + 1);
  },
);

test("8 KiB that are not an order: refused for their length, unparsed", async () => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  const text = padded({ ...trader.order(), margin: "5" }, 8_192);
  expect(await trader.placeText(text)).toMatchObject({ status: 413, body: TOO_LONG });
});

test("an order longer than a limit that was lowered since: its outcome is found by its nonce", async () => {
  const directory = newFolder();
  const generous = await runVenue({ directory, limits: { signedBytes: 65_536 } });
  const trader = await Trader.enter(generous);
  const order = trader.limit("long", 60_000);
  const text = padded(order, 8_192);
  const first = await trader.placeText(text);
  expect(first.status).toBe(200);
  await generous.stop();
  const at = await runVenue({ directory });
  const headers = { "content-type": "application/json", ...headersOf(trader, text) };
  const again = await ask(`${at.url}/v1/orders`, { method: "POST", headers, body: text });
  expect(again).toMatchObject({ status: 413, body: TOO_LONG });
  const found = await ask(`${at.url}/v1/orders?status=all&nonce=${order.nonce}`, { headers });
  expect(JSON.parse(found.text)).toMatchObject([{ orderId: first.body.orderId }]);
});

test("a rotation of 8 KiB: refused, and not in the log", async () => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  const before = at.venue.seq;
  const rotate = (body: string) => {
    const headers = { "content-type": "application/json", ...trader.bearer() };
    return ask(`${at.url}/v1/auth/rotate`, { method: "POST", headers, body });
  };
  const change = { newSessionKey: newSessionKey().publicHex };
  expect(await rotate(padded(change, 8_192))).toMatchObject({ status: 413, body: TOO_LONG });
  expect(await rotate(padded({ ...change, more: "x" }, 8_192))).toMatchObject({ status: 413 });
  expect(at.venue.seq).toBe(before);
  expect((await rotate(padded(change, 4_096))).status).toBe(200);
});

test("a socket's body of few characters and many bytes: counted in bytes, before it is parsed", async () => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  const client = await StreamClient.connect(at.url, trader.token);
  await client.ask({ op: "auth", token: trader.token });
  const body = JSON.stringify({ ...trader.order(), note: "é".repeat(2_100) });
  expect(body.length).toBeLessThan(4_096);
  const sig = trader.signatureOf(body)["x-service-sig"];
  expect((await client.ask({ op: "order", body, sig })).d).toMatchObject(TOO_LONG);
});
