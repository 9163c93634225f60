import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { hexFromBytes } from "@perpgate/protocol/core";
import { hexToBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { RpcContractWallets } from "./contract-wallets.js";
import { NonceIssuer } from "./nonce-issuer.js";
import type { SignInRules } from "./sign-in.js";
import { DEFAULT_BOUND_SESSION_MS } from "./siwe-rules.js";
import { verifySignIn } from "./testing/proofs.js";
import { type SiweFields, siweText } from "./testing/siwe-text.js";

const NOW = Date.parse("2026-06-01T12:00:00Z");
const SECRET = new Uint8Array(32).fill(5);
const ED25519 = hexFromBytes(ed25519.getPublicKey(SECRET));
const WALLET = privateKeyToAccount(`0x${"11".repeat(32)}`);
const ORDER = secp256k1.Point.Fn.ORDER;
const RULES: SignInRules = {
  domains: new Set(["app.example"]),
  chainIds: undefined,
  nonce: "any",
  requireKeyBinding: false,
  maxBoundSessionMs: DEFAULT_BOUND_SESSION_MS,
};
const SERVICES = {
  nonces: new NonceIssuer(new Uint8Array(32).fill(1)),
  contracts: new RpcContractWallets(new Map()),
};

function messageWith(changes: SiweFields): string {
  return siweText({
    domain: "app.example",
    address: WALLET.address,
    statement: "Trade on Perpgate.",
    uri: "https://app.example/trade",
    version: "1",
    chainId: 1,
    nonce: "nonce1234",
    issuedAt: "2026-06-01T11:59:00Z",
    ...changes,
  });
}

async function signIn(
  changes: SiweFields = {},
  rules: Partial<SignInRules> = {},
  body: { signature?: string; sessionKey?: string } = {},
) {
  const message = messageWith(changes);
  const signature = body.signature ?? (await WALLET.signMessage({ message }));
  const sessionKey = body.sessionKey ?? ED25519;
  return verifySignIn({ message, signature, sessionKey }, NOW, { ...RULES, ...rules }, SERVICES);
}

async function signatureBytes(changes: SiweFields = {}): Promise<Uint8Array> {
  return hexToBytes(await WALLET.signMessage({ message: messageWith(changes) }));
}

describe("verifySignIn", () => {
  test("a good one: account, key, end and nonce", async () => {
    expect(await signIn()).toMatchObject({
      account: WALLET.address.slice(2).toLowerCase(),
      key: { kind: "ed25519" },
      resource: undefined,
      message: { nonce: "nonce1234" },
      expiresAtMs: NOW + 24 * 3_600_000,
      nonceForgottenAtMs: NOW - 60_000 + 720_000,
    });
  });

  test("an expiration: ends the session, but never after a day", async () => {
    const soon = await signIn({ expirationTime: "2026-06-01T13:00:00Z" });
    expect(soon.expiresAtMs).toBe(NOW + 3_600_000);
    const late = await signIn({ expirationTime: "2126-06-01T13:00:00Z" });
    expect(late.expiresAtMs).toBe(NOW + 24 * 3_600_000);
  });

  test("a bound key and an expiration: up to maxBoundSessionMs, by default 30 days", async () => {
    const day = 24 * 3_600_000;
    const resources = [`urn:perpgate:session?key=${ED25519}`];
    const within = { resources, expirationTime: "2026-06-20T12:00:00Z" };
    expect((await signIn(within)).expiresAtMs).toBe(NOW + 19 * day);
    const late = { resources, expirationTime: "2126-06-01T13:00:00Z" };
    expect((await signIn(late)).expiresAtMs).toBe(NOW + 30 * day);
    expect((await signIn(late, { maxBoundSessionMs: 7 * day })).expiresAtMs).toBe(NOW + 7 * day);
    expect((await signIn({ resources })).expiresAtMs).toBe(NOW + day);
    expect((await signIn({ expirationTime: within.expirationTime })).expiresAtMs).toBe(NOW + day);
  });

  const code = (expected: string, status = 401) => ({ name: "ApiError", code: expected, status });
  test.each<[string, SiweFields, Partial<SignInRules>, string]>([
    ["10 min 1 ms ago", { issuedAt: "2026-06-01T11:49:59.999Z" }, {}, "siwe_message_too_old"],
    ["60.001 s ahead", { issuedAt: "2026-06-01T12:01:00.001Z" }, {}, "siwe_message_from_future"],
    ["expired", { expirationTime: "2026-06-01T12:00:00Z" }, {}, "siwe_message_expired"],
    ["not yet valid", { notBefore: "2026-06-01T12:00:00.001Z" }, {}, "siwe_message_not_yet_valid"],
    ["an expiration of never", { expirationTime: "never" }, {}, "invalid_siwe_message"],
    [
      "a domain that is not listed",
      {},
      { domains: new Set(["b.example"]) },
      "siwe_domain_not_allowed",
    ],
    ["a URI of another domain", { uri: "https://b.example" }, {}, "siwe_domain_mismatch"],
    ["a URI of another port", { uri: "https://app.example:444" }, {}, "siwe_domain_mismatch"],
    ["userinfo in the domain", { domain: "u@app.example" }, {}, "siwe_domain_mismatch"],
    [
      "userinfo in both",
      { domain: "u@app.example", uri: "https://u@app.example" },
      {},
      "siwe_domain_not_allowed",
    ],
    ["a URI without authority", { uri: "urn:x:y" }, {}, "siwe_domain_mismatch"],
    ["a scheme that the URI has not", { scheme: "http" }, {}, "siwe_domain_mismatch"],
    ["a chain that is not listed", {}, { chainIds: new Set([10]) }, "siwe_chain_not_allowed"],
    ["a nonce of its own", {}, { nonce: "issued" }, "siwe_nonce_not_issued"],
    ["no bound key", {}, { requireKeyBinding: true }, "session_key_not_bound"],
    [
      "another key bound",
      { resources: [`urn:perpgate:session?key=${"07".repeat(32)}`] },
      {},
      "session_key_mismatch",
    ],
    ["a message without end", { statement: "a".repeat(5_000) }, {}, "invalid_siwe_message"],
    ["a nonce without end", { nonce: "a".repeat(129) }, {}, "invalid_siwe_message"],
    ["a chain id beyond 2^53", { chainId: "9007199254740993" }, {}, "invalid_siwe_message"],
  ])("%s: refused", async (_, changes, rules, expected) => {
    await expect(signIn(changes, rules)).rejects.toMatchObject(code(expected));
  });

  test("the edges of the times: accepted", async () => {
    await signIn({ issuedAt: "2026-06-01T11:50:00Z" });
    await signIn({ issuedAt: "2026-06-01T12:01:00Z" });
    await signIn({ notBefore: "2026-06-01T12:00:00Z" });
    await signIn({ expirationTime: "2026-06-01T12:00:00.001Z" });
  });

  test("any domain where that is configured, but still the URI's own", async () => {
    await signIn({ domain: "localhost:1", uri: "http://localhost:1/x" }, { domains: "any" });
    await signIn({ scheme: "https" });
    await expect(
      signIn({ domain: "localhost:1", uri: "http://localhost:2" }, { domains: "any" }),
    ).rejects.toMatchObject(code("siwe_domain_mismatch"));
  });

  test("an issued nonce: accepted where those are asked for, until it expires", async () => {
    const { nonce } = SERVICES.nonces.issue(NOW - 599_999);
    await signIn({ nonce }, { nonce: "issued" });
    const { nonce: old } = SERVICES.nonces.issue(NOW - 600_000);
    await expect(signIn({ nonce: old }, { nonce: "issued" })).rejects.toMatchObject(
      code("siwe_nonce_not_issued"),
    );
  });

  test("a bound key: accepted in any spelling of the same key, refused for another", async () => {
    const point = secp256k1.Point.BASE;
    const [short, long] = [hexFromBytes(point.toBytes(true)), hexFromBytes(point.toBytes(false))];
    const resources = [`urn:perpgate:session?key=0x${long}&symbols=BTCUSD`];
    const verified = await signIn({ resources }, {}, { sessionKey: short });
    expect(verified.resource?.symbols).toEqual(["BTCUSD"]);
    await expect(signIn({ resources })).rejects.toMatchObject({
      ...code("session_key_mismatch"),
      field: "sessionKey",
    });
  });

  test("a session key of small order: 400 before the signature is judged", async () => {
    const body = { sessionKey: `01${"00".repeat(31)}`, signature: "00".repeat(65) };
    await expect(signIn({}, {}, body)).rejects.toMatchObject(code("invalid_session_key", 400));
  });

  test("a session key of a wrong length: 400 before anything of the message is read", async () => {
    const body = { sessionKey: "01" };
    await expect(signIn({ version: "9" }, {}, body)).rejects.toMatchObject(
      code("invalid_session_key", 400),
    );
  });
});

describe("the wallet's signature", () => {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

  test("v of 0, 1, 27 and 28, with and without 0x, in capitals", async () => {
    const bytes = await signatureBytes();
    const parity = (bytes[64] ?? 0) - 27;
    for (const v of [parity, parity + 27]) {
      const text = hex(bytes.with(64, v));
      for (const signature of [text, `0x${text}`, text.toUpperCase()]) {
        await signIn({}, {}, { signature });
      }
    }
  });

  test("v of anything else: no key's signature", async () => {
    const bytes = await signatureBytes();
    for (const v of [2, 26, 29, 35, 255]) {
      await expect(signIn({}, {}, { signature: hex(bytes.with(64, v)) })).rejects.toMatchObject({
        code: "chain_rpc_not_configured",
      });
    }
  });

  test("EIP-2098, for both parities", async () => {
    const parities = new Set<number>();
    for (let i = 0; i < 40 && parities.size < 2; i++) {
      const nonce = `nonce000${i}`;
      const bytes = await signatureBytes({ nonce });
      const parity = (bytes[64] ?? 0) - 27;
      parities.add(parity);
      const compact = bytes.slice(0, 64);
      compact[32] = (compact[32] ?? 0) | (parity << 7);
      await signIn({ nonce }, {}, { signature: hex(compact) });
    }
    expect(parities.size).toBe(2);
  });

  test("a high S: the same signature to Ethereum, accepted", async () => {
    const bytes = await signatureBytes();
    const s = BigInt(`0x${hex(bytes.subarray(32, 64))}`);
    const high = (ORDER - s).toString(16).padStart(64, "0");
    const v = bytes[64] === 27 ? "1c" : "1b";
    await signIn({}, {}, { signature: `${hex(bytes.subarray(0, 32))}${high}${v}` });
  });

  test.each(["", "0x", "zz", "0xabc", "00".repeat(65), "ff".repeat(65), "ab".repeat(64)])(
    "%j: 401",
    async (signature) => {
      await expect(signIn({}, {}, { signature })).rejects.toMatchObject({ status: 401 });
    },
  );

  test("of another message or another wallet: 401 that names the address", async () => {
    const signature = hex(await signatureBytes({ nonce: "nonce9999" }));
    await expect(signIn({}, {}, { signature })).rejects.toMatchObject({
      code: "invalid_signature",
      field: "signature",
      details: { address: WALLET.address },
    });
  });
});
