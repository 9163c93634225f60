/** More orders than the venue keeps up with: some are refused, and no other request is affected. */

import { until } from "@perpgate/journal/testing";
import { expect, test } from "vitest";
import { StreamClient } from "../ws/testing/stream-client.js";
import { HeldOrders } from "./testing/held-orders.js";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const PENDING = 8;

test("the maximum of orders in flight: further ones are refused, cancels pass, admitted ones are executed", async () => {
  const held = new HeldOrders();
  const at = await runVenue({ held, limits: { pendingOrders: PENDING } });
  const [trader, other] = [await Trader.enter(at), await Trader.enter(at)];
  const resting = [
    await trader.place(trader.limit("long", 60_000)),
    await trader.place(trader.limit("long", 60_000)),
  ];
  const socket = await StreamClient.connect(at.url, trader.token);

  const otherSocket = await StreamClient.connect(at.url, other.token);
  await otherSocket.ask({ op: "auth", token: other.token });

  const done = JSON.stringify(other.limit("long", 50_000));
  const { orderId } = (await other.placeText(done)).body;

  held.hold();
  const letIn = Array.from({ length: PENDING }, () => trader.place(trader.limit("long", 61_000)));
  await until(() => held.waiting === PENDING);
  const before = at.venue.seq;
  const shedBody = JSON.stringify(other.limit("long", 62_000));
  for (let i = 0; i < 3; i++) {
    const shed = await other.placeText(shedBody);
    expect(shed).toMatchObject({ status: 503, body: { code: "overloaded" } });
    expect(shed.headers.get("retry-after")).toBe("1");
  }
  const sig = other.signatureOf(shedBody)["x-service-sig"] ?? "";
  const shed = await otherSocket.ask({ op: "order", body: shedBody, sig });
  expect(shed.d).toMatchObject({ code: "overloaded" });
  expect(at.venue.seq).toBe(before);

  // What was executed before is answered again: nothing of it is checked.
  const again = await other.placeText(done, "none");
  expect(again).toMatchObject({ status: 200, body: { orderId } });
  expect([...again.headers.keys()]).not.toContain("retry-after");

  // Cancels and reads do not wait.
  expect((await trader.cancel(resting[0]!.body.orderId)).status).toBe(200);
  const canceled = await socket.ask({ op: "cancel", orderId: resting[1]!.body.orderId });
  expect(canceled.t).toBe("ok");
  expect(await trader.list("/v1/orders")).toEqual([]);

  held.release();
  const answers = await Promise.all(letIn);
  expect(answers.map(({ status }) => status)).toEqual(Array(PENDING).fill(200));
  const open = await trader.list("/v1/orders");
  expect(open.map(({ orderId }) => orderId).sort()).toEqual(
    answers.map(({ body }) => String(body.orderId)).sort(),
  );
  // A refused order left no trace: the same bytes, sent again, place it.
  const retried = await other.placeText(shedBody);
  expect(retried).toMatchObject({ status: 200, body: { status: "resting" } });
  expect(retried.headers.get("idempotent-replay")).toBeNull();
});
