import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { crc32c } from "./crc32c.js";

/** The definition, bit by bit. */
function bitwise(bytes: Uint8Array, seed = 0): number {
  let crc = ~seed;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}

test("crc32c: the check value of the standard", () => {
  expect(crc32c(new TextEncoder().encode("123456789"))).toBe(0xe3069283);
});

test("crc32c: agrees with the definition at every length and from any seed", () => {
  const random = new Random(1);
  for (let length = 0; length < 300; length++) {
    const bytes = random.bytes(length);
    const seed = Math.floor(random.next() * 2 ** 32);
    expect(crc32c(bytes, seed), `length ${length}`).toBe(bitwise(bytes, seed));
  }
});

test("crc32c: of two parts in turn is that of the whole, also in shared memory", () => {
  const whole = Buffer.from(new SharedArrayBuffer(1000));
  whole.set(new Random(2).bytes(1000));
  const parts = crc32c(whole.subarray(333), crc32c(whole.subarray(0, 333)));
  expect(parts).toBe(crc32c(whole));
});
