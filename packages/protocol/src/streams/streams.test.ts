import { describe, expect, test } from "vitest";
import { formatStreamName, isPrivateStream, parseStreamName, streamSubject } from "./streams.js";

describe("stream names", () => {
  test.each([
    ["book.BTCUSD", false, "BTCUSD"],
    ["trades.ETHUSD", false, "ETHUSD"],
    ["ticker.SOLUSD", false, "SOLUSD"],
    ["candles.BTCUSD.15m", false, "BTCUSD.15m"],
    ["blocks", false, undefined],
    ["preconfirms", true, undefined],
    ["orders", true, undefined],
    ["positions", true, undefined],
    ["deposits", true, undefined],
    ["fills", true, undefined],
    ["account", true, undefined],
    ["status", false, undefined],
  ])("%s: parsed, formatted, private or not", (text, isPrivate, subject) => {
    const name = parseStreamName(text);
    if (name === undefined) throw new Error(`${text} was not parsed`);
    expect(formatStreamName(name)).toBe(text);
    expect(isPrivateStream(name)).toBe(isPrivate);
    expect(streamSubject(name)).toBe(subject);
  });

  test.each([
    "",
    "book",
    "book.",
    "book.btcusd",
    "book.BTCUSD.1m",
    "book.BTCUSD.",
    "candles.BTCUSD",
    "candles.BTCUSD.2m",
    "candles.BTCUSD.1m.x",
    "preconfirms.BTCUSD",
    "constructor",
    "blocks.",
    " book.BTCUSD",
  ])("%j: not a stream", (text) => {
    expect(parseStreamName(text)).toBeUndefined();
  });
});
