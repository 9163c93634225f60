import { expect, test } from "vitest";
import { stepOf } from "../numbers/units.js";
import { readLeaf } from "./acknowledgement-leaf.js";
import { isAnswerLeaf, readAnswerLeaf } from "./answer-leaf.js";
import { CANCEL_LEAF_BYTES, CANCEL_LEAF_KIND, readCancelLeaf } from "./cancel-leaf.js";
import { answerOfLeaf } from "./sealed-acknowledgement.js";

const FIELDS = [10.25, 3, 4, 1, 77, 25, 9, 12];

function leafOf(fields: readonly number[], kind = CANCEL_LEAF_KIND): Uint8Array {
  return new Uint8Array(Float64Array.of(kind, ...fields).buffer);
}

test("the leaf of a cancel: read by its fields, and answered as the venue does", () => {
  const bytes = leafOf(FIELDS);
  expect(bytes).toHaveLength(CANCEL_LEAF_BYTES);
  const leaf = readAnswerLeaf(bytes);
  expect(leaf).toEqual({
    kind: "cancel",
    orderId: 10.25,
    account: 3,
    session: 4,
    market: 1,
    nonce: 77,
    remainingLots: 25,
    block: 9,
    ackNonce: 12,
  });
  expect(leaf).toEqual(readCancelLeaf(bytes));
  expect(isAnswerLeaf(bytes)).toBe(true);
  const [tick, lot] = [stepOf(0.1), stepOf(0.001)];
  const market = { symbol: "BTCUSD", tick, lot, microsPerTickLot: 100 };
  expect(leaf && answerOfLeaf(leaf, market)).toEqual({
    ackNonce: "12",
    orderId: "10.1",
    status: "canceled",
    remainingSize: 0.025,
    expectedBlock: 9,
  });
});

test("other bytes are no leaf of a cancel: another kind or length, an id that no order has, no count", () => {
  expect(readLeaf(leafOf(FIELDS))).toBeUndefined();
  expect(readAnswerLeaf(leafOf(FIELDS, 58))).toBeUndefined();
  expect(isAnswerLeaf(leafOf(FIELDS, 58))).toBe(false);
  expect(readCancelLeaf(leafOf(FIELDS.slice(1)))).toBeUndefined();
  expect(readCancelLeaf(leafOf([...FIELDS, 0]))).toBeUndefined();
  for (const [place, wrong] of FIELDS.entries()) {
    for (const value of [-1, wrong + 0.5, Number.NaN, 2 ** 53]) {
      const changed = leafOf(FIELDS.with(place, value));
      expect(readAnswerLeaf(changed), `${place}: ${value}`).toBeUndefined();
    }
  }
});
