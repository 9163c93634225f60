import { PlaceOrderBody } from "@perpgate/protocol";
import { expect, test } from "vitest";
import { guardOf, refuseInvalid } from "./guard.js";

test("an unknown key of 60 KB: named by its beginning, in a short answer", () => {
  const isOrder = guardOf(PlaceOrderBody);
  const body = {
    symbol: "BTCUSD",
    side: "long",
    type: "market",
    margin: 1,
    leverage: 1,
    nonce: 1,
    ["k".repeat(60_000)]: 1,
  };
  expect(isOrder(body)).toBe(false);
  const refusal = refuseInvalid(isOrder.errors);
  expect(refusal.message).toContain(`${"k".repeat(64)}… is not a known key`);
  expect(JSON.stringify(refusal.toBody("id")).length).toBeLessThan(400);
});
