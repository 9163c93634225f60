/** A snapshot with a number that cannot be: refused before anything is made of it. */
import { expect, test } from "vitest";
import { Engine } from "../../engine.js";
import { SnapshotUnreadable } from "../../snapshot/snapshot.js";
import { Venue } from "../scenarios/venue.js";
import { joining, writerId } from "../sole-writer.js";

/** Offset of a double in the bytes, the last time. */
function offsetOf(bytes: Uint8Array, value: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: number[] = [];
  for (let at = 0; at + 8 <= bytes.length; at++) {
    if (view.getFloat64(at, true) === value) found.push(at);
  }
  expect(found.length).toBeGreaterThan(0);
  return found.at(-1)!;
}

function aliceRests(): Uint8Array {
  const venue = new Venue();
  const alice = venue.trader("alice", 1_000);
  // Its price is in the snapshot once, after id, market and account.
  alice.buys("limit", { margin: 10.5, price: 49_123.4, nonce: 77_777 });
  return venue.engine.snapshot();
}

const ROWS: [what: string, wordsBefore: number, value: number][] = [
  ["of an account that does not exist", 4, 3_000_000],
  ["of no account", 4, 0],
  ["of half an account", 4, 0.5],
  ["in a market that is not listed", 5, 7],
  ["without an id", 6, 0],
];
for (const [what, wordsBefore, value] of ROWS) {
  test(`restore: an order ${what} is refused`, () => {
    const bytes = aliceRests();
    const at = offsetOf(bytes, 491_234) - 8 * wordsBefore;
    new DataView(bytes.buffer).setFloat64(at, value, true);
    expect(() => Engine.restore(bytes)).toThrow(SnapshotUnreadable);
  });
}

test("restore: a state of format 5, which listed orders of lost sessions, is refused", () => {
  const bytes = aliceRests();
  new DataView(bytes.buffer, bytes.byteOffset).setFloat64(0, 5, true);
  expect(() => Engine.restore(bytes)).toThrow("format 5, expected 6");
});

test("restore: two live writers of one name, or of one id, are refused", () => {
  const venue = new Venue();
  const writers = ["gateway-a", "gateway-b"].map((name, i) => joining(writerId(41 + i), name, 0));
  for (const { writer, ...join } of writers) {
    expect(venue.engine.acceptBatch(writer, 0, [{ ...join, writer }])).toBeNull();
    venue.engine.apply({ ...join, writer });
  }
  for (const part of ["name", "writer"] as const) {
    const bytes = Buffer.from(venue.engine.snapshot());
    expect(() => Engine.restore(bytes)).not.toThrow();
    bytes.write(writers[1]![part], bytes.indexOf(writers[0]![part]), "latin1");
    expect(() => Engine.restore(bytes), part).toThrow("a writer twice");
  }
});

test("restore: a position of an account that does not exist is refused", () => {
  const venue = new Venue();
  const [alice, bob] = [venue.trader("alice", 1_000), venue.trader("bob", 1_000)];
  bob.sells("limit", { margin: 100, price: 50_000 });
  alice.buys("limit", { margin: 98.76543, price: 50_000 });
  const bytes = venue.engine.snapshot();
  // Alice's lots, after her account.
  const at = offsetOf(bytes, Math.round(alice.position().size * 1e5)) - 8;
  new DataView(bytes.buffer).setFloat64(at, 3_000_000, true);
  expect(() => Engine.restore(bytes)).toThrow(SnapshotUnreadable);
});

test("restore: after a writer asked for a time before 1970", () => {
  const venue = new Venue();
  venue.apply({ kind: "AskTime", stampMs: -1 });
  expect(venue.refusal).toBeNull();
  const restored = Engine.restore(venue.engine.snapshot());
  expect(restored.snapshot()).toEqual(venue.engine.snapshot());
});
