import fc from "fast-check";
import { expect, test } from "vitest";
import { tronAddressBytes, tronAddressOf } from "./tron-address.js";

/** Tether's contract on Tron, as its issuer publishes it, and its 20 bytes. */
const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const USDT_BYTES = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";

test("known pairs of both forms", () => {
  const pairs = [
    [USDT, USDT_BYTES],
    ["TQHgMpVzWkhSsRB4BzZgmV8uW4cFL8eaBr", "9d1015e669c2df831003c5c54ceb48da613d9979"],
  ] as const;
  for (const [text, hex] of pairs) {
    expect(Buffer.from(tronAddressBytes(text) ?? []).toString("hex")).toBe(hex);
    expect(tronAddressOf(Buffer.from(hex, "hex"))).toBe(text);
  }
});

test("any 20 bytes: there and back; any other letter in the text: refused", () => {
  const twenty = fc.uint8Array({ minLength: 20, maxLength: 20 });
  const place = fc.nat({ max: 33 });
  fc.assert(
    fc.property(twenty, place, (bytes, at) => {
      const text = tronAddressOf(bytes);
      expect(text).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
      expect(Buffer.from(tronAddressBytes(text) ?? [])).toEqual(Buffer.from(bytes));
      const other = text[at] === "x" ? "y" : "x";
      const broken = text.slice(0, at) + other + text.slice(at + 1);
      expect(tronAddressBytes(broken)).toBeUndefined();
    }),
  );
});

test("wrong length, wrong letters, an Ethereum address: refused", () => {
  for (const text of ["", "T", `${USDT}1`, USDT.replace("8", "0"), `0x${USDT_BYTES}`]) {
    expect(tronAddressBytes(text)).toBeUndefined();
  }
});
