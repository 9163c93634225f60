import { PATTERN_WORDS, PlaceOrderBody } from "@perpgate/protocol";
import { OPERATIONS, SOCKET_OPERATIONS } from "@perpgate/protocol/operations";
import { type TSchema, Type } from "typebox";
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

/** The patterns in a schema. */
function patternsIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = "pattern" in schema && typeof schema.pattern === "string" ? [schema.pattern] : [];
  return [...own, ...Object.values(schema).flatMap(patternsIn)];
}

test("every pattern of what clients send has words", () => {
  const sent: TSchema[] = [
    ...OPERATIONS.flatMap(({ params, query, body }) => [params, query, body]),
    ...SOCKET_OPERATIONS.map(({ message }) => message),
  ];
  const patterns = new Set(sent.flatMap(patternsIn));
  expect(patterns.size).toBeGreaterThan(3);
  expect([...patterns].filter((pattern) => !PATTERN_WORDS.has(pattern))).toEqual([]);
});

test("a constant: named, not called a constant", () => {
  const guard = guardOf(Type.Object({ op: Type.Literal("place") }));
  expect(guard({ op: "plaice" })).toBe(false);
  expect(refuseInvalid(guard.errors).message).toContain('op must be "place"');
});
