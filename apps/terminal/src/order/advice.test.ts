import { END_REASONS } from "@perpgate/engine";
import { ConnectionError, PerpgateError } from "@perpgate/sdk";
import { describe, expect, test } from "vitest";
import { t } from "../text/texts.js";
import { adviceOn } from "./advice.js";
import { reasonText } from "./reasons.js";

test("every end reason of the engine has a text", () => {
  const missing = END_REASONS.filter(
    (reason) => reason !== "none" && !(reason in t.advice.reasons),
  );
  expect(missing).toEqual([]);
});

test("an order that was filled but for the last of it: no deposit is advised", () => {
  expect(reasonText("unfunded")).toContain("Deposit");
  expect(reasonText("unfunded", true)).not.toContain("Deposit");
});

describe("advice", () => {
  const refusal = (code: string, details: Record<string, unknown>) =>
    new PerpgateError({ code, message: "the message", requestId: "r", details }, { status: 400 });

  test("a correcting number is offered, rounded down to cents", () => {
    expect(adviceOn(refusal("insufficient_margin", { maxMargin: 8_975.609737 })).action).toEqual({
      kind: "change",
      label: "Use 8,975.60",
      change: { unit: "margin", amount: "8975.60", share: 0 },
    });
    expect(adviceOn(refusal("insufficient_margin", { maxMargin: 1.13 })).action).toMatchObject({
      change: { amount: "1.13" },
    });
    expect(adviceOn(refusal("insufficient_margin", { maxMargin: 0 })).action?.kind).toBe("deposit");
    expect(adviceOn(refusal("price_not_on_tick", { below: 1.1, above: 1.2 })).action).toMatchObject(
      {
        label: "Use 1.1",
      },
    );
    const outside = { price: 70_000, low: 61_750, high: 68_250, mark: 65_000 };
    expect(adviceOn(refusal("price_outside_band", outside)).action).toMatchObject({
      change: { price: "68250" },
    });
  });

  test("an unknown code shows the server's message; an internal error shows its request id", () => {
    expect(adviceOn(refusal("newer_rule", {}))).toEqual({ title: "Rejected", text: "the message" });
    expect(adviceOn(refusal("internal_error", {})).requestId).toBe("r");
  });

  test("unknown outcome: says so and offers no retry", () => {
    const body = { code: "stopped", message: "It stops.", requestId: "r" };
    const open = adviceOn(new PerpgateError(body, { status: 503, outcome: "unknown" }));
    expect(open.title).toBe("Outcome unknown");
    expect(open.text).toMatch(/^It stops\. The request may have been carried out/);
    expect(open.action).toBeUndefined();
    const busy = { ...body, code: "overloaded" };
    const refused = adviceOn(new PerpgateError(busy, { status: 503, outcome: "refused" }));
    expect(refused).toMatchObject({ text: "It stops.", action: { kind: "retry" } });
    const ended = { ...body, code: "invalid_token" };
    expect(adviceOn(new PerpgateError(ended, { status: 401, outcome: "unknown" }))).toMatchObject({
      text: expect.stringContaining("may have been"),
      action: { kind: "sign-in" },
    });
  });

  test.each([
    ["not_executed", "Not executed"],
    ["lagging", "Gateway is behind"],
  ])("%s: sent again by a press, unless an earlier try had no answer", (code, title) => {
    const body = { code, message: "It waits.", requestId: "r" };
    const refused = adviceOn(new PerpgateError(body, { status: 503, outcome: "refused" }));
    expect(refused).toEqual({
      title,
      text: "It waits.",
      action: { kind: "retry", label: "Send again" },
      endsWith: "time",
    });
    const open = adviceOn(new PerpgateError(body, { status: 503, outcome: "unknown" }));
    expect(open.title).toBe("Outcome unknown");
    expect(open.action).toBeUndefined();
    expect(open.endsWith).toBeUndefined();
  });

  test("a refusal whose cause ends by itself: with other money, or with time", () => {
    const endsWith = (code: string) => adviceOn(refusal(code, {})).endsWith;
    expect(endsWith("insufficient_margin")).toBe("money");
    expect(["stale_index", "overloaded", "rate_limited"].map(endsWith)).toEqual(
      Array(3).fill("time"),
    );
    expect(endsWith("price_outside_band")).toBeUndefined();
  });

  test("connection error: whether the request may have been carried out", () => {
    expect(adviceOn(new ConnectionError("cut", { outcome: "unknown" })).text).toContain("may have");
    expect(adviceOn(new ConnectionError("cut", { outcome: "not_sent" })).text).toContain("Nothing");
  });
});
