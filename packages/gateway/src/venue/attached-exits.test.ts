/** Take-profit and stop-loss that an order is sent with, as a client sees them. */

import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { readLeaf } from "@perpgate/protocol/core";
import {
  ackDifferences,
  bytesFromBase64Url,
  sealedAcknowledgement,
} from "@perpgate/protocol/receipts";
import { NO_EVIDENCE, newLogKey, verify } from "@perpgate/venue";
import { beginLog } from "@perpgate/venue/testing";
import { afterAll, describe, expect, test } from "vitest";
import { StreamClient } from "../ws/testing/stream-client.js";
import { recoverWallet } from "./testing/recover-wallet.js";
import { newFolder, type RunningVenue, runVenue, START_MS } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const shared = await runVenue({}, afterAll);
const EXITS = { takeProfit: { price: 66_000 }, stopLoss: { price: 64_000, limitPrice: 63_900 } };
const BUY = { symbol: "BTCUSD", side: "long", type: "market", size: 0.01, leverage: 5, ...EXITS };
const BID = { ...BUY, type: "limit", price: 64_900 };

/** A trader at a market with 0.5 BTC on both sides, 65,000 less and plus 10. */
async function entered(at: RunningVenue): Promise<Trader> {
  const maker = await Trader.enter(at);
  await maker.send("/v1/orders/cancel-all", {});
  for (const [side, price] of [
    ["short", 65_010],
    ["long", 64_990],
  ] as const) {
    await maker.signed("/v1/orders", {
      ...{ symbol: "BTCUSD", side, type: "limit", price, size: 0.5, leverage: 10 },
      nonce: price,
    });
  }
  return Trader.enter(at);
}

function exitsNamed(orderId: unknown) {
  return [
    { orderId: `${orderId}.1`, kind: "takeProfit" },
    { orderId: `${orderId}.2`, kind: "stopLoss" },
  ];
}

async function ids(trader: Trader, query: string): Promise<unknown[]> {
  return (await trader.list(`/v1/orders?${query}`)).map(({ orderId }) => orderId);
}

