import type { OrdersFrame } from "@perpgate/protocol/operations";
import { proofSummary } from "@perpgate/protocol/receipts";
import { checkOrderProof } from "@perpgate/sdk";
import { newLogKey } from "@perpgate/venue";
import { expect, test } from "vitest";
import type { ReceiptProblem } from "../receipts/receipt-keeper.js";
import { ASK, BUY, eventually, newClient, newSession, startVenue } from "../testing/venue.js";

const EXITS = { takeProfit: { price: 66_000 }, stopLoss: { price: 64_000, limitPrice: 63_900 } };
const SIZED = { ...BUY, margin: undefined, size: 0.01, ...EXITS };

test("exits: typed results, receipts that say the same, amended and canceled by their ids", async () => {
  const problems: ReceiptProblem[] = [];
  const { key: logKey } = newLogKey();
  const at = await startVenue({ promises: { logKey, checkpointMs: 60_000 } });
  const client = newClient(at, { onReceiptProblem: (problem) => problems.push(problem) });
  const [maker, taker] = [await newSession(client), await newSession(client)];
  await maker.placeOrder({ ...ASK, price: 65_010, margin: 1_000 });

  const placed = await taker.placeOrder(SIZED);
  const { orderId } = placed;
  const named = [
    { orderId: `${orderId}.1`, kind: "takeProfit" },
    { orderId: `${orderId}.2`, kind: "stopLoss" },
  ];
  expect(placed.exits).toEqual(named);
  const again = await taker.placeOrder({ ...SIZED, nonce: placed.nonce });
  expect(again).toMatchObject({ replayed: true, exits: named });
  const [takeProfit, stopLoss] = await taker.openOrders();
  expect(takeProfit).toMatchObject({ orderId: `${orderId}.1`, parentOrderId: orderId });
  expect(await taker.order(`${orderId}.2`)).toEqual(stopLoss);

  const amended = await taker.amendOrder({ orderId: `${orderId}.2`, price: 63_500 });
  expect(amended).toMatchObject({ orderId: `${orderId}.2`, status: "pending" });
  const moved = await taker.stream.amendOrder({ orderId: `${orderId}.1`, price: 67_000 });
  expect(moved).toMatchObject({ orderId: `${orderId}.1` });
  expect(await taker.cancelOrder(`${orderId}.1`)).toMatchObject({ orderId: `${orderId}.1` });
  expect(await taker.stream.cancelOrder(`${orderId}.2`)).toMatchObject({ status: "canceled" });
  const { results } = await taker.batch([{ op: "place", ...SIZED }]);
  expect(results).toMatchObject([
    { ack: { exits: [{ kind: "takeProfit" }, { kind: "stopLoss" }] } },
  ]);
  const wrong = taker.placeOrder({ ...SIZED, stopLoss: { price: 70_000 } });
  await expect(wrong).rejects.toMatchObject({ code: "exit_price", field: "stopLoss" });
  await at.advance(400);
  await at.venue.promises?.log.advance();
  const summaryOf = async (ackNonce: string) => {
    const proof = await checkOrderProof(await taker.preconfirmProof(ackNonce), {
      logKey: logKey.text,
    });
    return typeof proof === "string" ? proof : proofSummary(proof, {});
  };
  expect(await summaryOf(placed.ackNonce)).toEqual(
    expect.arrayContaining([
      ["order", orderId],
      ["exit", `${orderId}.1, takeProfit`],
      ["exit", `${orderId}.2, stopLoss`],
    ]),
  );
  expect(await summaryOf(amended.ackNonce)).toContainEqual(["order", `${orderId}.2`]);
  await taker.receipts.settled();
  expect(problems).toEqual([]);
  expect(taker.receipts.files).toHaveLength(7);
});

test("exits in the stream of orders: appear, shrink and end; a later watcher sees the open ones", async () => {
  const at = await startVenue();
  const client = newClient(at);
  const [maker, taker] = [await newSession(client), await newSession(client)];
  await maker.placeOrder({ ...ASK, price: 65_010, margin: 1_000 });
  await maker.placeOrder({ ...BUY, type: "limit", price: 64_990, margin: 1_000 });
  const frames: OrdersFrame[] = [];
  taker.stream.watchOrders((frame) => frames.push(frame));
  await eventually(() => frames.length).toBe(1);
  const seen = (id: string) =>
    frames.flatMap(({ orders }) =>
      orders.filter((order) => order.orderId === id).map((o) => [o.status, o.remainingSize]),
    );
  const { orderId } = await taker.placeOrder(SIZED);
  const reduce = { ...SIZED, side: "short", takeProfit: undefined, stopLoss: undefined } as const;
  await taker.placeOrder({ ...reduce, reduceOnly: true, size: 0.004 });
  await eventually(() => seen(`${orderId}.2`)).toEqual([
    ["pending", 0.01],
    ["pending", 0.006],
  ]);
  const later: OrdersFrame[] = [];
  taker.stream.watchOrders((frame) => later.push(frame));
  await eventually(() => later[0]?.orders.map((order) => order.orderId)).toEqual([
    `${orderId}.1`,
    `${orderId}.2`,
  ]);
  await taker.placeOrder({ ...reduce, reduceOnly: true, size: 1 });
  await eventually(() => seen(`${orderId}.1`).at(-1)?.[0]).toBe("canceled");
  await eventually(() => seen(`${orderId}.2`).at(-1)?.[0]).toBe("canceled");
  expect(await taker.openOrders()).toEqual([]);
});
