import { Decoder, decode } from "@msgpack/msgpack";
import fc from "fast-check";
import { Packr } from "msgpackr";
import { describe, expect, test } from "vitest";
import { encodeSide } from "../book-codec/index.js";
import { decodeFrame, encodeFrame, FrameError } from "./stream-frame.js";
import type { ServerFrame } from "./streams.js";

const MAX = Number.MAX_SAFE_INTEGER;
const FRAMES: readonly ServerFrame[] = [
  { t: "pong", d: null },
  { t: "ok", d: { id: "a", streams: ["book.BTCUSD"] } },
  { t: "error", d: { code: "unknown_stream", message: "…", id: 7 } },
  { t: "trades", s: "BTCUSD", d: [{ id: "5", price: 65_000.1, size: 0.00001, side: "long" }] },
  { t: "positions", d: { size: -0.5, seq: MAX, time: 1_794_716_404_074, flags: [true, false] } },
  {
    t: "candles",
    s: "BTCUSD.1m",
    d: [0, -1, 127, -33, 255, 65_536, 2 ** 32 - 1, 2 ** 32, -(2 ** 31)],
  },
];

/** A Uint8Array, as in a browser, not a Buffer. */
function decodeElsewhere(bytes: Uint8Array): unknown {
  return decode(new Uint8Array(bytes));
}

describe("frames", () => {
  test.each(FRAMES)("$t: the same from both decoders", (frame) => {
    const bytes = encodeFrame(frame);
    expect(decodeElsewhere(bytes)).toEqual(frame);
    expect(decodeFrame(bytes)).toEqual(frame);
  });

  test("any JSON payload: the same from @msgpack/msgpack", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        // Decoders reject or rename this key; no payload has it.
        fc.pre(!text.includes("__proto__"));
        const frame: ServerFrame = { t: "x", d: JSON.parse(text) };
        expect(decodeElsewhere(encodeFrame(frame))).toEqual(frame);
      }),
      { numRuns: 1_000 },
    );
  });

  test("packed sides: bin with the same bytes", () => {
    const bids = encodeSide([[650_000, 1_538]], "bid");
    const bytes = encodeFrame({ t: "book", s: "BTCUSD", d: { bids, asks: new Uint8Array(0) } });
    expect(decodeElsewhere(bytes)).toEqual({
      t: "book",
      s: "BTCUSD",
      d: { bids, asks: new Uint8Array(0) },
    });
  });

  test("numbers: never a BigInt, even for decoders that make them of 64-bit integers", () => {
    const decoder = new Decoder({ useBigInt64: true });
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(decoder.decode(encodeFrame({ t: "x", d: value }))).toEqual({ t: "x", d: value });
      }),
    );
  });

  test("maps: plain ones, in the fewest bytes, without an absent subject", () => {
    expect([...encodeFrame({ t: "a", d: { b: 1 } })]).toEqual(
      [0x82, 0xa1, 0x74, 0xa1, 0x61, 0xa1, 0x64, 0x81, 0xa1, 0x62, 0x01], // {t: "a", d: {b: 1}}
    );
    const repeated = Array.from({ length: 40 }, (_, i) => ({ price: i, size: i }));
    expect(decodeElsewhere(encodeFrame({ t: "a", d: repeated }))).toEqual({ t: "a", d: repeated });
  });

  test("an undefined field: nil, not an extension", () => {
    expect(decodeElsewhere(encodeFrame({ t: "a", d: { b: undefined } }))).toEqual({
      t: "a",
      d: { b: null },
    });
  });

  test("bytes of one frame: untouched by the next thousand", () => {
    const first = encodeFrame(FRAMES[3]!);
    const copy = first.slice();
    for (let i = 0; i < 1_000; i++) encodeFrame(FRAMES[i % FRAMES.length]!);
    expect(first).toEqual(copy);
  });

  test("anything but a frame: rejected", () => {
    const packr = new Packr({ useRecords: false });
    for (const value of [1, "t", null, [], {}, { t: 1 }, { t: "a", s: 2 }]) {
      expect(() => decodeFrame(packr.pack(value)), JSON.stringify(value)).toThrow(FrameError);
    }
    const whole = encodeFrame(FRAMES[3]!);
    for (let cut = 0; cut < whole.length; cut++) {
      expect(() => decodeFrame(whole.subarray(0, cut))).toThrow(FrameError);
    }
    expect(() => decodeFrame(Uint8Array.of(...whole, 0))).toThrow(FrameError);
  });

  test("any bytes: a frame or an error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          expect(typeof decodeFrame(bytes).t).toBe("string");
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
