/** A session that goes on through the wallet, with its streams and its nonces. */

import { expect, test } from "vitest";
import { BID, eventually, newClient, newSession, startVenue } from "./testing/venue.js";

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
