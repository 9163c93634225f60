import { CuttingProxy } from "@perpgate/gateway/testing";
import {
  createSessionKey,
  type SavedSession,
  sessionKeyFromSecret,
  type WalletProvider,
} from "@perpgate/sdk";
import type { EIP1193Provider } from "viem";
import { afterAll, describe, expect, expectTypeOf, test, vi } from "vitest";
import { BID, newAccount, newClient, newSession, startVenue } from "../testing/venue.js";

const at = await startVenue({ signIn: { nonce: "issued", requireKeyBinding: true } }, afterAll);

/** A browser wallet: hex in, hex out, one account; it records every request. */
function newWallet(
  chainId = "0xa4b1",
): WalletProvider & { asked: string[]; address: string; text: string } {
  const account = newAccount();
  const wallet = {
    asked: [] as string[],
    address: account.address,
    text: "",
    request: async ({ method, params }: { method: string; params?: unknown }): Promise<unknown> => {
      wallet.asked.push(method);
      if (method === "eth_requestAccounts") return [account.address.toLowerCase()];
      if (method === "eth_chainId") return chainId;
      if (method !== "personal_sign" || !Array.isArray(params)) throw new Error(`no ${method}`);
      const [hex, address]: string[] = params;
      if (address?.toLowerCase() !== account.address.toLowerCase()) throw new Error("who?");
      wallet.text = Buffer.from((hex ?? "").slice(2), "hex").toString();
      return account.signMessage({ message: wallet.text });
    },
  };
  return wallet;
}

