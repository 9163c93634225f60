/** Snapshots that were cut off or changed: refused, or at least never taken for the original. */

import { Random } from "@perpgate/protocol/random";
import { describe, expect, test } from "vitest";
import { audit } from "../../audit.js";
import { Engine } from "../../engine.js";
import { recording, replayed } from "./recording.js";

const SEED = 13;
/** `npm test -- --long engine` changes more. */
const BITS = Number(process.env.PERPGATE_SNAPSHOT_BITS ?? 1_000);
const [engine] = replayed(recording("gate", SEED, 400));
const original = engine.snapshot();

/** What becomes of changed bytes: "refused", "different", "caught by the audit" or "the same". */
function fate(bytes: Uint8Array): string {
  let restored: Engine;
  try {
    restored = Engine.restore(bytes);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return "refused";
  }
  if (Buffer.compare(restored.snapshot(), original) === 0) return "the same";
  return audit(restored).length > 0 ? "caught by the audit" : "different";
}

function count(fates: Map<string, number>, key: string): void {
  fates.set(key, (fates.get(key) ?? 0) + 1);
}

describe(`a snapshot of ${original.length} bytes`, () => {
  test("cut off anywhere: refused", () => {
    const random = new Random(SEED, "cuts");
    const lengths = new Set<number>([0, 1, 7, 8, original.length - 1, original.length - 8]);
    while (lengths.size < 400) lengths.add(random.int(0, original.length - 1));
    for (const length of lengths) {
      expect(fate(original.slice(0, length)), `${length} bytes`).toBe("refused");
    }
  });

  test("with anything after its end: refused", () => {
    for (const extra of [1, 8, 64]) {
      const longer = new Uint8Array(original.length + extra);
      longer.set(original);
      expect(fate(longer)).toBe("refused");
    }
  });

  test("of another format: refused, saying so", () => {
    const other = original.slice();
    new DataView(other.buffer).setFloat64(0, 99, true);
    expect(() => Engine.restore(other)).toThrow(/format 99/);
  });

  test("one byte changed: never the same state again", () => {
    const fates = new Map<string, number>();
    const random = new Random(SEED, "bytes");
    for (let i = 0; i < BITS; i++) {
      const at = random.int(0, original.length - 1);
      const changed = original.slice();
      changed[at] = changed[at]! ^ (1 << random.int(0, 7));
      count(fates, fate(changed));
    }
    console.log(`one bit changed: ${[...fates].map(([key, n]) => `${n} ${key}`).join(", ")}`);
    expect(fates.get("the same") ?? 0).toBe(0);
  });

  test("one number changed by one: never the same state again", () => {
    const fates = new Map<string, number>();
    const view = new DataView(original.buffer, original.byteOffset, original.byteLength);
    // Texts shift the words that follow; every offset that holds a whole number counts as one.
    for (let at = 0; at + 8 <= original.length; at++) {
      const value = view.getFloat64(at, true);
      if (!Number.isSafeInteger(value) || value === 0) continue;
      const changed = original.slice();
      new DataView(changed.buffer).setFloat64(at, value + 1, true);
      count(fates, fate(changed));
    }
    console.log(`one number changed: ${[...fates].map(([key, n]) => `${n} ${key}`).join(", ")}`);
    expect(fates.get("the same") ?? 0).toBe(0);
  });
});
