import { expect, test } from "vitest";
import {
  exitId,
  exitKindOf,
  isExitId,
  isOrderId,
  orderIdText,
  parentOf,
  parseOrderId,
  STOP_LOSS_EXIT,
  TAKE_PROFIT_EXIT,
} from "./order-id.js";

const LAST = 2 ** 51 - 1;

test.each([1, 7, 48_213, LAST])(
  "order id %s: text and number, its exits between it and the next",
  (id) => {
    const takeProfit = exitId(id, TAKE_PROFIT_EXIT);
    const stopLoss = exitId(id, STOP_LOSS_EXIT);
    expect([id, takeProfit, stopLoss].map(orderIdText)).toEqual([`${id}`, `${id}.1`, `${id}.2`]);
    expect([`${id}`, `${id}.1`, `${id}.2`].map(parseOrderId)).toEqual([id, takeProfit, stopLoss]);
    expect(id < takeProfit && takeProfit < stopLoss && stopLoss < id + 1).toBe(true);
    expect([id, takeProfit, stopLoss].map(isOrderId)).toEqual([true, true, true]);
    expect([id, takeProfit, stopLoss].map(isExitId)).toEqual([false, true, true]);
    expect([id, takeProfit, stopLoss].map(exitKindOf)).toEqual([0, 1, 2]);
    expect([id, takeProfit, stopLoss].map(parentOf)).toEqual([id, id, id]);
  },
);

test.each([
  "",
  "x",
  "-1",
  "01",
  "7.",
  "7.0",
  "7.3",
  "7.10",
  "7.1.2",
  "7e1",
  "0.1",
  " 7",
  "9007199254740993",
  `${2 ** 52}.1`,
])("order id %j: none", (text) => expect(parseOrderId(text)).toBeUndefined());

test.each([-1, 7.75, 7.1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2 ** 51 + 0.5, "7", null])(
  "number %s: not the id of an order",
  (id) => expect(isOrderId(id)).toBe(false),
);
