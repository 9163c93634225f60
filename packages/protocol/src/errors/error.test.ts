import { readFileSync } from "node:fs";
import { describe, expect, expectTypeOf, test } from "vitest";
import { ApiError, ERROR_CODES, type ErrorValues } from "./error.js";
import { ERROR_TABLE } from "./error-table.js";

describe("error table", () => {
  test("every code: a snake_case word, a 4xx or 5xx status, a sentence", () => {
    expect(ERROR_CODES.length).toBeGreaterThan(60);
    for (const code of ERROR_CODES) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      const { status, message } = ERROR_TABLE[code];
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
      expect(message).toMatch(/[.]$/);
    }
  });

  test.each([
    ["invalid_request", 400],
    ["size_below_lot", 400],
    ["insufficient_margin", 400],
    ["price_outside_band", 400],
    ["nonce_too_old", 400],
    ["stale_index", 400],
    ["unknown_symbol", 400],
    ["invalid_session_key", 400],
    ["signature_required", 401],
    ["invalid_signature", 401],
    ["siwe_nonce_used", 401],
    ["not_in_cohort", 403],
    ["market_not_found", 404],
    ["order_not_found", 404],
    ["not_sealed", 404],
    ["nonce_conflict", 409],
    ["order_not_cancelable", 409],
    ["body_too_large", 413],
    ["unsupported_media_type", 415],
    ["rate_limited", 429],
    ["overloaded", 503],
    ["stopped", 503],
  ] as const)("%s: status %d as the contract states", (code, status) => {
    expect(ERROR_TABLE[code].status).toBe(status);
  });

  test("the answers that the README quotes are those of the table", () => {
    const readme = readFileSync(new URL("../../../../README.md", import.meta.url), "utf8");
    const quoted = [...readme.matchAll(/^\{"code":"(\w+)","message":"([^"]+)"/gm)];
    expect(quoted.length).toBeGreaterThan(2);
    for (const [, code, message = ""] of quoted) {
      const fixed = ERROR_TABLE[code as keyof typeof ERROR_TABLE].message.split(/\{\w+\}/);
      expect(fixed.filter((part) => !message.includes(part))).toEqual([]);
    }
  });
});

describe("ApiError", () => {
  test("a value or field of 64 KB: cut to 300 characters", () => {
    const long = "x".repeat(65_536);
    const refusal = new ApiError(
      "unknown_stream",
      { stream: long, known: "blocks" },
      { field: long },
    );
    expect(refusal.message).toBe(`No stream "${"x".repeat(300)}…"; there are blocks.`);
    expect(refusal.field).toBe(`${"x".repeat(300)}…`);
  });

  test("fills every brace of its message", () => {
    const refusal = new ApiError(
      "price_outside_band",
      { price: 70000, low: 61750, high: 68250, mark: 65000 },
      { field: "price" },
    );
    expect(refusal.toBody("r1")).toEqual({
      code: "price_outside_band",
      message: "Price 70000 is outside the band 61750 to 68250 around the mark 65000.",
      requestId: "r1",
      field: "price",
    });
  });

  test("without field and details: leaves them out", () => {
    expect(Object.keys(new ApiError("token_required", {}).toBody("r2"))).toEqual([
      "code",
      "message",
      "requestId",
    ]);
  });

  test("the compiler knows which values a code needs", () => {
    expectTypeOf<keyof ErrorValues<"nonce_conflict">>().toEqualTypeOf<"nonce" | "ackNonce">();
    // @ts-expect-error the message of rate_limited names retryAfterSeconds
    expect(new ApiError("rate_limited", {}).message).toContain("undefined");
  });
});
