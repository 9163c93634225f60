import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BatchRefused } from "./errors.js";
import {
  decodeMessage,
  encodeMessage,
  MAX_MESSAGE_BYTES,
  type Message,
  messageBytes,
  UnknownMessage,
} from "./message.js";

const HEX = "0123456789abcdef".split("");
const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const messages: fc.Arbitrary<Message> = fc.record({
  writer: fc
    .array(fc.constantFrom(...HEX), { minLength: 32, maxLength: 32 })
    .map((digits) => digits.join("")),
  counter: fc.maxSafeNat(),
  claim: fc.record({ seq: fc.maxSafeNat(), chain: bytesOf(32) }),
  block: fc.record({ number: fc.maxSafeNat(), hash: bytesOf(32) }),
  records: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
});

const plain: Message = {
  writer: "00112233445566778899aabbccddeeff",
  counter: 7,
  claim: { seq: 41, chain: new Uint8Array(32).fill(1) },
  block: { number: 3, hash: new Uint8Array(32).fill(2) },
  records: [Uint8Array.of(9, 8, 7), new Uint8Array()],
};

describe("message", () => {
  test("every message decodes to itself, in its one encoding", () => {
    fc.assert(
      fc.property(messages, (message) => {
        const bytes = encodeMessage(message);
        expect(bytes.length).toBe(messageBytes(message.records));
        expect(decodeMessage(bytes)).toEqual(message);
      }),
    );
  });

  test("bytes that decode are the encoding of what they decode to", () => {
    fc.assert(
      fc.property(messages, fc.nat(), fc.integer({ min: 0, max: 255 }), (message, place, value) => {
        const bytes = encodeMessage(message).slice();
        bytes[4 + (place % (bytes.length - 4))] = value;
        const decoded = decodeMessage(bytes);
        if (decoded !== undefined) expect(encodeMessage(decoded)).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 1000 },
    );
  });

  test("a missing or trailing byte makes it malformed", () => {
    const bytes = encodeMessage(plain);
    for (let length = 0; length < bytes.length; length++) {
      expect(decodeMessage(bytes.subarray(0, length))).toBeUndefined();
    }
    expect(decodeMessage(Buffer.concat([bytes, Buffer.alloc(1)]))).toBeUndefined();
  });

  test("integers above 2^53 − 1 are malformed", () => {
    for (const at of [20, 28, 68]) {
      const bytes = Buffer.from(encodeMessage(plain));
      bytes.writeUInt32LE(0x200000, at + 4);
      expect(decodeMessage(bytes)).toBeUndefined();
    }
  });

  test("a record count that the bytes cannot hold is malformed", () => {
    const bytes = Buffer.from(encodeMessage(plain));
    bytes.writeUInt32LE(0xffffffff, 108);
    expect(decodeMessage(bytes)).toBeUndefined();
  });

  test("a newer format throws and names both formats; other letters are malformed", () => {
    const bytes = Buffer.from(encodeMessage(plain));
    bytes.write("PGM3", 0, "latin1");
    expect(() => decodeMessage(bytes)).toThrow(UnknownMessage);
    expect(() => decodeMessage(bytes)).toThrow("format PGM3; this release reads PGM1 and PGM2");
    for (const magic of ["PGM0", "PGMx", "PGM\0", "pgm2", "PGB2"]) {
      bytes.write(magic, 0, "latin1");
      expect(decodeMessage(bytes)).toBeUndefined();
    }
  });

  test("a message of a core that leads has a format of its own", () => {
    const fenced = { ...plain, isFenced: true } as const;
    const bytes = encodeMessage(fenced);
    expect(Buffer.from(bytes).toString("latin1", 0, 4)).toBe("PGM2");
    expect(Buffer.compare(bytes.subarray(4), encodeMessage(plain).subarray(4))).toBe(0);
    expect(decodeMessage(bytes)?.isFenced).toBe(true);
    expect(decodeMessage(encodeMessage(plain))).not.toHaveProperty("isFenced");
  });

  test("the bytes of the format do not change", () => {
    expect(Buffer.from(encodeMessage(plain)).toString("hex")).toBe(
      [
        "50474d31",
        "00112233445566778899aabbccddeeff",
        "0700000000000000",
        "2900000000000000",
        "01".repeat(32),
        "0300000000000000",
        "02".repeat(32),
        "02000000",
        "03000000",
        "090807",
        "00000000",
      ].join(""),
    );
  });

  test("the largest message fits, one byte more is refused", () => {
    const room = MAX_MESSAGE_BYTES - messageBytes([new Uint8Array()]);
    const largest = { ...plain, records: [new Uint8Array(room)] };
    expect(decodeMessage(encodeMessage(largest))?.records[0]?.length).toBe(room);
    const larger = { ...plain, records: [new Uint8Array(room + 1)] };
    expect(() => encodeMessage(larger)).toThrow(BatchRefused);
  });

  test("fields out of range are refused", () => {
    const refuses = (change: Partial<Message>) =>
      expect(() => encodeMessage({ ...plain, ...change })).toThrow();
    refuses({ writer: "A".repeat(32) });
    refuses({ writer: "a".repeat(31) });
    refuses({ counter: -1 });
    refuses({ counter: 0.5 });
    refuses({ claim: { seq: -1, chain: new Uint8Array(32) } });
    refuses({ claim: { seq: 1, chain: new Uint8Array(31) } });
    refuses({ block: { number: 2 ** 53, hash: new Uint8Array(32) } });
    refuses({ block: { number: 1, hash: new Uint8Array(33) } });
  });
});