describe("terms of exits", () => {
  const cases: readonly [name: string, terms: object, field: string, code?: string][] = [
    ["with a stop order", { type: "stop", price: 70_000 }, "takeProfit"],
    ["with reduceOnly", { reduceOnly: true }, "takeProfit"],
    ["without a price", { takeProfit: {} }, "takeProfit.price"],
    ["a number", { stopLoss: 64_000 }, "stopLoss"],
    ["an unknown field", { stopLoss: { price: 64_000, size: 1 } }, "stopLoss.size"],
    ["off the tick", { stopLoss: { price: 64_000.05 } }, "stopLoss.price", "price_not_on_tick"],
    [
      "limit off the tick",
      { stopLoss: { price: 64_000, limitPrice: 63_900.05 } },
      "stopLoss.limitPrice",
      "price_not_on_tick",
    ],
    ["take-profit below the mark", { takeProfit: { price: 64_000 } }, "takeProfit", "exit_price"],
    ["stop-loss above the mark", { stopLoss: { price: 66_000 } }, "stopLoss", "exit_price"],
    [
      "take-profit above a short's",
      { side: "short", stopLoss: undefined },
      "takeProfit",
      "exit_price",
    ],
    [
      "stop-loss above the limit",
      { ...BID, stopLoss: { price: 64_950 } },
      "stopLoss",
      "exit_price",
    ],
  ];
  test.each(cases)(
    "%s: refused, with the field, and nothing is done",
    async (_, terms, field, code) => {
      const trader = await entered(shared);
      const { status, body } = await trader.signed("/v1/orders", { ...BUY, ...terms, nonce: 1 });
      expect([status, body.code, body.field]).toEqual([400, code ?? "invalid_request", field]);
      expect(await trader.list("/v1/orders?status=all")).toEqual([]);
      expect(await trader.list("/v1/positions")).toEqual([]);
    },
  );

  test("exit_price: names the exit, its side and what it is compared with", async () => {
    const trader = await entered(shared);
    const market = { ...BUY, stopLoss: { price: 66_000 }, nonce: 1 };
    const { body } = await trader.signed("/v1/orders", market);
    expect(body.message).toMatch(/^stopLoss of a long order must be below the mark, 65\d+\.$/);
    const limit = { ...BID, side: "short", price: 65_100, nonce: 2 };
    const refused = (await trader.signed("/v1/orders", limit)).body;
    expect(refused.message).toMatch(
      /^takeProfit of a short order must be below the order's price, 65100\.$/,
    );
    expect(refused.details).toMatchObject({ exit: "takeProfit", where: "below", limit: 65_100 });
  });

  test("amendments that put an exit on the wrong side of its order: refused, and nothing changes", async () => {
    const trader = await entered(shared);
    const { orderId } = (await trader.signed("/v1/orders", { ...BID, nonce: 1 })).body;
    const before = await trader.list("/v1/orders");
    const amend = async (id: string, changes: object, nonce: number) =>
      (await trader.signed(`/v1/orders/${id}/amend`, { orderId: id, ...changes, nonce })).body;
    expect(await amend(String(orderId), { price: 63_900 }, 2)).toMatchObject({
      code: "exit_price",
      field: "price",
      message: "stopLoss of a long order must be below the order's price, 63900.",
    });
    expect(await amend(`${orderId}.1`, { price: 64_800 }, 3)).toMatchObject({
      code: "exit_price",
      field: "price",
      message: "takeProfit of a long order must be above the order's price, 64900.",
    });
    const far = { price: 64_000, limitPrice: 40_000 };
    const refused = await trader.signed("/v1/orders", { ...BID, stopLoss: far, nonce: 4 });
    expect(refused.body).toMatchObject({
      code: "limit_price_outside_band",
      field: "stopLoss.limitPrice",
      details: { limitPrice: 40_000 },
    });
    expect(await trader.list("/v1/orders")).toEqual(before);
  });

  test("a venue under engine version 2: refused with the version, until it is upgraded", async () => {
    const directory = newFolder();
    await beginLog(directory, DEFAULT_MARKETS, START_MS, 2);
    const at = await runVenue({ directory });
    const trader = await entered(at);
    const order = { ...BUY, nonce: 1 };
    const { status, body } = await trader.signed("/v1/orders", order);
    expect([status, body.code, body.field]).toEqual([400, "exits_not_supported", "takeProfit"]);
    expect(body.message).toMatch(/needs engine version 3, this venue runs 2/);
    const operations = [{ op: "place", ...BUY }];
    const batch = await trader.signed("/v1/orders/batch", { nonce: 2, operations });
    expect(Object(batch.body).results).toMatchObject([{ error: { code: "exits_not_supported" } }]);
    expect(await trader.list("/v1/positions")).toEqual([]);
    const times = { stampMs: at.venue.nowMs(), expiresAtMs: at.venue.nowMs() + 1_000 };
    const upgrade = { kind: "Upgrade", ...times, version: 3 } as const;
    await at.venue.submitted(upgrade, NO_EVIDENCE, () => undefined);
    expect((await trader.signed("/v1/orders", order)).status).toBe(200);
    await at.stop();
    expect(await verify(directory, { signatures: recoverWallet })).toMatchObject({
      fault: null,
    });
  });
});

