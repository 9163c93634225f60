/**
 * What a sign-in or a rotation is refused for comes before its proofs, which take milliseconds: each
 * request here has a key that is a point of small order, or a signature of another wallet, too.
 */

import { expect, test } from "vitest";
import { runVenue } from "./testing/running-venue.js";
import { newSessionKey, Trader } from "./testing/trader.js";

const SMALL_ORDER = `01${"00".repeat(31)}`;

test("sign-ins that can be refused without cryptography: no proof", async () => {
  const at = await runVenue({ signIn: { domains: new Set(["localhost"]) } });
  const trader = new Trader(at);
  trader.sessionKey = { ...newSessionKey(), publicHex: SMALL_ORDER };
  const old = new Date(at.nowMs() - 11 * 60_000).toISOString();
  const many = Array.from({ length: 400 }, () => "a:b");
  const foreign = { domain: "b.example", uri: "https://b.example" };
  for (const [fields, code] of [
    [{ resources: many }, "invalid_siwe_message"],
    [{ statement: "a".repeat(3_000) }, "invalid_siwe_message"],
    [{ address: trader.wallet.address.toLowerCase() }, "invalid_siwe_message"],
    [foreign, "siwe_domain_not_allowed"],
    [{ issuedAt: old }, "siwe_message_too_old"],
    [{ resources: [trader.resource("&symbols=NOSUCHUSD")] }, "invalid_siwe_message"],
    [{ resources: [`urn:perpgate:session?key=${"07".repeat(32)}`] }, "session_key_mismatch"],
    [{}, "invalid_session_key"],
  ] as const) {
    expect((await trader.signIn(fields)).body.code).toBe(code);
  }
  const unreadable = await trader.submitSignIn(trader.message(), { signature: "zz" });
  expect(unreadable.body.code).toBe("invalid_signature");
});

test("a message sent again: refused for its nonce without a proof", async () => {
  const trader = new Trader(await runVenue());
  const message = trader.message();
  expect((await trader.submitSignIn(message)).status).toBe(200);
  const again = await trader.submitSignIn(message, { signature: "07".repeat(65) });
  expect(again.body.code).toBe("siwe_nonce_used");
});

test.each([
  ["binds its key after 31 others", true],
  ["binds none, though its statement looks like it", false],
])("rotate: a session whose message %s", async (_, isBound) => {
  const trader = new Trader(await runVenue());
  const others = Array.from({ length: 31 }, () => "a:b");
  await trader.signIn(
    isBound
      ? { resources: [...others, trader.resource()] }
      : { statement: `- ${trader.resource()}`, resources: others },
  );
  const wrong = await trader.rotate(SMALL_ORDER);
  expect(wrong.body.code).toBe(isBound ? "signature_required" : "invalid_session_key");
  const { publicHex } = newSessionKey();
  expect((await trader.rotate(publicHex, isBound ? "digest" : "none")).status).toBe(200);
});
