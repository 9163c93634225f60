/** A session that goes on through the wallet, with its streams and its nonces. */

import type { PerpgateClient, RequestLike } from "@perpgate/sdk";
import { expect, test } from "vitest";
import { BID, eventually, newAccount, newClient, newSession, startVenue } from "./testing/venue.js";

test("renew: another token and key, the same account; nonces rise on and streams miss nothing", async () => {
  const at = await startVenue();
  const session = await newSession(newClient(at));
  const seen: string[] = [];
  await session.stream.watchOrders(({ orders }) => {
    for (const { orderId } of orders) seen.push(orderId);
  }).ready;
  const first = await session.placeOrder(BID);
  const [token, key] = [session.token, session.sessionKey];

  await session.renew();
  expect([session.token === token, session.sessionKey === key]).toEqual([false, false]);
  expect((await session.account()).session.sessionKey).toBe(session.sessionKey);
  const second = await session.placeOrder(BID);
  expect(second.nonce).toBeGreaterThan(first.nonce);
  const third = await session.stream.placeOrder(BID);
  await eventually(() => seen).toEqual([first.orderId, second.orderId, third.orderId]);
  // The old session may end: nothing depends on it.
  expect(await session.endOtherSessions()).toHaveLength(1);
  const fourth = await session.stream.placeOrder(BID);
  await eventually(() => seen.at(-1)).toBe(fourth.orderId);
  expect(session.stream.state).toBe("open");
});

test("renew: orders that are canceled on disconnect stay, since nothing disconnects", async () => {
  const at = await startVenue();
  const session = await newSession(newClient(at));
  await session.stream.cancelOnDisconnect(true);
  const { orderId } = await session.stream.placeOrder(BID);
  await session.renew();
  await at.advance(1_000);
  expect(await session.order(orderId)).toMatchObject({ status: "resting" });
  expect(await session.sessions()).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ current: true, cancelOnDisconnect: true })]),
  );
});

test.each([false, true])(
  "renew after the session was ended elsewhere: streams work again (cancelOnDisconnect: %s)",
  async (cancels) => {
    const at = await startVenue();
    const session = await newSession(newClient(at));
    const { stream } = session;
    await stream.watchOrders(() => undefined).ready;
    if (cancels) await stream.cancelOnDisconnect(true);
    await newClient(at).restore(session.save()).signOut();
    await eventually(() => stream.state).toBe("closed");

    await session.renew();
    const seen: string[] = [];
    await session.stream.watchPreconfirms(({ orderId }) => seen.push(orderId)).ready;
    const { orderId } = await session.stream.placeOrder(BID);
    await eventually(() => seen).toEqual([orderId]);
    expect(await session.sessions()).toMatchObject([
      { current: true, cancelOnDisconnect: cancels },
    ]);
  },
);

test("renew after the stream was closed on purpose: it stays closed, and nothing is left behind", async () => {
  const at = await startVenue();
  const session = await newSession(newClient(at));
  await session.stream.cancelOnDisconnect(true);
  session.stream.close();
  const { token } = session;
  await session.renew();
  expect(session.token === token).toBe(false);
  expect(session.stream.state).toBe("closed");
  expect(await session.endOtherSessions()).toHaveLength(1);
});

/** A fetch that counts sign-ins, and calls back before it sends one. */
function counting(onSignIn: () => Promise<void> = async () => undefined) {
  const count = { signIns: 0 };
  const fetch = async (url: string, init: RequestLike) => {
    if (init.method === "POST" && new URL(url).pathname === "/v1/auth/siwe") {
      count.signIns++;
      await onSignIn();
    }
    return globalThis.fetch(url, init);
  };
  return { count, fetch };
}

/** Longer than a renewal without delay takes to send its sign-in. */
async function someRoundTrips(client: PerpgateClient): Promise<void> {
  for (let trip = 0; trip < 20; trip++) await client.time();
}

test("client.close(): nothing is renewed any more", async () => {
  const at = await startVenue();
  const { count, fetch } = counting();
  const client = newClient(at, { fetch });
  const session = await newSession(client);
  session.keepRenewed({ beforeMs: 1e12 });
  client.close();
  await someRoundTrips(client);
  expect(count.signIns).toBe(1);
  // Neither by a later call.
  session.keepRenewed({ beforeMs: 1e12 });
  await someRoundTrips(client);
  expect(count.signIns).toBe(1);
});

test("keepRenewed: the function that it returns stops it", async () => {
  const at = await startVenue();
  const { count, fetch } = counting();
  const client = newClient(at, { fetch });
  const session = await newSession(client);
  session.keepRenewed({ beforeMs: 1e12 })();
  await someRoundTrips(client);
  expect(count.signIns).toBe(1);
});

test("keepRenewed with a beforeMs above the session's life: one renewal, no loop", async () => {
  const at = await startVenue();
  const { count, fetch } = counting();
  const client = newClient(at, { fetch });
  const session = await newSession(client);
  session.keepRenewed({ beforeMs: 1e12 });
  await eventually(() => count.signIns).toBeGreaterThan(1);
  await someRoundTrips(client);
  expect(count.signIns).toBe(2);
});

test("signed out while a renewal is in flight: the new session is ended too", async () => {
  const at = await startVenue();
  const other = newClient(at);
  const account = newAccount();
  let signOut = async (): Promise<void> => undefined;
  const { fetch } = counting(() => signOut());
  const session = await newClient(at, { fetch }).signIn({ account });
  signOut = () => session.signOut();
  await expect(session.renew()).rejects.toThrow(/signed out/);
  await expect(session.renew()).rejects.toThrow(/signed out/);
  const own = await other.signIn({ account });
  expect(await own.sessions()).toMatchObject([{ current: true }]);
});

test("keepRenewed: renews before the end; a failure is reported, and tried again", async () => {
  const at = await startVenue();
  const session = await newSession(newClient(at), { expiresInMs: 600_000 });
  const { token, expiresAt } = session;
  session.keepRenewed({ beforeMs: expiresAt - Date.now() - 50 });
  await eventually(() => session.token === token).toBe(false);
  expect(session.expiresAt).toBeGreaterThanOrEqual(expiresAt);
  await session.signOut();
});

test("a restored session has no wallet to renew through", async () => {
  const at = await startVenue();
  const client = newClient(at);
  const restored = client.restore((await newSession(client)).save());
  await expect(restored.renew()).rejects.toThrow(/sign in again/);
  expect(() => restored.keepRenewed()).toThrow(/sign in again/);
});
