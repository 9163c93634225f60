import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { jsonPost } from "../testing/running-gateway.js";
import { runVenue } from "./testing/running-venue.js";
import { newSessionKey, Trader } from "./testing/trader.js";

describe("repeating an order", () => {
  test("same nonce, same body: the original acknowledgement, even with a wrong signature", async () => {
    const trader = await Trader.enter(await runVenue());
    const text = JSON.stringify(trader.limit("long", 60_000));
    const first = await trader.placeText(text);
    expect(first.headers.get("idempotent-replay")).toBeNull();
    for (const plan of ["digest", "none", { header: "00".repeat(64) }] as const) {
      const again = await trader.placeText(text, plan);
      expect(again.status).toBe(200);
      expect(again.headers.get("idempotent-replay")).toBe("true");
      const { elapsedMs: _, ...expected } = first.body;
      expect(again.body).toEqual({ ...expected, elapsedMs: expect.any(Number) });
    }
    expect(await trader.list("/v1/orders")).toHaveLength(1);
  });

  test("same nonce, another body: 409 with the original, but only to the key's owner", async () => {
    const trader = await Trader.enter(await runVenue());
    const body = trader.limit("long", 60_000);
    const first = await trader.place(body);
    const changed = { ...body, margin: 101 };
    const conflict = await trader.place(changed);
    expect(conflict.status).toBe(409);
    expect(conflict.body).toMatchObject({
      code: "nonce_conflict",
      field: "nonce",
      details: { ackNonce: first.body.ackNonce, nonce: body.nonce },
    });
    const forged = await trader.place(changed, { header: "00".repeat(64) });
    expect(forged.body.code).toBe("invalid_signature");
    expect((await trader.place(changed, "none")).body.code).toBe("signature_required");
    // The bytes decide, not what they mean.
    expect((await trader.placeText(` ${JSON.stringify(body)}`)).body.code).toBe("nonce_conflict");
  });

  test("twenty concurrently: one order, one acknowledgement", async () => {
    const trader = await Trader.enter(await runVenue());
    const text = JSON.stringify(trader.limit("long", 60_000));
    const answers = await Promise.all(Array.from({ length: 20 }, () => trader.placeText(text)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map(({ body }) => body.ackNonce)).size).toBe(1);
    const replays = answers.filter(({ headers }) => headers.get("idempotent-replay") === "true");
    expect(replays).toHaveLength(19);
    expect(await trader.list("/v1/orders")).toHaveLength(1);
  });

  test("two bodies race for one nonce: one wins, the other conflicts", async () => {
    const trader = await Trader.enter(await runVenue());
    const body = trader.limit("long", 60_000);
    const answers = await Promise.all([
      trader.place(body),
      trader.place({ ...body, price: 60_001 }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test("a refused order consumes nothing: the nonce may be used again", async () => {
    const trader = await Trader.enter(await runVenue());
    const body = trader.limit("long", 99_000);
    expect((await trader.place(body)).body.code).toBe("price_outside_band");
    expect((await trader.place({ ...body, price: 60_000 })).status).toBe(200);
  });
});

describe("authorisation", () => {
  test("another's order: 404 to read and to cancel, and it stays", async () => {
    const at = await runVenue();
    const [owner, thief] = [await Trader.enter(at), await Trader.enter(at)];
    const { orderId } = (await owner.place(owner.limit("long", 60_000))).body;
    for (const answer of [await thief.get(`/v1/orders/${orderId}`), await thief.cancel(orderId)]) {
      expect(answer.status).toBe(404);
      expect(answer.body.code).toBe("order_not_found");
    }
    expect((await thief.send("/v1/orders/cancel-all")).body).toEqual({ canceled: [] });
    expect(await owner.list("/v1/orders")).toHaveLength(1);
  });

  test("a stolen token without the key: reads, but places nothing", async () => {
    const at = await runVenue();
    const owner = await Trader.enter(at);
    const thief = new Trader(at);
    thief.token = owner.token;
    const answer = await thief.place(thief.order());
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe("invalid_signature");
    expect(answer.body.details).toMatchObject({
      kind: "ed25519",
      fingerprint: createHash("sha256")
        .update(Buffer.from(owner.sessionKey.publicHex, "hex"))
        .digest("hex"),
      bodySha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("tokens that are almost right, and hashes of right ones: 401", async () => {
    const trader = await Trader.enter(await runVenue());
    const { token } = trader;
    const changed = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
    const hash = createHash("sha256").update(token).digest("hex");
    for (const guess of [changed, token.slice(0, -1), `${token}A`, hash, token.toLowerCase()]) {
      trader.token = guess;
      const { status, body } = await trader.get("/v1/positions");
      expect({ status, code: body.code }).toEqual({ status: 401, code: "invalid_token" });
    }
  });

  test("a tampered body: 401, and nothing happens", async () => {
    const trader = await Trader.enter(await runVenue());
    const text = JSON.stringify(trader.limit("long", 60_000));
    const header = trader.signatureOf(text)["x-service-sig"] ?? "";
    const tampered = text.replace("60000", "60001");
    expect((await trader.placeText(tampered, { header })).body.code).toBe("invalid_signature");
    expect(await trader.list("/v1/orders?status=all")).toEqual([]);
  });

  test("another session's signature: not valid here, though the account is the same", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const old = trader.sessionKey;
    trader.sessionKey = newSessionKey();
    await trader.signIn();
    const text = JSON.stringify(trader.limit("long", 60_000));
    const digest = createHash("sha256").update(text).digest();
    const header = sign(null, digest, old.privateKey).toString("hex");
    expect((await trader.placeText(text, { header })).body.code).toBe("invalid_signature");
    expect((await trader.placeText(text)).status).toBe(200);
  });

  test("secp256k1 session keys: raw, with recovery byte and DER", async () => {
    const at = await runVenue();
    const trader = new Trader(at);
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    const hex = Buffer.concat([Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
    const answer = await trader.submitSignIn(trader.message(), {
      sessionKey: hex.toString("hex"),
    });
    expect(answer.status, answer.text).toBe(200);
    for (const dsaEncoding of ["ieee-p1363", "der"] as const) {
      const text = JSON.stringify(trader.limit("long", 60_000));
      const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding });
      const header = signature.toString("base64url");
      expect((await trader.placeText(text, { header })).status).toBe(200);
    }
    expect((await trader.get("/v1/account")).body.session).toMatchObject({ kind: "secp256k1" });
  });
});

describe("sessions", () => {
  test("twenty parallel submissions of one message: exactly one session", async () => {
    const at = await runVenue();
    const trader = new Trader(at);
    const message = trader.message();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => trader.submitSignIn(message)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array(19).fill(401)]);
    const codes = answers.filter(({ status }) => status === 401).map(({ body }) => body.code);
    expect(new Set(codes)).toEqual(new Set(["siwe_nonce_used"]));
  });

  test("a failed attempt does not use its nonce, and another address may use the same one", async () => {
    const at = await runVenue();
    const trader = new Trader(at);
    const message = trader.message({ nonce: "sharednonce1" });
    const failed = await trader.submitSignIn(message, { signature: "0x00" });
    expect(failed.status).toBe(401);
    expect((await trader.submitSignIn(message)).status).toBe(200);
    const other = new Trader(at);
    expect((await other.signIn({ nonce: "sharednonce1" })).status).toBe(200);
  });

  test("an expired session: its token is unknown, its orders rest on", async () => {
    const at = await runVenue();
    const expirationTime = new Date(at.nowMs() + 5_000).toISOString();
    const trader = await Trader.enter(at, { expirationTime });
    await trader.place(trader.limit("long", 60_000));
    await at.advance(5_200);
    expect((await trader.get("/v1/positions")).body.code).toBe("invalid_token");
    expect((await trader.place(trader.order())).body.code).toBe("invalid_token");
    await trader.signIn();
    expect(await trader.list("/v1/orders")).toHaveLength(1);
  });

  test("rotate: the same token, the new key; the old one no longer signs", async () => {
    const trader = await Trader.enter(await runVenue());
    const old = trader.sessionKey;
    const next = newSessionKey();
    const first = JSON.stringify(trader.limit("long", 60_000));
    await trader.placeText(first);
    const rotated = await trader.rotate(next.publicHex);
    expect(rotated.body).toEqual({
      token: trader.token,
      expiresAt: trader.expiresAt,
      sessionKey: next.publicHex,
    });
    expect((await trader.place(trader.limit("long", 60_000))).body.code).toBe("invalid_signature");
    trader.sessionKey = next;
    expect((await trader.place(trader.limit("long", 60_000))).status).toBe(200);
    // Nonces are the session's and outlive its keys.
    expect((await trader.placeText(first)).headers.get("idempotent-replay")).toBe("true");
    expect((await trader.get("/v1/account")).body.session).toMatchObject({
      sessionKey: next.publicHex,
    });
    trader.sessionKey = old;
    expect((await trader.place(trader.order())).body.code).toBe("invalid_signature");
  });

  test("rotate of a bound key: needs the old key's signature", async () => {
    const at = await runVenue();
    const trader = new Trader(at);
    await trader.signIn({ resources: [trader.resource("&maxOrderNotional=1000")] });
    const next = newSessionKey();
    expect((await trader.rotate(next.publicHex)).body.code).toBe("signature_required");
    const forged = await trader.rotate(next.publicHex, { header: "00".repeat(64) });
    expect(forged.body.code).toBe("invalid_signature");
    expect((await trader.rotate(next.publicHex, "digest")).status).toBe(200);
    trader.sessionKey = next;
    // Caps survive the rotation, and so does being bound.
    const capped = await trader.place(trader.limit("long", 60_000, { margin: 300 }));
    expect(capped.body.code).toBe("session_order_cap_exceeded");
    expect((await trader.rotate(newSessionKey().publicHex)).body.code).toBe("signature_required");
  });

  test("orders signed by the old key that meet a rotation in the log: refused there", async () => {
    const trader = await Trader.enter(await runVenue());
    const texts = Array.from({ length: 30 }, () => JSON.stringify(trader.limit("long", 60_000)));
    const [rotated, ...answers] = await Promise.all([
      trader.rotate(newSessionKey().publicHex),
      ...texts.map((text) => trader.placeText(text)),
    ]);
    expect(rotated.status).toBe(200);
    for (const { status, body } of answers) {
      const codes = [undefined, "session_key_rotated", "invalid_signature"];
      expect(status === 200 ? [undefined] : codes).toContain(body.code);
    }
    const open = await trader.list("/v1/orders");
    expect(open).toHaveLength(answers.filter(({ status }) => status === 200).length);
  });

  test("domains any: for local use only: forwarded sign-ins are refused", async () => {
    const at = await runVenue();
    const trader = new Trader(at);
    const message = trader.message();
    const signature = await trader.wallet.signMessage({ message });
    const body = JSON.stringify({ message, signature, sessionKey: trader.sessionKey.publicHex });
    for (const header of ["x-forwarded-for", "forwarded", "x-real-ip"]) {
      const init = jsonPost(body, { [header]: "203.0.113.5" });
      const response = await fetch(`${at.url}/v1/auth/siwe`, init);
      expect(await response.json()).toMatchObject({ code: "siwe_domain_not_allowed" });
    }
    expect((await trader.submitSignIn(message)).status).toBe(200);
  });
});
