import { expect, test } from "vitest";
import { newFolder, runVenue } from "./testing/running-venue.js";
import { newSessionKey, Trader } from "./testing/trader.js";

test("restart in the middle of a session: token, key, nonces, caps and orders survive", async () => {
  const directory = newFolder();
  const before = await runVenue({ directory });
  const trader = new Trader(before);
  await trader.signIn({ resources: [trader.resource("&maxOrderNotional=1000&symbols=BTCUSD")] });
  const next = newSessionKey();
  expect((await trader.rotate(next.publicHex, "digest")).status).toBe(200);
  trader.sessionKey = next;
  const text = JSON.stringify(trader.limit("long", 60_000));
  const placed = await trader.placeText(text);
  expect(placed.status).toBe(200);
  const account = (await trader.get("/v1/account")).body;
  const message = trader.message();
  await before.stop();

  const after = await runVenue({ directory, startMs: before.nowMs() + 1_000 });
  const again = new Trader(after);
  Object.assign(again, { token: trader.token, sessionKey: next, wallet: trader.wallet });
  expect((await again.get("/v1/account")).body).toEqual(account);
  expect(await again.list("/v1/orders")).toMatchObject([
    { orderId: placed.body.orderId, status: "resting" },
  ]);
  const replay = await again.placeText(text);
  expect(replay.headers.get("idempotent-replay")).toBe("true");
  expect(replay.body).toEqual({ ...placed.body, elapsedMs: expect.any(Number) });
  const body = JSON.parse(text);
  expect((await again.place({ ...body, margin: 99 })).body.code).toBe("nonce_conflict");
  expect((await again.place({ ...body, nonce: 7 })).status).toBe(200);
  expect((await again.place({ ...body, nonce: 8, margin: 900 })).body.code).toBe(
    "session_order_cap_exceeded",
  );
  expect((await again.rotate(newSessionKey().publicHex)).body.code).toBe("signature_required");
  expect((await again.cancel(placed.body.orderId)).status).toBe(200);
  // A sign-in nonce that was used before the restart stays used; one that was not, is not.
  expect((await again.submitSignIn(message)).status).toBe(200);
  expect((await again.submitSignIn(message)).body.code).toBe("siwe_nonce_used");
  await after.stop();

  const last = await runVenue({ directory, startMs: after.nowMs() + 1_000 });
  const late = new Trader(last);
  Object.assign(late, { wallet: trader.wallet });
  expect((await late.submitSignIn(message)).body.code).toBe("siwe_nonce_used");
});
