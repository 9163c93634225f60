import { expect, test } from "vitest";
import { sessionResourceOf } from "./session-resource.js";
import { parseSiweMessage } from "./testing/proofs.js";
import { siweText } from "./testing/siwe-text.js";

const KEY = "ab".repeat(32);

const MESSAGE = {
  domain: "localhost",
  address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  uri: "http://localhost",
  version: "1",
  chainId: 1,
  nonce: "nonce1234",
  issuedAt: "2026-01-01T00:00:00Z",
};

function resourceOf(...resources: string[]) {
  return sessionResourceOf(parseSiweMessage(siweText({ ...MESSAGE, resources })));
}

test("none: undefined, whatever else the message lists", () => {
  expect(resourceOf()).toBeUndefined();
  expect(resourceOf("https://a.example/terms", "urn:perpgate:sessions?key=1")).toBeUndefined();
});

test("key alone: no caps, every market", () => {
  expect(resourceOf(`urn:perpgate:session?key=${KEY}`)).toEqual({
    line: 11,
    key: KEY,
    maxOrderNotionalMicros: 0,
    maxNotionalMicros: 0,
    symbols: [],
  });
});

test("all parts, in any order, after other resources", () => {
  expect(
    resourceOf(
      "https://a.example",
      `urn:perpgate:session?symbols=BTCUSD,ETHUSD&maxNotional=250000.5&key=0x${KEY}&maxOrderNotional=0.000001`,
    ),
  ).toEqual({
    line: 12,
    key: `0x${KEY}`,
    maxOrderNotionalMicros: 1,
    maxNotionalMicros: 250_000_500_000,
    symbols: ["BTCUSD", "ETHUSD"],
  });
});

test.each([
  ["no parts", "urn:perpgate:session"],
  ["no key", "urn:perpgate:session?maxNotional=1"],
  ["a short key", "urn:perpgate:session?key=abcd"],
  ["capitals in the name", `URN:perpgate:session?key=${KEY}`],
  ["an unknown part", `urn:perpgate:session?key=${KEY}&leverage=5`],
  ["a part twice", `urn:perpgate:session?key=${KEY}&maxNotional=1&maxNotional=2`],
  ["an empty part", `urn:perpgate:session?key=${KEY}&`],
  ["an empty value", `urn:perpgate:session?key=${KEY}&maxNotional=`],
  ["a value with =", `urn:perpgate:session?key=${KEY}&maxNotional=1=2`],
  ["percent-encoding", `urn:perpgate:session?key=${KEY}&symbols=BTC%55SD`],
  ["a fragment", `urn:perpgate:session?key=${KEY}#x`],
  ["a cap of zero", `urn:perpgate:session?key=${KEY}&maxNotional=0`],
  ["a negative cap", `urn:perpgate:session?key=${KEY}&maxNotional=-1`],
  ["an exponent", `urn:perpgate:session?key=${KEY}&maxNotional=1e9`],
  ["a leading zero", `urn:perpgate:session?key=${KEY}&maxNotional=01`],
  ["seven decimals", `urn:perpgate:session?key=${KEY}&maxNotional=0.0000001`],
  ["more than a micro can count", `urn:perpgate:session?key=${KEY}&maxNotional=10000000000`],
  ["a symbol twice", `urn:perpgate:session?key=${KEY}&symbols=BTCUSD,BTCUSD`],
  ["an empty symbol", `urn:perpgate:session?key=${KEY}&symbols=BTCUSD,`],
  ["small letters in a symbol", `urn:perpgate:session?key=${KEY}&symbols=btcusd`],
])("%s: 401 that names the line", (_, resource) => {
  expect(() => resourceOf(resource)).toThrow(
    expect.objectContaining({
      code: "invalid_siwe_message",
      status: 401,
      message: expect.stringMatching(/^Line 11 of the message: expected in the session resource, /),
    }),
  );
});

test("two session resources: refused, even if they are the same", () => {
  const resource = `urn:perpgate:session?key=${KEY}`;
  expect(() => resourceOf(resource, resource)).toThrow(/Line 12 .* one, not several/);
});
