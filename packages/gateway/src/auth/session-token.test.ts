import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { newToken, tokenHashOf } from "./session-token.js";

test("newToken: 256 bits in base64url, never the same, known by its hash", () => {
  const tokens = Array.from({ length: 1_000 }, () => newToken());
  expect(new Set(tokens.map(({ token }) => token)).size).toBe(1_000);
  for (const { token, tokenHash } of tokens) {
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(tokenHash).toBe(createHash("sha256").update(token).digest("hex"));
    expect(tokenHashOf(token)).toBe(tokenHash);
  }
});

test("tokenHashOf: a token with anything after it is another text, however long", () => {
  const { token, tokenHash } = newToken();
  for (const tail of ["A", "AAAAAAAA", "A".repeat(60_000)]) {
    expect(tokenHashOf(token + tail)).not.toBe(tokenHash);
  }
});