describe("exits through their life", () => {
  test("placed with a market order: named, listed after it, amended, canceled alone", async () => {
    const trader = await entered(shared);
    const { body } = await trader.signed("/v1/orders", { ...BUY, nonce: 1 });
    const { orderId } = body;
    expect(body).toMatchObject({ status: "filled", exits: exitsNamed(orderId) });
    const exit = { symbol: "BTCUSD", side: "short", type: "stop", status: "pending" };
    const covered = { size: 0.01, remainingSize: 0.01, reduceOnly: true, parentOrderId: orderId };
    const open = await trader.list("/v1/orders");
    expect(open).toMatchObject([
      {
        ...exit,
        ...covered,
        orderId: `${orderId}.1`,
        trigger: "takeProfit",
        price: 66_000,
        limitPrice: null,
      },
      {
        ...exit,
        ...covered,
        orderId: `${orderId}.2`,
        trigger: "stop",
        price: 64_000,
        limitPrice: 63_900,
      },
    ]);
    expect((await trader.get(`/v1/orders/${orderId}.2`)).body).toEqual(open[1]);
    expect((await trader.get(`/v1/orders/${orderId}.3`)).body.code).toBe("invalid_request");
    const parent = (await trader.get(`/v1/orders/${orderId}`)).body;
    expect(parent).not.toHaveProperty("parentOrderId");

    const amendment = { orderId: `${orderId}.2`, price: 63_500, nonce: 2 };
    const amended = await trader.signed(`/v1/orders/${orderId}.2/amend`, amendment);
    expect(amended.body).toMatchObject({ orderId: `${orderId}.2`, status: "pending" });
    expect(amended.body).not.toHaveProperty("exits");
    const resized = { orderId: `${orderId}.2`, size: 0.02, nonce: 3 };
    expect((await trader.signed(`/v1/orders/${orderId}.2/amend`, resized)).status).toBe(400);
    const other = { orderId: `${orderId}.1`, price: 67_000, nonce: 4 };
    expect((await trader.signed(`/v1/orders/${orderId}.2/amend`, other)).body.field).toBe(
      "orderId",
    );

    const canceled = await trader.cancel(`${orderId}.1`);
    expect(canceled.body).toEqual({
      orderId: `${orderId}.1`,
      status: "canceled",
      remainingSize: 0.01,
      ackNonce: expect.stringMatching(/^[0-9]+$/),
      expectedBlock: expect.any(Number),
      time: expect.any(Number),
    });
    expect((await trader.cancel(`${orderId}.1`)).body.code).toBe("order_not_cancelable");
    expect(await trader.list("/v1/orders")).toMatchObject([
      { orderId: `${orderId}.2`, price: 63_500 },
    ]);
    const named = await trader.send("/v1/orders/cancel", { orderId: `${orderId}.2` });
    expect(named.body).toMatchObject({ orderId: `${orderId}.2` });
    expect(await trader.list("/v1/positions")).toHaveLength(1);
  });

  test("of a limit order: wait, cover what it has opened, end with the position", async () => {
    const at = await runVenue();
    const [trader, seller] = [await entered(at), await Trader.enter(at)];
    const { orderId } = (await trader.signed("/v1/orders", { ...BID, price: 65_000, nonce: 1 }))
      .body;
    const sizes = async () =>
      (await trader.list("/v1/orders")).map(({ remainingSize }) => remainingSize);
    expect(await sizes()).toEqual([0.01, 0, 0]);
    const sell = { symbol: "BTCUSD", side: "short", type: "market", size: 0.004, leverage: 5 };
    await seller.signed("/v1/orders", { ...sell, nonce: 1 });
    expect(await sizes()).toEqual([0.006, 0.004, 0.004]);
    await trader.cancel(orderId);
    expect(await sizes()).toEqual([0.004, 0.004]);
    const close = { ...sell, reduceOnly: true, size: 0.001 };
    await trader.signed("/v1/orders", { ...close, nonce: 2 });
    expect(await sizes()).toEqual([0.003, 0.003]);
    await trader.signed("/v1/orders", { ...close, size: 1, nonce: 3 });
    expect(await trader.list("/v1/orders")).toEqual([]);
    const ended = await trader.list(`/v1/orders?status=all&after=${orderId}&limit=2`);
    expect(ended).toMatchObject([
      { orderId: `${orderId}.1`, status: "canceled" },
      { orderId: `${orderId}.2`, status: "canceled" },
    ]);
  });

  test("canceled with an order of which nothing has filled; cancel-all ends them with the others", async () => {
    const trader = await entered(shared);
    const first = (await trader.signed("/v1/orders", { ...BID, nonce: 1 })).body.orderId;
    expect(await ids(trader, "status=open")).toEqual([first, `${first}.1`, `${first}.2`]);
    expect((await trader.cancel(first)).body).toMatchObject({
      orderId: first,
      remainingSize: 0.01,
    });
    expect(await trader.list("/v1/orders")).toEqual([]);
    const third = (await trader.signed("/v1/orders", { ...BID, nonce: 3 })).body.orderId;
    const batch = { nonce: 4, operations: [{ op: "cancel", orderId: third }] };
    for (const _ of ["first", "again"]) {
      const { results } = Object((await trader.signed("/v1/orders/batch", batch)).body);
      expect(results).toMatchObject([{ canceled: { orderId: third } }]);
    }
    const second = (await trader.signed("/v1/orders", { ...BUY, nonce: 2 })).body.orderId;
    const all = await trader.send("/v1/orders/cancel-all", {});
    expect(Object(all.body).canceled.toSorted()).toEqual([`${second}.1`, `${second}.2`]);
  });

  test("pages: an exit comes after its order and before the next one", async () => {
    const trader = await entered(shared);
    const placed: unknown[] = [];
    for (const nonce of [1, 2]) {
      placed.push((await trader.signed("/v1/orders", { ...BUY, nonce })).body.orderId);
    }
    const [a, b] = placed;
    const ascending = [a, `${a}.1`, `${a}.2`, b, `${b}.1`, `${b}.2`];
    expect(await ids(trader, "status=all")).toEqual(ascending.toReversed());
    for (const [i, id] of ascending.entries()) {
      expect(await ids(trader, `status=all&after=${id}`)).toEqual(ascending.slice(i + 1));
      expect(await ids(trader, `status=all&before=${id}`)).toEqual(
        ascending.slice(0, i).toReversed(),
      );
    }
    const open = ascending.filter((id) => String(id).includes("."));
    expect(await ids(trader, "status=open")).toEqual(open);
    expect(await ids(trader, `status=open&after=${a}.1`)).toEqual(open.slice(1));
    expect(await ids(trader, `status=open&before=${b}`)).toEqual(open.slice(0, 2));
    expect(await ids(trader, `status=all&limit=2&after=${a}`)).toEqual([`${a}.1`, `${a}.2`]);
    for (const status of ["status=open", "status=all"]) {
      const all = await ids(trader, status);
      for (const beyond of ["9999999999999999", "9999999999999999.1"]) {
        expect(await ids(trader, `${status}&before=${beyond}`)).toEqual(all);
        expect(await ids(trader, `${status}&after=${beyond}`)).toEqual([]);
      }
      expect(await ids(trader, `${status}&after=0.1`)).toHaveLength(all.length);
      expect(await ids(trader, `${status}&before=0.1`)).toEqual([]);
    }
    for (const none of ["0.1", "9999999999999999.2", `${a}0.1`]) {
      expect((await trader.get(`/v1/orders/${none}`)).body.code).toBe("order_not_found");
      expect((await trader.cancel(none)).body.code).toBe("order_not_found");
    }
  });

  test("a triggered exit: its fills have its id, the other one ends", async () => {
    const at = await runVenue();
    const trader = await entered(at);
    const { orderId } = (await trader.signed("/v1/orders", { ...BUY, nonce: 1 })).body;
    await at.setIndex("BTCUSD", 66_500);
    await at.advance(2_000);
    expect(await trader.list("/v1/positions")).toEqual([]);
    const [fill] = await trader.list("/v1/fills");
    expect(fill).toMatchObject({ orderId: `${orderId}.1`, side: "short", size: 0.01 });
    expect((await trader.get(`/v1/orders/${orderId}.1`)).body).toMatchObject({ status: "filled" });
    expect((await trader.get(`/v1/orders/${orderId}.2`)).body).toMatchObject({
      status: "canceled",
    });
  });
});

