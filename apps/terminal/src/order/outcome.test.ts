import type { BatchAnswer } from "@perpgate/sdk";
import { expect, test } from "vitest";
import { shownOutcome } from "./outcome.js";

type Parts = Parameters<typeof shownOutcome>[0];

const FILLED = { status: 200, ack: { status: "filled", filledSize: 1, reason: null } } as const;
const RESTING = { status: 200, ack: { status: "resting", filledSize: 0, reason: null } } as const;
const UNFILLED = {
  status: 200,
  ack: { status: "canceled", filledSize: 0, reason: "worst_price" },
} as const;
const PARTLY = { status: 200, ack: { ...UNFILLED.ack, filledSize: 0.5 } } as const;
const REFUSED: BatchAnswer["results"][number] = {
  status: 400,
  error: { code: "insufficient_margin", message: "More margin is needed." },
};
const CANCELED: BatchAnswer["results"][number] = {
  status: 200,
  canceled: { orderId: "1", status: "canceled", remainingSize: 1 },
};

test.each<[string, Parts, string]>([
  ["filled", [FILLED, FILLED], "executed"],
  ["resting", [RESTING], "executed"],
  ["a cancel", [CANCELED], "executed"],
  ["not filled", [UNFILLED, UNFILLED], "not filled"],
  ["filled in part", [PARTLY], "partly filled"],
  ["one of two filled", [FILLED, UNFILLED], "partly filled"],
  ["an entry that is not filled, with its exit", [UNFILLED, RESTING], "partly executed"],
  ["refused", [REFUSED], "not executed"],
  ["one of two refused", [REFUSED, FILLED], "partly executed"],
  ["one refused, the other not filled", [REFUSED, UNFILLED], "not executed"],
])("outcomeOf: %s", (_, parts, outcome) => {
  expect(shownOutcome(parts).outcome).toBe(outcome);
});

test("outcomeOf: the reason is that of the first part, which the others may follow from", () => {
  const { error, reason } = shownOutcome([UNFILLED, REFUSED]);
  expect([error, reason]).toEqual([undefined, "worst_price"]);
  expect(shownOutcome([REFUSED, UNFILLED]).error?.code).toBe("insufficient_margin");
});
