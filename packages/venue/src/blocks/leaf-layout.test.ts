import {
  END,
  EVENT,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  SHORT,
  STATUS_CANCELED,
  STATUS_FILLED,
  STATUS_PENDING,
  STATUS_RESTING,
  STOP_ORDER,
} from "@perpgate/engine";
import {
  ACKNOWLEDGED_KIND,
  CANCEL_LEAF_BYTES,
  CANCEL_LEAF_KIND,
  END_REASONS,
  LEAF_BYTES,
  ORDER_STATUSES,
  ORDER_TYPES,
  RESERVES_LEAF_BYTES,
  RESERVES_LEAF_KIND,
  readLeaf,
  WITHDRAWAL_LEAF_BYTES,
  WITHDRAWAL_LEAF_KIND,
} from "@perpgate/protocol/core";
import { expect, test } from "vitest";
import { ACKNOWLEDGED, eventWords } from "../event-fields.js";
import { bytesOfWords } from "../history/rows.js";

test("leaf: clients read the engine's event, its kind and its words as the engine numbers them", () => {
  expect(EVENT.OrderAcknowledged).toBe(ACKNOWLEDGED_KIND);
  expect(8 * eventWords(EVENT.OrderAcknowledged)).toBe(LEAF_BYTES);
  expect(EVENT.CancelAcknowledged).toBe(CANCEL_LEAF_KIND);
  expect(8 * eventWords(EVENT.CancelAcknowledged)).toBe(CANCEL_LEAF_BYTES);
  expect(EVENT.WithdrawalAcknowledged).toBe(WITHDRAWAL_LEAF_KIND);
  expect(8 * eventWords(EVENT.WithdrawalAcknowledged)).toBe(WITHDRAWAL_LEAF_BYTES);
  expect(EVENT.ReservesCommitted).toBe(RESERVES_LEAF_KIND);
  expect(8 * eventWords(EVENT.ReservesCommitted)).toBe(RESERVES_LEAF_BYTES);
  expect([MARKET_ORDER, LIMIT_ORDER, STOP_ORDER].map((code) => ORDER_TYPES[code])).toEqual([
    "market",
    "limit",
    "stop",
  ]);
  const statuses = [STATUS_FILLED, STATUS_RESTING, STATUS_PENDING, STATUS_CANCELED];
  expect(statuses.map((code) => ORDER_STATUSES[code])).toEqual([...ORDER_STATUSES]);
  expect(END_REASONS.map((name) => END[name])).toEqual(END_REASONS.map((_, code) => code));
  for (const side of [LONG, SHORT]) {
    const words = new Array<number>(eventWords(EVENT.OrderAcknowledged)).fill(0);
    words[0] = EVENT.OrderAcknowledged;
    words[ACKNOWLEDGED.side] = side;
    words[ACKNOWLEDGED.block] = 7;
    words[ACKNOWLEDGED.client1] = 1;
    expect(readLeaf(bytesOfWords(words))).toMatchObject({ side, block: 7 });
  }
});
