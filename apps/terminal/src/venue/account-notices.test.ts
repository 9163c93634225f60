import { POLL } from "@perpgate/gateway/testing";
import type { Fill, LedgerEntry, Order } from "@perpgate/protocol";
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

interface Account {
  readonly readOrder: () => Promise<Order | undefined>;
  /** Newest first. */
  readonly ledger: readonly LedgerEntry[];
  /** What presses in the page have done. */
  readonly own: readonly string[];
}

function start({ readOrder, ledger = [], own = [] }: Partial<Account> = {}) {
  const toasts = new Toasts();
  const changed: string[] = [];
  const notices = new AccountNotices({
    toasts,
    view: () => undefined,
    readOrder: readOrder ?? (async () => undefined),
    readLedger: async ({ symbol, limit, before }) => {
      const rows = ledger.filter((entry) => entry.symbol === symbol);
      const at = before === undefined ? 0 : rows.findIndex(({ id }) => id === before) + 1;
      return rows.slice(at, at + limit);
    },
    hasPlaced: ({ orderId }) => own.includes(orderId),
    hasCanceled: ({ orderId }) => own.includes(orderId),
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
    const { update, titles, changed } = start({ own: [RESTING.orderId] });
    update(RESTING, undefined);
    update({ ...RESTING, status: "filled", filledSize: 0.5 }, undefined);
    expect(titles()).toEqual([]);
    expect(changed).toEqual(["resting", "filled"]);
  });

  test("an order that was placed elsewhere: no notice until it fills, which it may do at once", () => {
    const { update, titles } = start();
    const filled: Order = { ...RESTING, status: "filled", filledSize: 0.5 };
    update(RESTING, undefined);
    update({ ...RESTING, status: "canceled", reason: "book_empty" }, undefined);
    update(filled, undefined, "snapshot");
    expect(titles()).toEqual([]);
    update(filled, undefined);
    expect(titles()).toEqual(["Filled: BTCUSD"]);
  });

  test("an exit that is filled in the frame in which it appears: said, also of an order of this page", () => {
    const { update, titles } = start({ own: ["7.1"] });
    update(
      { ...STOP, orderId: "7.1", parentOrderId: "7", status: "filled", filledSize: 0.5 },
      undefined,
    );
    expect(titles()).toEqual(["Stop triggered, filled: BTCUSD"]);
  });

  test("a cancel that was pressed here: no notice; one from elsewhere has one", () => {
    const canceled: Order = { ...RESTING, status: "canceled", reason: "requested" };
    const here = start({ own: [RESTING.orderId] });
    here.update(canceled, RESTING);
    expect(here.titles()).toEqual([]);
    expect(here.changed).toEqual(["canceled"]);
    const elsewhere = start();
    elsewhere.update(canceled, RESTING);
    expect(elsewhere.titles()).toEqual(["Canceled: BTCUSD"]);
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

  test("a stop of the whole position that the book cannot take: said once", () => {
    const { update, titles, toasts } = start();
    const waiting = { ...STOP, closePosition: true };
    const fired = { ...waiting, triggered: true };
    update(fired, waiting);
    expect(titles()).toEqual(["Stop triggered: BTCUSD"]);
    for (const { id } of toasts.list.get()) toasts.close(id);
    update({ ...fired, updatedAt: 2 }, fired);
    expect(titles()).toEqual([]);
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
    expect(toasts.list.get()).toMatchObject([{ kind: "alarm", title: "Liquidated: BTCUSD" }]);
  });

  test("a liquidation of several fills and ticks: one notice with their sums and the charge", async () => {
    const entry: LedgerEntry = {
      id: "9-9",
      kind: "liquidation",
      symbol: "BTCUSD",
      amount: -98.88,
      balance: 0,
      marginMoved: null,
      reference: "9",
      accrued: false,
      time: 1,
    };
    const before = { ...entry, id: "4-9", reference: "4", amount: -5 };
    // The venue lists the PnL of each fill under the same kind.
    const pnl = (reference: string, amount: number) => ({
      ...entry,
      id: `${reference}1`,
      reference,
      amount,
    });
    // More than a page of them, and of others since.
    const since = Array.from({ length: 900 }, (_, at) => ({
      ...entry,
      id: `${2_000 - at}-1`,
      kind: "pnl" as const,
      reference: `${2_000 - at}-0`,
    }));
    const own = [pnl("12-0", -32.65), entry, pnl("9-1", -40), pnl("9-0", -150)];
    const { notices, toasts } = start({ ledger: [...since, ...own, before] });
    const parts: Fill[] = [
      { ...LIQUIDATION, size: 0.2, realizedPnl: -150 },
      { ...LIQUIDATION, id: "9-1", kind: "backstop", size: 0.05, realizedPnl: -40 },
    ];
    notices.fills({ type: "update", seq: 9, fills: parts });
    const next: Fill = {
      ...LIQUIDATION,
      id: "12-0",
      kind: "adl",
      price: 48_000,
      size: 0.05,
      realizedPnl: -32.65,
      time: 401,
    };
    notices.fills({ type: "update", seq: 12, fills: [next] });
    const text = () => toasts.list.get().map((toast) => [toast.title, toast.text]);
    const average = ((0.25 * 50_000 + 0.05 * 48_000) / 0.3).toFixed(2);
    const figures = (charge: string) =>
      `Sold 0.3000  at ${Number(average).toLocaleString("en-US")} on average, PnL −222.65${charge}.`;
    await expect.poll(text, POLL).toEqual([["Liquidated: BTCUSD", figures(", charge 98.88")]]);
  });

  test("deleveraged as the winning side: not called a liquidation; a later one is another event", () => {
    const { notices, toasts } = start();
    const fill: Fill = { ...LIQUIDATION, kind: "adl", liquidity: "maker", realizedPnl: 10 };
    notices.fills({ type: "update", seq: 9, fills: [fill] });
    notices.fills({ type: "update", seq: 90, fills: [{ ...fill, id: "90-0", time: 60_001 }] });
    expect(toasts.list.get()).toMatchObject([
      { title: "Auto-deleveraged: BTCUSD", text: expect.stringMatching(/^Sold 0\.5000 /) },
    ]);
  });

  test("an order that is missing after an outage: read, and said", async () => {
    const gone = { ...RESTING, orderId: "8" };
    const { update, titles, changed } = start({
      readOrder: async () => ({ ...gone, status: "filled" }),
    });
    update(RESTING, gone, "snapshot");
    await expect.poll(titles, POLL).toEqual(["Filled: BTCUSD"]);
    expect(changed).toEqual(["resting", "filled"]);
  });
});
