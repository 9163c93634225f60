/**
 * The log keeps what a session key has signed, byte for byte, for ever. So padding would be room on
 * the venue's disk for a fraction of a cent: what is longer than an order can be never gets there.
 */

import { expect, test } from "vitest";
import { RawClient, rawOrder } from "../http/front/testing/raw-http.js";
import { ask } from "../testing/running-gateway.js";
import { StreamClient } from "../ws/testing/stream-client.js";
import { newFolder, type RunningVenue, runVenue } from "./testing/running-venue.js";
import { newSessionKey, Trader } from "./testing/trader.js";

const TOO_LONG = { code: "body_too_large", message: expect.stringContaining("4096") };
/** A header that no plain request has, and a type that is not the plain one. */
const UNLISTED = { "x-unlisted": "1" };
const WITH_CHARSET = "application/json; charset=utf-8";

interface Answered {
  readonly status: number | undefined;
  readonly body: unknown;
}

/** Every way that an order can come: the front, the lane, the framework's route, a socket. */
const WAYS: Readonly<Record<string, (at: RunningVenue, trader: Trader) => Promise<Way>>> = {
  front: async (at, trader) => {
    const client = await RawClient.open(at.dial);
    return async (text) => answered(await client.ask(rawOrder(text, headersOf(trader, text))));
  },
  lane: async (at, trader) => {
    const client = await RawClient.open(at.dial);
    return async (text) =>
      answered(await client.ask(rawOrder(text, { ...headersOf(trader, text), ...UNLISTED })));
  },
  route: async (at, trader) => async (text) => {
    const client = await RawClient.open(at.dial);
    return answered(await client.ask(rawOrder(text, headersOf(trader, text), WITH_CHARSET)));
  },
  socket: async (at, trader) => {
    const client = await StreamClient.connect(at.url, trader.token);
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

/** The same value in so many bytes. */
function padded(value: object, bytes: number): string {
  const text = JSON.stringify(value);
  return `${text.slice(0, -1)}${" ".repeat(bytes - text.length)}}`;
}

test.each(Object.keys(WAYS))(
  "an order of 8 KiB by the %s: refused, and not in the log",
  async (name) => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const place = await WAYS[name]!(at, trader);
    const before = at.venue.position;
    for (const bytes of [8_192, 4_097]) {
      const { status, body } = await place(padded(trader.limit("long", 60_000), bytes));
      if (name !== "socket") expect(status).toBe(413);
      expect(body).toMatchObject(TOO_LONG);
    }
    expect(at.venue.position).toBe(before);
    expect((await place(padded(trader.limit("long", 60_000), 4_096))).status).toBe(200);
    expect(at.venue.position).toBe(before + 1);
  },
);

test("an order of 8 KiB that is not one: told what is wrong with it", async () => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  const text = padded({ ...trader.order(), margin: "5" }, 8_192);
  expect(await trader.placeText(text)).toMatchObject({
    status: 400,
    body: { code: "invalid_request", field: "margin" },
  });
});

test("an order that was longer than the limit when it was taken: answered again as it was", async () => {
  const directory = newFolder();
  const generous = await runVenue({ directory, limits: { signedBytes: 65_536 } });
  const trader = await Trader.enter(generous);
  const text = padded(trader.limit("long", 60_000), 8_192);
  const first = await trader.placeText(text);
  expect(first.status).toBe(200);
  await generous.stop();
  const at = await runVenue({ directory });
  const headers = { "content-type": "application/json", ...headersOf(trader, text) };
  const again = await ask(`${at.url}/v1/orders`, { method: "POST", headers, body: text });
  expect(again.headers.get("idempotent-replay")).toBe("true");
  expect(again.body).toEqual({ ...first.body, elapsedMs: expect.any(Number) });
});

test("a rotation of 8 KiB: refused, and not in the log", async () => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  const before = at.venue.position;
  const rotate = (body: string) => {
    const headers = { "content-type": "application/json", ...trader.bearer() };
    return ask(`${at.url}/v1/auth/rotate`, { method: "POST", headers, body });
  };
  const change = { newSessionKey: newSessionKey().publicHex };
  expect(await rotate(padded(change, 8_192))).toMatchObject({ status: 413, body: TOO_LONG });
  expect(await rotate(padded({ ...change, more: "x" }, 8_192))).toMatchObject({ status: 413 });
  expect(at.venue.position).toBe(before);
  expect((await rotate(padded(change, 4_096))).status).toBe(200);
});