describe("sign-in", () => {
  test("a viem account: an Ed25519 key, bound, on a gateway with all checks on", async () => {
    const client = newClient(at);
    const account = newAccount();
    const session = await client.signIn({ account });
    expect(session.address).toBe(account.address);
    expect(session.sessionKey).toMatch(/^[0-9a-f]{64}$/);
    expect(session.token).not.toBe("");
    expect(session.expiresAt).toBeGreaterThan(at.nowMs() + 23 * 3_600_000);
    expect((await session.account()).session).toMatchObject({
      sessionKey: session.sessionKey,
      kind: "ed25519",
      scope: { maxOrderNotional: null, maxNotional: null, symbols: null },
    });
  });

  test("secp256k1: signs orders and rotates to either kind", async () => {
    const session = await newSession(newClient(at), { sessionKeyKind: "secp256k1" });
    expect(session.sessionKey).toMatch(/^0[23][0-9a-f]{64}$/);
    expect(await session.placeOrder(BID)).toMatchObject({ status: "resting" });
    await session.rotate();
    expect(session.sessionKey).toMatch(/^0[23]/);
    await session.rotate({ sessionKeyKind: "ed25519" });
    expect(session.sessionKey).toHaveLength(64);
    expect(await session.placeOrder(BID)).toMatchObject({ status: "resting" });
  });

  test("a wallet: one request each for account, chain and signature", async () => {
    const wallet = newWallet();
    const session = await newClient(at).signIn({ wallet, statement: "Trade here." });
    expect(session.address).toBe(wallet.address);
    expect(wallet.asked).toEqual(["eth_requestAccounts", "eth_chainId", "personal_sign"]);
    expect(wallet.text).toContain(`\n${wallet.address}\n\nTrade here.\n\nURI: ${at.url}\n`);
    expect(wallet.text).toContain("\nChain ID: 42161\n");
    expect(wallet.text).toMatch(/\nResources:\n- urn:perpgate:session\?key=[0-9a-f]{64}$/);
    await session.placeOrder(BID);
    expect(wallet.asked).toHaveLength(3);
  });

  test("a wallet with a given address: no account request", async () => {
    const wallet = newWallet();
    const { address } = await newClient(at).signIn({ wallet, address: wallet.address, chainId: 1 });
    expect([address, wallet.asked]).toEqual([wallet.address, ["personal_sign"]]);
  });

  test("a wallet that refuses: its error, no session", async () => {
    const refusal = Object.assign(new Error("User rejected the request."), { code: 4001 });
    const wallet = { request: () => Promise.reject(refusal) };
    await expect(newClient(at).signIn({ wallet })).rejects.toBe(refusal);
  });

  test("types: any EIP-1193 provider fits", () => {
    expectTypeOf<EIP1193Provider>().toExtend<WalletProvider>();
  });

  test("caps: limit the key", async () => {
    const caps = { maxOrderNotional: 1_000, maxNotional: 1_500.25, symbols: ["BTCUSD"] };
    const session = await newSession(newClient(at), { caps });
    expect((await session.account()).session.scope).toEqual(caps);
    await expect(session.placeOrder({ ...BID, margin: 300 })).rejects.toMatchObject({
      code: "session_order_cap_exceeded",
    });
    await expect(session.placeOrder({ ...BID, symbol: "ETHUSD" })).rejects.toMatchObject({
      code: "session_symbol_not_allowed",
    });
    for (const wrong of [{ maxNotional: 0 }, { maxOrderNotional: 1e9 }, { symbols: [] }]) {
      await expect(newSession(newClient(at), { caps: wrong })).rejects.toThrow(RangeError);
    }
  });

  test("expiresInMs, domain and uri: used", async () => {
    const wallet = newWallet();
    const fields = { domain: "app.example", uri: "https://app.example", expiresInMs: 3_600_000 };
    const { expiresAt } = await newClient(at).signIn({ wallet, ...fields });
    expect(Math.abs(expiresAt - Date.now() - 3_600_000)).toBeLessThan(600_000);
    expect(wallet.text).toMatch(/^app\.example wants you/);
    const [only, other] = [newWallet(), newWallet()];
    await newClient(at).signIn({ wallet: only, domain: "trade.example" });
    expect(only.text).toContain("\nURI: https://trade.example\n");
    await newClient(at).signIn({ wallet: other, uri: "https://page.example/app" });
    expect(other.text).toMatch(/^page\.example wants you/);
  });

  test("a wrong clock: the error has the difference", async () => {
    const early = await startVenue({ startMs: Date.now() - 3_600_000 });
    await expect(newSession(newClient(early))).rejects.toMatchObject({
      code: "siwe_message_from_future",
      message: expect.stringMatching(/clock is 3[56]\d\d s ahead of the server's/),
    });
    const late = await startVenue({ startMs: Date.now() + 3_600_000 });
    // A nonce of the server is valid by the server's clock, so only the message is too old.
    await expect(newSession(newClient(late))).rejects.toMatchObject({
      code: "siwe_message_too_old",
      message: expect.stringMatching(/clock is 3[56]\d\d s behind the server's/),
    });
  });

  test("a lost response: a new message is signed, once", async () => {
    const proxy = await CuttingProxy.before(at.url);
    let answers = 0;
    // The response with the nonce passes; the second one, of the sign-in, does not.
    proxy.fate = (direction) => (direction === "down" && ++answers === 2 ? "cut before" : "pass");
    const account = newAccount();
    const signMessage = vi.fn(account.signMessage);
    const session = await newClient(proxy).signIn({ account: { ...account, signMessage } });
    expect(signMessage).toHaveBeenCalledTimes(2);
    expect(await session.account()).toMatchObject({ address: account.address });
  });

  test("a mistyped address: refused by the client", async () => {
    const account = { ...newAccount(), address: "0x52908400098527886E0F7030069857D2E4169Ee7" };
    await expect(newClient(at).signIn({ account })).rejects.toThrow(/checksum/);
    await expect(
      newClient(at).signIn({ account: { ...account, address: "0x12" } }),
    ).rejects.toThrow(TypeError);
  });
});

describe("save and restore", () => {
  test("through JSON: the same session, nonces continue above", async () => {
    const client = newClient(at);
    for (const sessionKeyKind of ["ed25519", "secp256k1"] as const) {
      const session = await newSession(client, { sessionKeyKind });
      const { nonce } = await session.placeOrder(BID);
      const saved: SavedSession = JSON.parse(JSON.stringify(session.save()));
      const again = newClient(at).restore(saved);
      expect([again.address, again.token, again.expiresAt, again.sessionKey]).toEqual([
        session.address,
        session.token,
        session.expiresAt,
        session.sessionKey,
      ]);
      const placed = await again.placeOrder(BID);
      expect(placed).toMatchObject({ status: "resting", replayed: false });
      expect(placed.nonce).toBeGreaterThan(nonce);
      expect(again.save().sessionKey).toEqual(saved.sessionKey);
    }
  });

  test("after a rotation: the new key is saved", async () => {
    const client = newClient(at);
    const session = await newSession(client);
    await session.rotate();
    const again = client.restore(session.save());
    expect(await again.placeOrder(BID)).toMatchObject({ status: "resting" });
  });

  test("a key that cannot be read: not saved, stored by its handle", async () => {
    const client = newClient(at);
    const session = await newSession(client, { saveable: false });
    expect(() => session.save()).toThrow(/saveable/);
    // What IndexedDB does.
    const stored = structuredClone(session.store());
    expect(JSON.stringify(stored)).not.toMatch(/secret/);
    expect(await client.restore(stored).placeOrder(BID)).toMatchObject({ status: "resting" });
    await session.rotate();
    expect(() => session.save()).toThrow(/saveable/);
  });

  test("a value that save() did not return: refused", async () => {
    const client = newClient(at);
    const saved = (await newSession(client)).save();
    const { secret } = await createSessionKey({ saveable: true });
    const wrong: unknown[] = [
      {},
      { ...saved, version: 2 },
      { ...saved, token: 5 },
      { ...saved, sessionKey: { ...saved.sessionKey, secret } },
      { ...saved, sessionKey: { ...saved.sessionKey, secret: "00" } },
      { ...saved, sessionKey: { ...saved.sessionKey, secret: undefined, handle: {} } },
    ];
    for (const value of wrong) {
      const text = JSON.stringify(value);
      expect(() => client.restore(JSON.parse(text)), text).toThrow(/./);
    }
  });
});

describe("session keys", () => {
  test("createSessionKey, sessionKeyFromSecret: the same key and the same signatures", async () => {
    const bytes = new TextEncoder().encode("an order");
    for (const kind of ["ed25519", "secp256k1"] as const) {
      const key = await createSessionKey({ kind, saveable: true });
      const again = sessionKeyFromSecret(kind, key.secret ?? "");
      expect(again.publicKey).toBe(key.publicKey);
      expect(await again.sign(bytes)).toEqual(await key.sign(bytes));
    }
  });

  test("a platform without Ed25519 in WebCrypto: signs in memory", async () => {
    vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
    try {
      const session = await newSession(newClient(at));
      expect(await session.placeOrder(BID)).toMatchObject({ status: "resting" });
      expect(() => session.store()).toThrow(/save/);
      const again = newClient(at).restore(session.save());
      expect(await again.placeOrder(BID)).toMatchObject({ status: "resting" });
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test("a given key: used", async () => {
    const made = await createSessionKey();
    const sign = vi.fn(made.sign);
    const { kind, publicKey } = made;
    const session = await newSession(newClient(at), { sessionKey: { kind, publicKey, sign } });
    await session.placeOrder(BID);
    expect(sign).toHaveBeenCalledTimes(1);
    expect(session.sessionKey).toBe(publicKey);
  });
});
