/** What the client keeps of the sessions before renewals. */

import { NONCE_WINDOW } from "@perpgate/protocol/core";
import { expect, test } from "vitest";
import { SessionKeyRing } from "../session-key/key-ring.js";
import { createSessionKey } from "../session-key/session-key.js";
import { Nonces } from "./nonces.js";
import { OrderClient, type SignedText } from "./order-client.js";

const RULES = { timeoutMs: 1_000, retries: 0, budgetMs: 1_000 };
const HOUR_MS = 3_600_000;

/** A client whose requests are answered with the token that they are sent with. */
async function newOrderClient() {
  const key = await createSessionKey();
  const keys = new SessionKeyRing(key, async () => key.publicKey);
  const client = new OrderClient(new Nonces(), RULES, () => keys);
  return {
    send: (nonce: number, isRepeat: boolean): Promise<string> =>
      client.submit(
        nonce,
        (used) => `{"nonce":${used}}`,
        { isRepeat },
        async ({ token = "current" }: SignedText) => token,
      ),
    renewed: (lastNonce: number, token: string, endsAt: number) =>
      client.renewed({ lastNonce, credentials: { token, endsAt, keys } }),
  };
}

const REFUSED = { code: "nonce_too_old", outcome: "unknown" };

test("a renewal removes the credentials of sessions that have ended, and no others", async () => {
  const { send, renewed } = await newOrderClient();
  renewed(10, "first", Date.now() - 1);
  renewed(20, "second", Date.now() + HOUR_MS);
  expect(await send(5, false)).toBe("current");
  renewed(30, "third", Date.now() + HOUR_MS);
  await expect(send(7, true)).rejects.toMatchObject(REFUSED);
  expect(await send(17, true)).toBe("second");
  expect(await send(27, true)).toBe("third");
  expect(await send(5, true)).toBe("third");
});

test("more nonces of the caller's own than a session remembers: the oldest are refused, not sent elsewhere", async () => {
  const { send, renewed } = await newOrderClient();
  renewed(10_000, "first", Date.now() + HOUR_MS);
  for (let nonce = 1; nonce <= NONCE_WINDOW + 2; nonce++) await send(nonce, false);
  renewed(10_000, "second", Date.now() + HOUR_MS);
  for (const nonce of [1, 2]) await expect(send(nonce, true)).rejects.toMatchObject(REFUSED);
  for (const nonce of [3, NONCE_WINDOW + 2]) expect(await send(nonce, true)).toBe("second");
  expect(await send(9_000, true)).toBe("first");
});
