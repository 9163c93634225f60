import { createHash } from "node:crypto";
import { CLAIM_WINDOW } from "@perpgate/journal";
import { describe, expect, test } from "vitest";
import { CHAIN_START, MessageChain } from "./chain.js";

const message = (number: number): Uint8Array => Buffer.from(`message ${number}`);

function chainOf(length: number): { chain: MessageChain; values: Uint8Array[] } {
  const chain = new MessageChain(0, []);
  const values = Array.from({ length }, (_, index) => chain.append("v.log.a", message(index + 1)));
  return { chain, values };
}

describe("chain", () => {
  test("each value is the hash of the one before, the subject and the message", () => {
    const { chain, values } = chainOf(3);
    let expected: Uint8Array = CHAIN_START;
    for (let seq = 1; seq <= 3; seq++) {
      const bytes = Buffer.concat([expected, Buffer.from("v.log.a"), message(seq)]);
      expected = createHash("sha256").update(bytes).digest();
      expect(Buffer.from(values[seq - 1] ?? [])).toEqual(expected);
      expect(Buffer.from(chain.at(seq) ?? [])).toEqual(expected);
    }
    expect(Buffer.from(chain.head)).toEqual(expected);
    expect(chain.at(0)).toEqual(CHAIN_START);
    expect(chain.at(4)).toBeUndefined();
  });

  test("a claim: equal is sound, other bytes differ, itself and later are from the future", () => {
    const { chain, values } = chainOf(3);
    const claim = (seq: number, value?: Uint8Array) =>
      chain.fault({ seq, chain: value ?? values[seq - 1] ?? CHAIN_START });
    expect([0, 1, 2, 3].map((seq) => claim(seq))).toEqual(Array(4).fill(undefined));
    expect(claim(2, values[2])).toBe("differs");
    expect(claim(0, values[0])).toBe("differs");
    expect(claim(4)).toBe("from the future");
    expect(claim(5)).toBe("from the future");
  });

  test("a claim may be 65,536 before its message, and no older", () => {
    const { chain, values } = chainOf(CLAIM_WINDOW + 10);
    const next = chain.last + 1;
    const oldest = next - CLAIM_WINDOW;
    const fault = (seq: number) => chain.fault({ seq, chain: values[seq - 1] ?? CHAIN_START });
    expect(fault(oldest)).toBeUndefined();
    expect(fault(oldest - 1)).toBe("too old");
    expect(fault(chain.last)).toBeUndefined();
  });

  test("a chain continued from its tail judges like the whole one", () => {
    for (const length of [1, 5, CLAIM_WINDOW + 10]) {
      const { chain, values } = chainOf(length);
      const continued = new MessageChain(length, values.slice(-CLAIM_WINDOW));
      const next = message(length + 1);
      const oldest = Math.max(0, length + 1 - CLAIM_WINDOW);
      for (const seq of [oldest, length]) {
        const claim = { seq, chain: values[seq - 1] ?? CHAIN_START };
        expect(continued.fault(claim)).toBeUndefined();
        expect(chain.fault(claim)).toBeUndefined();
      }
      expect(continued.append("v.log.a", next)).toEqual(chain.append("v.log.a", next));
    }
  });

  test("a tail with missing values is refused", () => {
    const { values } = chainOf(5);
    expect(() => new MessageChain(5, values.slice(1))).toThrow(
      "must hold its last 5 messages, but holds 4",
    );
    expect(() => new MessageChain(4, values)).toThrow();
  });
});
