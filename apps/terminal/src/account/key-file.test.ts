import type { SavedSession } from "@perpgate/sdk";
import { expect, test } from "vitest";
import { KeyFileError, openKeyFile, sealKeyFile } from "./key-file.js";

const SAVED: SavedSession = {
  version: 1,
  address: "0x00000000000000000000000000000000000000aa",
  token: "secret.7",
  expiresAt: 1_790_000_000_000,
  lastNonce: 12,
  sessionKey: { kind: "ed25519", publicKey: "ab".repeat(32), secret: "cd".repeat(32) },
};
const VENUE = "12".repeat(32);
const PASSPHRASE = "five words of a passphrase";

const sealed = await sealKeyFile(SAVED, PASSPHRASE, VENUE);

function changed(change: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...JSON.parse(sealed), ...change });
}

async function problemOf(text: string, passphrase = PASSPHRASE, venue: string | null = VENUE) {
  const error: unknown = await openKeyFile(text, passphrase, venue).catch((reason) => reason);
  return error instanceof KeyFileError ? error.problem : error;
}

test("openKeyFile: the same session; nothing secret is readable; 600,000 rounds or more", async () => {
  expect(await openKeyFile(sealed, PASSPHRASE, VENUE)).toEqual(SAVED);
  expect(sealed).not.toContain(SAVED.token);
  expect(sealed).not.toContain(SAVED.sessionKey.secret);
  expect(JSON.parse(sealed).rounds).toBeGreaterThanOrEqual(600_000);
});

test("openKeyFile: two files of one session and passphrase have nothing in common but the head", async () => {
  const { salt, nonce, bytes } = JSON.parse(await sealKeyFile(SAVED, PASSPHRASE, VENUE));
  const first = JSON.parse(sealed);
  expect([salt, nonce, bytes]).not.toContain(first.salt);
  expect(nonce).not.toBe(first.nonce);
  expect(bytes).not.toBe(first.bytes);
});

test("openKeyFile: a wrong passphrase, a damaged file, another venue and another file are told apart", async () => {
  const { bytes, salt } = JSON.parse(sealed);
  const flipped = (hex: string) => (hex.startsWith("0") ? "1" : "0") + hex.slice(1);
  expect(await problemOf(sealed, "another passphrase")).toBe("passphrase");
  expect(await problemOf(sealed, PASSPHRASE, "34".repeat(32))).toBe("venue");
  expect(await problemOf(sealed, PASSPHRASE, null)).toBe("venue");
  for (const change of [
    { bytes: flipped(bytes) },
    { bytes: bytes.slice(2) },
    { bytes: 7 },
    { salt: flipped(salt) },
    { nonce: "00" },
    { rounds: 1_000_001 },
    { rounds: 1e12 },
    { rounds: 0.5 },
    { expiresAt: 1 },
    { venueId: "34".repeat(32) },
    { sha256: "00".repeat(32) },
  ]) {
    expect(await problemOf(changed(change)), JSON.stringify(change).slice(0, 60)).toBe("damaged");
  }
  for (const text of ["", "no JSON", "null", "[]", "{}", changed({ format: "another/1" })]) {
    expect(await problemOf(text), text).toBe("format");
  }
  expect(await problemOf(sealed.slice(0, -20))).toBe("format");
});
