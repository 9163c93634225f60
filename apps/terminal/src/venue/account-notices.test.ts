import { POLL } from "@perpgate/gateway/testing";
import type { Fill, Order } from "@perpgate/protocol";
import { describe, expect, test } from "vitest";
import { RESTING } from "../testing/resting-order.js";
import { Toasts } from "../ui/toasts.js";
import { AccountNotices } from "./account-notices.js";

const STOP: Order = {
  ...RESTING,
  type: "stop",
  side: "short",
  status: "pending",
  trigger: "stop",
};
const LIQUIDATION: Fill = {
  id: "9-0",
  orderId: null,
  kind: "liquidation",
  symbol: "BTCUSD",
  side: "short",
  price: 50_000,
  size: 0.5,
  fee: 1,
  feeCurrency: "USD",
  liquidity: "taker",
  realizedPnl: -100,
  block: 3,
  time: 1,
  clientOrderId: null,
};

function start(readOrder: () => Promise<Order | undefined> = async () => undefined) {
  const toasts = new Toasts();
  const changed: string[] = [];
  const notices = new AccountNotices({
    toasts,
    view: () => undefined,
    readOrder,
    onChanged: ({ status }) => changed.push(status),
  });
  const update = (
    order: Order,
    before: Order | undefined,
    type: "update" | "snapshot" = "update",
  ) =>
    notices.orders(
      { type, seq: 1, orders: [order] },
      new Map(before === undefined ? [] : [[before.orderId, before]]),
    );
  const titles = () => toasts.list.get().map(({ title }) => title);
  return { notices, toasts, changed, update, titles };
}

describe("account notices", () => {
  test("a new order: no notice, its result says it", () => {
    const { update, titles, changed } = start();
    update(RESTING, undefined);
    expect(titles()).toEqual([]);
    expect(changed).toEqual(["resting"]);
  });

  test("fills of one order: one notice, replaced", () => {
    const { update, titles } = start();
    const partly = { ...RESTING, filledSize: 0.2, avgFillPrice: 60_000 };
    update(partly, RESTING);
    expect(titles()).toEqual(["Partly filled: BTCUSD"]);
    update({ ...partly, status: "filled", filledSize: 0.5 }, partly);
    expect(titles()).toEqual(["Filled: BTCUSD"]);
  });

  test("a stop that triggers: said with what it did", () => {
    const { update, titles } = start();
    update({ ...STOP, status: "filled", filledSize: 0.5, avgFillPrice: 50_000 }, STOP);
    expect(titles()).toEqual(["Stop triggered, filled: BTCUSD"]);
    update({ ...STOP, status: "canceled", reason: "book_empty" }, STOP);
    expect(titles()).toEqual(["Stop triggered, not filled: BTCUSD"]);
    update({ ...STOP, status: "resting" }, STOP);
    expect(titles()).toEqual(["Stop triggered: BTCUSD"]);
  });

  test("a cancel: with its reason", () => {
    const { update, toasts } = start();
    update({ ...RESTING, status: "canceled", reason: "liquidation" }, RESTING);
    expect(toasts.list.get()[0]).toMatchObject({
      title: "Canceled: BTCUSD",
      text: expect.stringContaining("The position was liquidated"),
    });
  });

  test("a liquidation: stays until dismissed", () => {
    const { notices, toasts } = start();
    notices.fills({ type: "update", seq: 1, fills: [LIQUIDATION] });
    expect(toasts.list.get()).toMatchObject([{ kind: "bad", title: "Liquidated: BTCUSD" }]);
  });

  test("an order that is missing after an outage: read, and said", async () => {
    const gone = { ...RESTING, orderId: "8" };
    const { update, titles, changed } = start(async () => ({ ...gone, status: "filled" }));
    update(RESTING, gone, "snapshot");
    await expect.poll(titles, POLL).toEqual(["Filled: BTCUSD"]);
    expect(changed).toEqual(["resting", "filled"]);
  });
});
