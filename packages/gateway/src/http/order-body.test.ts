import { afterAll, beforeEach, expect, test } from "vitest";
import { ask, jsonPost, runGateway } from "../testing/running-gateway.js";
import { sampleVenue } from "../testing/sample-venue.js";

const GOOD =
  '"symbol":"BTCUSD","side":"long","type":"limit","margin":5,"leverage":5,"price":1,"nonce":1';

const { edge, calls } = await sampleVenue();
const { url } = await runGateway({ edge }, afterAll);
beforeEach(() => {
  calls.length = 0;
});

/** The good order with one field's text replaced. */
function withField(name: string, literal: string): string {
  return `{${GOOD.replace(new RegExp(`"${name}":[^,]+`), `"${name}":${literal}`)}}`;
}

test.each<[string, string, string, string | undefined]>([
  ["a number as text", withField("margin", '"5"'), "invalid_request", "margin"],
  ["no margin at all", withField("margin", "0"), "invalid_request", "margin"],
  ["a negative margin", withField("margin", "-1"), "invalid_request", "margin"],
  ["an infinite margin", withField("margin", "1e999"), "number_not_exact", "margin"],
  ["a broken leverage", withField("leverage", "1.5"), "invalid_request", "leverage"],
  ["leverage as text", withField("leverage", '"5"'), "invalid_request", "leverage"],
  ["leverage true", withField("leverage", "true"), "invalid_request", "leverage"],
  ["leverage zero", withField("leverage", "0"), "invalid_request", "leverage"],
  ["a price of zero", withField("price", "0"), "invalid_request", "price"],
  ["a price as text", withField("price", '"1"'), "invalid_request", "price"],
  ["a nonce of 2^53", withField("nonce", "9007199254740992"), "number_not_exact", "nonce"],
  ["a nonce above 2^53", withField("nonce", "9007199254740993"), "number_not_exact", "nonce"],
  ["a negative nonce", withField("nonce", "-1"), "invalid_request", "nonce"],
  [
    "a nonce that rounds",
    withField("nonce", "1.00000000000000000001"),
    "number_not_exact",
    "nonce",
  ],
  ["another side", withField("side", '"buy"'), "invalid_request", "side"],
  ["a symbol in small letters", withField("symbol", '"btcusd"'), "invalid_request", "symbol"],
  ["a missing nonce", `{${GOOD.replace(',"nonce":1', "")}}`, "invalid_request", "nonce"],
  ["an unknown key", `{${GOOD},"iceberg":true}`, "invalid_request", "iceberg"],
  ["reduceOnly null", `{${GOOD},"reduceOnly":null}`, "invalid_request", "reduceOnly"],
  ["a repeated key", `{${GOOD},"nonce":1}`, "duplicate_key", "nonce"],
  ["a repeated key, escaped", `{${GOOD},"\\u006eonce":2}`, "duplicate_key", "nonce"],
  ["__proto__", `{${GOOD},"__proto__":{"margin":1}}`, "forbidden_key", "__proto__"],
  ["constructor", `{${GOOD},"constructor":{}}`, "forbidden_key", "constructor"],
  ["an array", "[]", "invalid_request", undefined],
  ["null", "null", "invalid_request", undefined],
  ["text", '"order"', "invalid_request", undefined],
  ["nothing", "", "invalid_request", "symbol"],
  ["half an object", `{${GOOD}`, "malformed_json", undefined],
  ["two values", `{${GOOD}}{}`, "malformed_json", undefined],
  ["a trailing comma", `{${GOOD},}`, "malformed_json", undefined],
  ["a byte order mark", `\ufeff{${GOOD}}`, "malformed_json", undefined],
])("placeOrder with %s: refused, and the venue is not asked", async (_, text, code, field) => {
  const { status, body } = await ask(`${url}/v1/orders`, jsonPost(text));
  expect({ status, code: body.code, field: body.field }).toEqual({ status: 400, code, field });
  expect(calls).toEqual([]);
});

test("placeOrder with bytes that are not UTF-8: malformed_json", async () => {
  const init = { ...jsonPost(""), body: Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d) };
  const { status, body } = await ask(`${url}/v1/orders`, init);
  expect({ status, code: body.code }).toEqual({ status: 400, code: "malformed_json" });
});

test("placeOrder with null price and 5.0: accepted as written", async () => {
  const text = withField("leverage", "5.0").replace('"price":1', '"price":null');
  expect((await ask(`${url}/v1/orders`, jsonPost(text))).status).toBe(200);
  expect(calls[0]?.[1]).toMatchObject({ body: { leverage: 5, price: null } });
});

test("other bodies: unknown keys are ignored, duplicate keys are not", async () => {
  const after = (text: string) => ask(`${url}/v1/orders/cancel-after`, jsonPost(text));
  expect((await after('{"afterMs":0,"note":"x"}')).body.code).toBe(undefined);
  expect((await after('{"afterMs":0,"afterMs":1000}')).body.code).toBe("duplicate_key");
  expect((await after('{"afterMs":999}')).body).toMatchObject({ field: "afterMs" });
});
