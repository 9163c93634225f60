import { expect, test } from "vitest";
import { Handshakes, MAX_HANDSHAKES, MAX_HANDSHAKES_PER_ADDRESS } from "./handshakes.js";

const STRANGER = "192.0.2.1";
const EDGE = "192.0.2.2";

function begun(handshakes: Handshakes, address: string, count: number): number {
  return Array.from({ length: count }, () => handshakes.begin(address)).filter(
    (refusal) => refusal === undefined,
  ).length;
}

test("of one address: so many at once, then one a second", () => {
  let nowMs = 0;
  const handshakes = new Handshakes(new Set(), () => nowMs);
  expect(begun(handshakes, STRANGER, 100)).toBe(MAX_HANDSHAKES_PER_ADDRESS);
  expect(handshakes.inProgress).toBe(MAX_HANDSHAKES_PER_ADDRESS);
  for (let i = 0; i < MAX_HANDSHAKES_PER_ADDRESS; i++) handshakes.ended(STRANGER, false);
  expect(begun(handshakes, STRANGER, 100)).toBe(0);
  nowMs += 3_000;
  expect(begun(handshakes, STRANGER, 100)).toBe(3);
  expect(handshakes.inProgress).toBe(3);
});

test("the network of an address of IPv6 counts as one", () => {
  const handshakes = new Handshakes(new Set(), () => 0);
  const addresses = Array.from({ length: 100 }, (_, i) => `2001:db8::${i}`);
  const refusals = addresses.map((address) => handshakes.begin(address));
  expect(refusals.filter((refusal) => refusal === undefined)).toHaveLength(
    MAX_HANDSHAKES_PER_ADDRESS,
  );
});

test("of all addresses: so many at once, and so many a second; a known edge comes back", () => {
  let nowMs = 0;
  const handshakes = new Handshakes(new Set(), () => nowMs);
  handshakes.begin(EDGE);
  handshakes.ended(EDGE, true);
  const strangers = Array.from({ length: 10_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  const all = () => strangers.reduce((sum, address) => sum + begun(handshakes, address, 1), 0);
  let sum = all();
  expect(sum).toBeLessThan(MAX_HANDSHAKES);
  for (let second = 0; second < 10; second++) {
    nowMs += 1_000;
    sum += all();
  }
  expect(sum).toBe(MAX_HANDSHAKES);
  expect(begun(handshakes, EDGE, 100)).toBe(MAX_HANDSHAKES_PER_ADDRESS);
  expect(handshakes.begin("192.0.2.3")).toBe("too many handshakes at once");
});
