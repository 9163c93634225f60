import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { BearerToken, bearerTokenOf, newSecret, tokenOf } from "./session-token.js";

test("newSecret: 256 bits in base64url, never the same, known by its hash", () => {
  const secrets = Array.from({ length: 1_000 }, () => newSecret());
  expect(new Set(secrets.map(({ secret }) => secret)).size).toBe(1_000);
  for (const { secret, tokenHash } of secrets) {
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(secret, "base64url")).toHaveLength(32);
    expect(tokenHash).toBe(createHash("sha256").update(secret).digest("hex"));
  }
});

test("a token: names its session, and matches the hash of that session alone", () => {
  const secret = newSecret();
  const sessions = new Map([
    [7, { number: 7, tokenHash: secret.tokenHash }],
    [8, { number: 8, tokenHash: newSecret().tokenHash }],
  ]);
  const find = (text: string) => {
    const token = new BearerToken(text);
    const session = sessions.get(token.session);
    return session !== undefined && token.matches(session.tokenHash) ? session.number : undefined;
  };
  expect(tokenOf(secret, 7)).toBe(`${secret.secret}.7`);
  expect(find(tokenOf(secret, 7))).toBe(7);
  for (const other of [
    tokenOf(secret, 8),
    tokenOf(secret, 9),
    tokenOf(newSecret(), 7),
    secret.secret,
    `${secret.secret}.`,
    `${secret.secret}.07`,
    `${secret.secret}.7.7`,
    `${secret.secret}.7A`,
    `${secret.secret}A.7`,
    `${secret.secret.slice(1)}.7`,
    `${secret.secret}.${"7".repeat(60_000)}`,
    ".7",
    "",
  ]) {
    expect(find(other), other.slice(0, 60)).toBeUndefined();
  }
});

test("a token that has matched matches no other hash, and the first one again", () => {
  const secret = newSecret();
  const token = new BearerToken(tokenOf(secret, 7));
  const found = [secret.tokenHash, newSecret().tokenHash, "", secret.tokenHash].map((tokenHash) =>
    token.matches(tokenHash),
  );
  expect(found).toEqual([true, false, false, true]);
});

test("a token is kept for its own header alone, and only if it names a session", () => {
  const text = tokenOf(newSecret(), 7);
  const token = bearerTokenOf(`Bearer ${text}`);
  for (const header of [`Bearer ${text}`, `Bearer  ${text}`, `bearer ${text}`]) {
    expect(bearerTokenOf(header)?.text).toBe(text);
    expect(token?.isSentAs(header)).toBe(header === `Bearer ${text}`);
  }
  for (const other of [undefined, "", text, `Bearer ${text}7`, `Bearer ${text.slice(1)}`]) {
    expect(token?.isSentAs(other)).toBe(false);
  }
  expect(bearerTokenOf("Bearer none")?.isSentAs("Bearer none")).toBe(false);
});