describe("exits elsewhere", () => {
  test("in a batch: placed, amended and canceled by their ids; the replay has the same results", async () => {
    const trader = await entered(shared);
    const place = { op: "place", ...BUY };
    const wrong = { ...place, stopLoss: { price: 70_000 } };
    const { body } = await trader.signed("/v1/orders/batch", {
      nonce: 1,
      operations: [place, wrong],
    });
    const [placed, refused] = Object(body).results;
    const { orderId } = placed.ack;
    expect(placed.ack.exits).toEqual(exitsNamed(orderId));
    expect(refused).toMatchObject({
      status: 400,
      error: { code: "exit_price", field: "stopLoss" },
    });
    const operations = [
      { op: "amend", orderId: `${orderId}.1`, price: 67_000 },
      { op: "cancel", orderId: `${orderId}.2` },
      { op: "cancel", orderId: `${orderId}.2` },
    ];
    const sent = { nonce: 2, operations };
    const changed = await trader.signed("/v1/orders/batch", sent);
    expect(Object(changed.body).results).toMatchObject([
      { status: 200, ack: { orderId: `${orderId}.1` } },
      { status: 200, canceled: { orderId: `${orderId}.2`, remainingSize: 0.01 } },
      { status: 409, error: { code: "order_not_cancelable" } },
    ]);
    const again = await trader.signed("/v1/orders/batch", sent);
    expect(Object(again.body).results.map(({ status }: { status: number }) => status)).toEqual([
      200, 200, 409,
    ]);
    expect(await trader.list("/v1/orders")).toMatchObject([
      { orderId: `${orderId}.1`, price: 67_000 },
    ]);
  });

  test("over the socket: placed, amended, canceled, and in the streams", async () => {
    const trader = await entered(shared);
    const client = await StreamClient.connect(shared.url, trader.token);
    await client.ask({ op: "subscribe", streams: ["orders"] });
    await client.next("orders");
    const signed = (op: string, body: object) => {
      const text = JSON.stringify(body);
      return client.ask({ op, body: text, sig: trader.signatureOf(text)["x-service-sig"] });
    };
    const { ack } = Object((await signed("order", { ...BUY, nonce: 1 })).d);
    expect(ack.exits).toEqual(exitsNamed(ack.orderId));
    const { orders } = Object((await client.next("orders")).d);
    expect(orders).toMatchObject([
      { orderId: ack.orderId, status: "filled" },
      { orderId: `${ack.orderId}.1`, parentOrderId: ack.orderId, status: "pending", size: 0.01 },
      { orderId: `${ack.orderId}.2`, parentOrderId: ack.orderId, status: "pending", size: 0.01 },
    ]);
    const amendment = { orderId: `${ack.orderId}.2`, price: 63_000, limitPrice: 62_900, nonce: 2 };
    expect((await signed("amend", amendment)).d).toMatchObject({
      ack: { orderId: `${ack.orderId}.2` },
    });
    const canceled = await client.ask({ op: "cancel", orderId: `${ack.orderId}.1` });
    expect(canceled.d).toMatchObject({ canceled: { orderId: `${ack.orderId}.1` } });
  });

  test("a receipt: its leaf names the exits, and of an amendment the exit", async () => {
    const { key: logKey } = newLogKey("venue.example/log");
    const at = await runVenue({ promises: { logKey, checkpointMs: 60_000 } });
    const trader = await entered(at);
    const placed = (await trader.signed("/v1/orders", { ...BUY, nonce: 1 })).body;
    const id = `${placed.orderId}.2`;
    const sent = { orderId: id, price: 63_500, nonce: 2 };
    const amended = (await trader.signed(`/v1/orders/${id}/amend`, sent)).body;
    const [market] = at.venue.views.markets();
    for (const ack of [placed, amended]) {
      const leaf = readLeaf(bytesFromBase64Url(String(ack.leaf)) ?? new Uint8Array(0));
      if (leaf === undefined || market === undefined) throw new Error("no leaf");
      const sealed = sealedAcknowledgement(leaf, market);
      if (typeof sealed === "string") throw new Error(sealed);
      expect(ackDifferences(sealed, ack)).toEqual([]);
      for (const exits of [[{ orderId: "1.1", kind: "takeProfit" }], "none", null]) {
        expect(ackDifferences(sealed, { ...ack, exits })).toMatchObject([{ field: "exits" }]);
      }
    }
  });

  test("a restart: the same exits, the same answer to a repeated order, and verify agrees", async () => {
    const directory = newFolder();
    const before = await runVenue({ directory });
    const trader = await entered(before);
    const order = { ...BUY, nonce: 1 };
    const placed = (await trader.signed("/v1/orders", order)).body;
    const id = `${placed.orderId}.2`;
    await trader.signed(`/v1/orders/${id}/amend`, { orderId: id, price: 63_500, nonce: 2 });
    const open = await trader.list("/v1/orders");
    await before.stop();

    const after = await runVenue({ directory, startMs: before.nowMs() + 1_000 });
    const later = trader.movedTo(after);
    expect(await later.list("/v1/orders")).toEqual(open);
    const again = await later.signed("/v1/orders", order);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect(again.body).toEqual({ ...placed, elapsedMs: expect.any(Number) });
    expect((await later.cancel(`${placed.orderId}.1`)).status).toBe(200);
    await after.stop();
    const { fault } = await verify(directory, { signatures: recoverWallet });
    expect(fault).toBeNull();
  });
});
