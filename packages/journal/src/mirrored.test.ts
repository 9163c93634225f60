import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeMirrored, encodeMirrored, type Mirrored, mirroredId } from "./mirrored.js";

const mirrored: fc.Arbitrary<Mirrored> = fc.record({
  verdict: fc.constantFrom("sound", "malformed", "chain"),
  chain: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  subject: fc.string({ unit: "grapheme", maxLength: 60 }),
  message: fc.uint8Array({ maxLength: 200 }),
});

const plain: Mirrored = {
  verdict: "chain",
  chain: new Uint8Array(32).fill(5),
  subject: "venue.log.é",
  message: Uint8Array.of(1, 2, 3),
};

describe("mirrored message", () => {
  test("every stored message decodes to itself", () => {
    fc.assert(
      fc.property(mirrored, (stored) => {
        expect(decodeMirrored(Uint8Array.from(encodeMirrored(stored)))).toEqual(stored);
      }),
    );
  });

  test("the bytes of the format do not change", () => {
    expect(Buffer.from(encodeMirrored(plain)).toString("hex")).toBe(
      `02${"05".repeat(32)}0c00${Buffer.from("venue.log.é").toString("hex")}010203`,
    );
  });

  test("bytes that are too short, or of an unknown verdict, are not a stored message", () => {
    const bytes = encodeMirrored(plain);
    const subjectEnd = bytes.length - plain.message.length;
    for (let length = 0; length < subjectEnd; length++) {
      expect(decodeMirrored(bytes.subarray(0, length))).toBeUndefined();
    }
    expect(decodeMirrored(bytes.subarray(0, subjectEnd))?.message.length).toBe(0);
    const unknown = Uint8Array.from(bytes);
    unknown[0] = 3;
    expect(decodeMirrored(unknown)).toBeUndefined();
  });

  test("stream sequences begin at 1, the mirror's counters at 0", () => {
    expect(mirroredId(1)).toEqual({ writer: "f".repeat(32), counter: 0 });
  });

  test("a chain of another length and an endless subject are refused", () => {
    expect(() => encodeMirrored({ ...plain, chain: new Uint8Array(31) })).toThrow();
    expect(() => encodeMirrored({ ...plain, subject: "x".repeat(65_536) })).toThrow();
  });
});
