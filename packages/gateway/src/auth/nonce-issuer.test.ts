import { expect, test } from "vitest";
import { NONCE_LIFETIME_MS, NonceIssuer } from "./nonce-issuer.js";

const issuer = new NonceIssuer(new Uint8Array(32).fill(1));
const NOW = 1_700_000_000_000;

test("issue: unique, alphanumeric, expires after its lifetime", () => {
  const nonces = Array.from({ length: 1_000 }, () => issuer.issue(NOW));
  expect(new Set(nonces.map(({ nonce }) => nonce)).size).toBe(1_000);
  for (const { nonce, expiresAt } of nonces) {
    expect(nonce).toMatch(/^[0-9a-z]{8,}$/);
    expect(expiresAt).toBe(NOW + NONCE_LIFETIME_MS);
    expect(issuer.recognises(nonce, NOW)).toBe(true);
    expect(issuer.recognises(nonce, expiresAt - 1)).toBe(true);
    expect(issuer.recognises(nonce, expiresAt)).toBe(false);
  }
});

test("recognises: no changed digit, no other key, no other text", () => {
  const { nonce } = issuer.issue(NOW);
  for (let i = 0; i < nonce.length; i++) {
    const digit = nonce[i] === "0" ? "1" : "0";
    expect(issuer.recognises(nonce.slice(0, i) + digit + nonce.slice(i + 1), NOW)).toBe(false);
  }
  expect(new NonceIssuer(new Uint8Array(32).fill(2)).recognises(nonce, NOW)).toBe(false);
  for (const text of [
    "",
    "abc",
    nonce.toUpperCase(),
    `${nonce}0`,
    nonce.slice(1),
    "é".repeat(76),
  ]) {
    expect(issuer.recognises(text, NOW)).toBe(false);
  }
});

test("a short key: refused", () => {
  expect(() => new NonceIssuer(new Uint8Array(31))).toThrow(RangeError);
});
