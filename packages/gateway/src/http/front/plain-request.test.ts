/** What is recognised as plain, and that everything next to it is not. */

import { describe, expect, test } from "vitest";
import { PlainRequest } from "./plain-request.js";

const LIMIT = 512;
const BODY = '{"nonce":1}';

function recognise(text: string) {
  const request = new PlainRequest(LIMIT);
  return { recognised: request.recognise(Buffer.from(text, "latin1")), request };
}

function order(headers: readonly string[] = [], body = BODY, length = String(body.length)): string {
  const lines = ["POST /v1/orders HTTP/1.1", "host: x", "content-type: application/json"];
  return [...lines, `content-length: ${length}`, ...headers, "", body].join("\r\n");
}

describe("plain", () => {
  test("an order: its headers, and where its body begins and ends", () => {
    const headers = ["Authorization: Bearer t", "X-Service-Sig:abc", "x-request-id: one"];
    const text = order(headers);
    const { recognised, request } = recognise(`${text}POST /v1/next`);
    expect(recognised).toBe("plain");
    expect(request).toMatchObject({
      book: undefined,
      authorization: "Bearer t",
      signature: "abc",
      offeredId: "one",
    });
    expect(text.slice(request.bodyStart)).toBe(BODY);
    expect(request.end).toBe(text.length);
  });

  test("an order as fetch of Node sends it", () => {
    const text = order([
      "connection: keep-alive",
      "authorization: Bearer t",
      "accept: */*",
      "accept-language: *",
      "sec-fetch-mode: cors",
      "user-agent: node",
      "accept-encoding: gzip, deflate",
    ]);
    expect(recognise(text).recognised).toBe("plain");
  });

  test("a read of a book, with and without a depth", () => {
    const plain = "GET /v1/markets/BTCUSD/book HTTP/1.1\r\nhost: x\r\n\r\n";
    expect(recognise(plain)).toMatchObject({
      recognised: "plain",
      request: { book: { symbol: "BTCUSD", depth: undefined }, end: plain.length },
    });
    const deep = plain.replace("book", "book?depth=50");
    expect(recognise(deep)).toMatchObject({
      recognised: "plain",
      request: { book: { symbol: "BTCUSD", depth: "50" }, end: deep.length },
    });
  });

  test("what an earlier request said is not said by the next", () => {
    const request = new PlainRequest(LIMIT);
    request.recognise(Buffer.from(order(["authorization: Bearer t", "x-service-sig: abc"])));
    expect(request.recognise(Buffer.from(order()))).toBe("plain");
    expect(request).toMatchObject({ authorization: undefined, signature: undefined });
  });
});

test("a body that is not whole: partial, at every byte of it, and its end is known", () => {
  const text = order();
  for (let missing = 1; missing <= BODY.length; missing++) {
    const { recognised, request } = recognise(text.slice(0, -missing));
    expect(recognised).toBe("partial");
    expect(request.end).toBe(text.length);
  }
});

test("headers that are not whole: not plain, at every byte", () => {
  const text = order();
  const headEnd = text.indexOf("\r\n\r\n") + 4;
  for (let length = 0; length < headEnd; length++) {
    expect(recognise(text.slice(0, length)).recognised, text.slice(0, length)).toBe("other");
  }
});

test.each([
  ["no host", order().replace("host: x\r\n", "")],
  ["two hosts", order(["host: x"])],
  ["an empty host", order().replace("host: x", "host: ")],
  ["no content type", order().replace("content-type: application/json\r\n", "")],
  ["another content type", order().replace("application/json", "application/json; charset=utf-8")],
  ["no length", order().replace(/content-length: \d+\r\n/, "")],
  ["two lengths", order([`content-length: ${BODY.length}`])],
  ["a length of 0", order([], "", "0")],
  ["a length above the limit", order([], "x".repeat(LIMIT + 1))],
  ["a length with a sign", order([], BODY, `+${BODY.length}`)],
  ["a length with a leading zero", order([], BODY, `0${BODY.length}`)],
  ["a length with a space behind", order([], BODY, `${BODY.length} `)],
  ["a length as a list", order([], BODY, `${BODY.length}, ${BODY.length}`)],
  ["a length in other digits", order([], BODY, "0xb")],
  ["chunked", order(["transfer-encoding: chunked"])],
  ["a header that is not on the list", order(["x-other: 1"])],
  ["an origin", order(["origin: https://page.test"])],
  ["an expectation", order(["expect: 100-continue"])],
  ["a proxy's word", order(["x-forwarded-for: 10.0.0.1"])],
  ["a connection to be closed", order(["connection: close"])],
  ["a space before the colon", order(["accept : */*"])],
  ["two spaces after the colon", order(["accept:  */*"])],
  ["a tab after the colon", order(["accept:\t*/*"])],
  ["a space behind a value", order(["accept: */* "])],
  ["a folded line", order(["accept: a", " b"])],
  ["a control character", order(["accept: a\0b"])],
  ["a character beyond ASCII", order(["accept: caf\xe9"])],
  ["no colon", order(["accept"])],
  ["line feeds alone", order().replaceAll("\r\n", "\n")],
  ["a line feed alone", order().replace("host: x\r\n", "host: x\n")],
  ["a carriage return alone", order().replace("host: x\r\n", "host: x\r")],
  ["headers beyond 8 KiB", order([`user-agent: ${"u".repeat(9_000)}`])],
  ["an empty line first", `\r\n${order()}`],
  ["a query", order().replace("/v1/orders", "/v1/orders?a=1")],
  ["an absolute address", order().replace("/v1/orders", "http://x/v1/orders")],
  ["HTTP/1.0", order().replace("HTTP/1.1", "HTTP/1.0")],
  ["another method", order().replace("POST", "PUT")],
  ["a book with a body", order().replace("POST /v1/orders", "GET /v1/markets/BTCUSD/book")],
  ["a book in lower case", "GET /v1/markets/btcusd/book HTTP/1.1\r\nhost: x\r\n\r\n"],
  ["a book with two keys", "GET /v1/markets/A/book?depth=1&a=1 HTTP/1.1\r\nhost: x\r\n\r\n"],
  ["a book without a host", "GET /v1/markets/A/book HTTP/1.1\r\n\r\n"],
  ["a path without end", `GET /v1/markets/${"A".repeat(100)}`],
])("%s: not plain", (_, text) => {
  expect(recognise(text).recognised).toBe("other");
});
