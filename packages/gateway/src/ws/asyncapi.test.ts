import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parseStreamName, STREAM_FORMS } from "@perpgate/protocol";
import { SOCKET_OPERATIONS, STREAM_CHANNELS } from "@perpgate/protocol/operations";
import { Ajv, type ValidateFunction } from "ajv";
import { describe, expect, test } from "vitest";
import { asyncApiDocument } from "../http/asyncapi.js";
import { ask } from "../testing/running-gateway.js";
import { runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { KNOWN_OPERATIONS } from "./messages.js";
import { type Frame, StreamClient } from "./testing/stream-client.js";

const OFFICIAL = createRequire(import.meta.url).resolve("@asyncapi/specs/schemas/3.0.0.json");
type Json = Readonly<Record<string, unknown>>;

describe("AsyncAPI document", () => {
  const document = asyncApiDocument(SOCKET_OPERATIONS, STREAM_CHANNELS, "1");

  test("valid against the official schema of AsyncAPI 3", () => {
    // It brings the meta-schema of draft 7 along.
    const ajv = new Ajv({ strict: false, validateFormats: false, meta: false });
    const isValid = ajv.compile(JSON.parse(readFileSync(OFFICIAL, "utf8")));
    isValid(document);
    expect(isValid.errors ?? []).toEqual([]);
    isValid({ ...document, channels: { socket: { adress: "/" } } });
    expect(isValid.errors ?? []).not.toEqual([]);
  });

  test("every reference leads somewhere, and every message of an operation is one of its channel", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(100);
    for (const [, path = ""] of references) {
      const found = path.split("/").reduce((value, key) => Object(value)[key], Object(document));
      expect([path, typeof found]).toEqual([path, "object"]);
    }
    for (const operation of Object.values<Json>(Object(document.operations))) {
      const { channel, messages } = Object(operation);
      for (const { $ref } of messages) expect($ref).toContain(`${channel.$ref}/messages/`);
    }
  });

  test("names every operation and every stream that the gateway serves", () => {
    expect(SOCKET_OPERATIONS.map(({ op }) => op).sort()).toEqual([...KNOWN_OPERATIONS].sort());
    const forms = STREAM_CHANNELS.map(({ address }) => address).sort();
    const served = STREAM_FORMS.replace(/<[^<>]*\|[^<>]*>/, "<resolution>").split(", ");
    expect(forms).toEqual(served.map((form) => form.replaceAll(/<(\w+)>/g, "{$1}")).sort());
    for (const { stream, address } of STREAM_CHANNELS) {
      const name = address.replace("{symbol}", "BTCUSD").replace("{resolution}", "1m");
      expect(parseStreamName(name)).toMatchObject({ stream });
    }
  });
});

/** Validators by the names of messages; keys that the document does not name are refused. */
function shapesIn(document: Json): ReadonlyMap<string, ValidateFunction> {
  const { schemas, messages } = Object(closed(document)).components;
  const ajv = new Ajv({ strict: false, validateFormats: false, discriminator: true });
  ajv.addSchema({ $id: "document", components: { schemas } });
  const named = Object.entries<{ payload: object }>(messages).map(([name, { payload }]) => {
    const text = JSON.stringify(payload).replaceAll('"#/components', '"document#/components');
    return [name, ajv.compile(JSON.parse(text))] as const;
  });
  return new Map(named);
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, x]) => [key, closed(x)]));
  const isOpen = inner.type === "object" && "properties" in inner;
  return isOpen ? { additionalProperties: false, ...inner } : inner;
}

/** As a schema sees it: lists are payloads of their own, and bytes are text. */
function plainFrame({ t, s, d }: Frame): unknown {
  const bytesToText = (x: unknown) => (x instanceof Uint8Array ? String(x.length) : x);
  const payload = Array.isArray(d.items)
    ? d.items
    : Object.fromEntries(Object.entries(d).map(([key, x]) => [key, bytesToText(x)]));
  return s === undefined ? { t, d: payload } : { t, s, d: payload };
}

test("messages and frames of a running gateway: as the document that it serves says", async () => {
  const at = await runVenue();
  const { body: document } = await ask(`${at.url}/v1/asyncapi.json`);
  const shapes = shapesIn(document);
  const operations = new Set(SOCKET_OPERATIONS.map(({ op }) => op));
  const sent = [...shapes].filter(([name]) => !operations.has(name));
  const seen = new Set<string>();
  const see = (frame: Frame): void => {
    const value = plainFrame(frame);
    const names = sent.filter(([, isShape]) => isShape(value)).map(([name]) => name);
    expect(names, JSON.stringify(value)).toHaveLength(1);
    seen.add(names[0] ?? "");
  };
  const say = async (client: StreamClient, message: Json): Promise<void> => {
    const isMessage = shapes.get(String(message.op));
    expect(isMessage?.({ id: 1, ...message }), JSON.stringify(isMessage?.errors)).toBe(true);
    see(await client.ask(message));
  };

  const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
  const reader = await StreamClient.connect(at.url);
  const plain = await StreamClient.connect(at.url);
  for (const client of [reader, plain]) await say(client, { op: "auth", token: taker.token });
  const market = ["book.BTCUSD", "trades.BTCUSD", "ticker.BTCUSD", "candles.BTCUSD.1m"];
  const own = ["preconfirms", "orders", "positions", "fills", "account", "deposits"];
  await say(reader, { op: "subscribe", streams: [...market, "blocks", "status", ...own] });
  await say(plain, { op: "subscribe", streams: ["book.BTCUSD"], format: "plain" });
  await say(plain, { op: "subscribe", streams: own, since: 1_000_000 });
  await say(reader, { op: "session", cancelOnDisconnect: false });
  await say(reader, { op: "ping" });

  await maker.place(maker.limit("short", 65_010, { margin: 1_000 }));
  await maker.place(maker.limit("long", 64_990, { margin: 1_000 }));
  const sign = (op: string, body: object): Promise<void> => {
    const text = JSON.stringify(body);
    return say(reader, { op, body: text, sig: taker.signatureOf(text)["x-service-sig"] });
  };
  await sign("order", taker.order());
  await sign("margin", { symbol: "BTCUSD", amount: 5, nonce: 50 });
  await sign("order", { ...taker.limit("long", 64_000), clientOrderId: "resting" });
  await sign("amend", { clientOrderId: "resting", price: 64_100, nonce: 51 });
  await say(reader, { op: "cancel", clientOrderId: "resting" });
  const place = { op: "place", ...taker.limit("long", 64_000), nonce: undefined };
  await sign("batch", { nonce: 52, operations: [place, { op: "cancel", orderId: "1" }] });
  await sign("order", taker.order({ side: "short", reduceOnly: true, margin: 1_000 }));
  const deposit = { chain: "ethereum", txHash: `0x${"ab".repeat(32)}`, token: "USDC" };
  await taker.send("/v1/bridge/deposit", deposit);
  await at.advance(1_000);
  await say(reader, { op: "cancel", orderId: "1" });
  await say(reader, { op: "cancelAll", symbol: "BTCUSD" });
  await say(reader, { op: "unsubscribe", streams: ["status"] });

  const expected = sent.map(([name]) => name);
  while (seen.size < expected.length) {
    for (const client of [reader, plain]) {
      await client.settled();
      for (const frame of client.frames.splice(0)) see(frame);
    }
  }
  expect([...seen].sort()).toEqual(expected.sort());
});
