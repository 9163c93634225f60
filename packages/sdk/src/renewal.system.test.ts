/** A session that goes on through the wallet, with its streams and its nonces. */

import { CuttingProxy } from "@perpgate/gateway/testing";
import { SIGNATURE_HEADER } from "@perpgate/protocol";
import { ConnectionError, type PerpgateClient, type RequestLike } from "@perpgate/sdk";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { pause, RECONNECT_BACKOFF } from "./retry.js";
import {
  ASK,
  BID,
  BUY,
  eventually,
  newAccount,
  newClient,
  newSession,
  startVenue,
} from "./testing/venue.js";

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

/** A session whose socket, and nothing else, goes through a proxy; its orders are canceled on disconnect. */
async function withSocketProxy() {
  const at = await startVenue();
  const proxy = await CuttingProxy.before(at.url);
  const line = {
    proxy,
    onSend: (_text: string): void => undefined,
    spoil: (text: string) => text,
  };
  class Proxied extends WebSocket {
    constructor(url: string) {
      super(url.replace(at.url.replace("http", "ws"), proxy.url.replace("http", "ws")));
    }

    override send(text: string): void {
      line.onSend(text);
      super.send(line.spoil(text));
    }
  }
  const session = await newSession(newClient(at, { WebSocket: Proxied, retries: 0 }));
  await session.stream.cancelOnDisconnect(true);
  const optionNow = async () =>
    (await session.sessions()).find(({ current }) => current)?.cancelOnDisconnect;
  return { session, line, optionNow };
}

test("renew while the socket cannot connect: orders go on, the session is renewed", async () => {
  const { session, line, optionNow } = await withSocketProxy();
  const { proxy } = line;
  proxy.isDown = true;
  proxy.cutAll();
  await eventually(() => session.stream.state).not.toBe("open");
  const { token } = session;
  await session.renew();
  expect(session.token).not.toBe(token);
  expect(session.stream.state).not.toBe("open");
  expect(await session.placeOrder(BID)).toMatchObject({ status: "resting" });
  expect(await optionNow()).toBe(false);
  // The option follows with the connection.
  proxy.isDown = false;
  await eventually(optionNow).toBe(true);
  expect(session.stream.state).toBe("open");
});

test.each(["not connected", "connected"])(
  "renew while %s, and the option is refused once: set on the same connection",
  async (state) => {
    const { session, line, optionNow } = await withSocketProxy();
    const { proxy } = line;
    const isCut = state === "not connected";
    if (isCut) {
      proxy.isDown = true;
      proxy.cutAll();
      await eventually(() => session.stream.state).not.toBe("open");
    }
    let refusals = 0;
    line.spoil = (text) => {
      const spoiled = text.replace('"cancelOnDisconnect":true', '"cancelOnDisconnect":"x"');
      if (spoiled === text) return text;
      line.spoil = (other) => other;
      refusals++;
      return spoiled;
    };
    const { token } = session;
    const renewal = session.renew();
    if (isCut) await renewal;
    else await expect(renewal).rejects.toMatchObject({ name: "PerpgateError" });
    expect(session.token).not.toBe(token);
    proxy.isDown = false;
    await eventually(() => session.stream.state).toBe("open");
    const states: string[] = [];
    session.stream.onState((next) => states.push(next));
    await eventually(optionNow).toBe(true);
    expect([refusals, states]).toEqual([1, []]);
  },
);

test.each(["cancelOnDisconnect(false)", "another renewal"])(
  "the option is due and %s is in flight: not set behind it, but after it is lost",
  async (way) => {
    const { session, line, optionNow } = await withSocketProxy();
    const refused = (text: string) =>
      text.replace('"cancelOnDisconnect":true', '"cancelOnDisconnect":"x"');
    line.spoil = refused;
    await expect(session.renew()).rejects.toMatchObject({ name: "PerpgateError" });
    const sent: string[] = [];
    line.onSend = (text) => {
      const [, option] = /"cancelOnDisconnect":(true|false)/.exec(text) ?? [];
      if (option !== undefined) sent.push(option);
    };
    // Sent, and never answered.
    line.spoil = (text) =>
      text.includes('"cancelOnDisconnect":false') ? '{"op":"ping"}' : refused(text);
    const isCall = way === "cancelOnDisconnect(false)";
    const call = isCall ? session.stream.cancelOnDisconnect(false) : session.renew();
    const settled = call.catch((error: unknown) => error);
    await eventually(() => sent).toContain("false");
    // The order is answered after a try of the option; the next try would follow within this pause.
    if (isCall) await session.stream.placeOrder(BID);
    await pause(4 * RECONNECT_BACKOFF.firstMs, undefined);
    expect(sent.at(-1)).toBe("false");
    line.spoil = (text) => text;
    line.proxy.cutAll();
    if (isCall) expect(await settled).toBeInstanceOf(ConnectionError);
    else expect(await settled).toBeUndefined();
    await eventually(optionNow).toBe(true);
  },
);

test("renew, and the answer to auth is lost: the new session cancels on disconnect", async () => {
  const { session, line, optionNow } = await withSocketProxy();
  const { token } = session;
  line.onSend = (text) => {
    if (!text.includes('"op":"auth"')) return;
    line.onSend = () => undefined;
    line.proxy.fate = (direction) => {
      if (direction === "up") return "pass";
      line.proxy.fate = () => "pass";
      return "cut before";
    };
  };
  await session.renew();
  expect(session.token).not.toBe(token);
  expect(line.proxy.cuts).toBe(1);
  await eventually(optionNow).toBe(true);
  const { orderId } = await session.placeOrder(BID);
  session.stream.close();
  await eventually(async () => (await session.order(orderId)).status).toBe("canceled");
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

test("keepRenewed of a short session: a failed renewal is tried again before its end", async () => {
  const at = await startVenue({ startMs: Date.now() });
  let isRefused = false;
  const renewals: number[] = [];
  const fetch = async (url: string, init: RequestLike) => {
    if (isRefused && url.endsWith("/v1/auth/nonce")) renewals.push(Date.now());
    if (renewals.length === 1) throw new TypeError("fetch failed");
    return globalThis.fetch(url, init);
  };
  const session = await newSession(newClient(at, { fetch, retries: 0 }), { expiresInMs: 20_000 });
  const { token, expiresAt } = session;
  isRefused = true;
  const errors: unknown[] = [];
  session.keepRenewed({ beforeMs: 1e12, onError: (error) => errors.push(error) });
  await eventually(() => session.token === token).toBe(false);
  expect(errors).toHaveLength(1);
  expect(renewals[1]).toBeLessThan(expiresAt);
});

test("renew while the gateway is silent: the socket at the next one stays", async () => {
  const at = await startVenue();
  const [first, second] = [await CuttingProxy.before(at.url), await CuttingProxy.before(at.url)];
  const sockets: WebSocket[] = [];
  let isLosing = false;
  /** The first socket loses messages while `isLosing`. */
  class Losing extends WebSocket {
    constructor(url: string) {
      super(url);
      sockets.push(this);
    }

    override emit(event: string | symbol, ...rest: unknown[]): boolean {
      const isLost = isLosing && this === sockets[0] && event === "message";
      return isLost ? true : super.emit(event, ...rest);
    }
  }
  const client = newClient(at, { url: [first.url, second.url], WebSocket: Losing });
  await client.time();
  client.useGateway(first.url);
  const session = await newSession(client);
  await session.stream.watchOrders(() => undefined).ready;
  isLosing = true;
  await session.renew();
  expect([session.stream.state, session.stream.gateway]).toEqual(["open", second.url]);
  expect(sockets).toHaveLength(2);
  expect(await session.stream.placeOrder(BID)).toMatchObject({ status: "resting" });
});

test("a restored session has no wallet to renew through", async () => {
  const at = await startVenue();
  const client = newClient(at);
  const restored = client.restore((await newSession(client)).save());
  await expect(restored.renew()).rejects.toThrow(/sign in again/);
  expect(() => restored.keepRenewed()).toThrow(/sign in again/);
});

/** A client, and a function that sends a request whose response is lost and returns its nonce. */
function losing(at: { readonly url: string }) {
  let isLosing = false;
  const fetch = async (url: string, init: RequestLike) => {
    const answer = await globalThis.fetch(url, init);
    if (isLosing && SIGNATURE_HEADER in init.headers) throw new TypeError("fetch failed");
    return answer;
  };
  const lose = async (send: () => Promise<unknown>): Promise<number> => {
    isLosing = true;
    const error = await send().catch((thrown: unknown) => thrown);
    isLosing = false;
    if (!(error instanceof ConnectionError) || error.nonce === undefined) throw error;
    expect(error.outcome).toBe("unknown");
    return error.nonce;
  };
  return { client: newClient(at, { fetch, retries: 0 }), lose };
}

test("an order of unknown outcome, repeated after a renewal, is not placed twice", async () => {
  const at = await startVenue();
  const { client, lose } = losing(at);
  const session = await newSession(client);
  const nonce = await lose(() => session.placeOrder(BID));
  const repeats = [
    () => session.placeOrder({ ...BID, nonce }),
    () => session.stream.placeOrder({ ...BID, nonce }),
  ];
  for (let renewals = 0; renewals < 2; renewals++) {
    await session.renew();
    const [order, ...others] = await session.openOrders();
    expect([order?.nonce, others]).toEqual([nonce, []]);
    for (const repeat of repeats) {
      expect(await repeat()).toMatchObject({ orderId: order?.orderId, replayed: true });
    }
  }
  // Where the session of the nonce has ended, only a look-up is safe.
  await session.endOtherSessions();
  for (const repeat of repeats) {
    await expect(repeat()).rejects.toMatchObject({
      code: "nonce_too_old",
      outcome: "unknown",
      nonce,
      message: expect.stringContaining(`session.orders({ status: "all", nonce: ${nonce} })`),
    });
  }
  expect(await session.orders({ status: "all" })).toMatchObject([{ nonce }]);
  expect(await session.placeOrder(BID)).toMatchObject({ replayed: false });
});

/** A network that can be cut. */
function cutLine() {
  const line = {
    isCut: false,
    fetch: async (url: string, init: RequestLike) => {
      if (line.isCut) throw new TypeError("fetch failed");
      return globalThis.fetch(url, init);
    },
  };
  return line;
}

test("an order that was not placed before the renewal: its repetition places it once", async () => {
  const at = await startVenue();
  const line = cutLine();
  const session = await newSession(newClient(at, { fetch: line.fetch, retries: 0 }));
  line.isCut = true;
  const error = await session.placeOrder(BID).catch((thrown: unknown) => thrown);
  line.isCut = false;
  if (!(error instanceof ConnectionError)) throw error;
  await session.renew();
  const { orderId, replayed } = await session.placeOrder({ ...BID, nonce: error.nonce });
  expect(replayed).toBe(false);
  expect(await session.placeOrder({ ...BID, nonce: error.nonce })).toMatchObject({ orderId });
  expect(await session.openOrders()).toHaveLength(1);
});

test("batch, amendment and margin change of unknown outcome, repeated after a renewal: executed once", async () => {
  const at = await startVenue();
  const maker = await newSession(newClient(at));
  await maker.placeOrder({ ...ASK, price: 65_010, margin: 1_000 });
  const { client, lose } = losing(at);
  const session = await newSession(client);
  await session.placeOrder(BUY);
  const { orderId } = await session.placeOrder(BID);
  const amendment = { orderId, price: 59_000 };
  const operations = [{ op: "place", ...BID } as const];
  const nonces = {
    amended: await lose(() => session.amendOrder(amendment)),
    batch: await lose(() => session.batch(operations)),
    margin: await lose(() => session.changeMargin("BTCUSD", 5)),
  };
  const state = async () => [await session.openOrders(), (await session.account()).available];
  const before = await state();
  await session.renew();
  for (const repeat of [
    () => session.amendOrder({ ...amendment, nonce: nonces.amended }),
    () => session.stream.amendOrder({ ...amendment, nonce: nonces.amended }),
    () => session.batch(operations, { nonce: nonces.batch }),
    () => session.stream.batch(operations, { nonce: nonces.batch }),
    () => session.changeMargin("BTCUSD", 5, { nonce: nonces.margin }),
  ]) {
    expect(await repeat()).toMatchObject({ replayed: true });
  }
  expect(await state()).toEqual(before);
});

test("renewed, saved and restored: a nonce of before the renewal is refused, a later one repeated", async () => {
  const at = await startVenue();
  const session = await newSession(newClient(at));
  const { nonce } = await session.placeOrder(BID);
  await session.renew();
  const later = await session.placeOrder(BID);
  const restored = newClient(at).restore(session.save());
  await expect(restored.placeOrder({ ...BID, nonce })).rejects.toMatchObject({
    code: "nonce_too_old",
    outcome: "unknown",
  });
  expect(await restored.placeOrder({ ...BID, nonce: later.nonce })).toMatchObject({
    orderId: later.orderId,
    replayed: true,
  });
  expect(await restored.openOrders()).toHaveLength(2);
});

test("nonces of the caller's own, out of order across renewals: each is placed once", async () => {
  const at = await startVenue();
  const session = await newSession(newClient(at));
  await session.placeOrder({ ...BID, nonce: 10 }, { isRepeat: false });
  await session.renew();
  const first = await session.placeOrder({ ...BID, nonce: 9 }, { isRepeat: false });
  expect(first.replayed).toBe(false);
  const repeated = { orderId: first.orderId, replayed: true };
  expect(await session.placeOrder({ ...BID, nonce: 9 })).toMatchObject(repeated);
  // The first session has ended: the order is of the second.
  expect(await session.endOtherSessions()).toHaveLength(1);
  await session.renew();
  expect(await session.placeOrder({ ...BID, nonce: 9 })).toMatchObject(repeated);
  expect(await session.openOrders()).toHaveLength(2);
});

test("the key of an earlier session cannot be read: its repetition stays of unknown outcome", async () => {
  const at = await startVenue();
  const line = cutLine();
  const session = await newSession(newClient(at, { fetch: line.fetch, retries: 0 }));
  const { nonce } = await session.placeOrder(BID);
  const repeat = () => session.placeOrder({ ...BID, nonce });
  line.isCut = true;
  await expect(session.rotate()).rejects.toBeInstanceOf(ConnectionError);
  // Both wait for the same reading of the key.
  const [repeated, other] = await Promise.allSettled([repeat(), session.placeOrder(BID)]);
  expect(repeated).toMatchObject({ reason: { outcome: "unknown", nonce } });
  expect(other).toMatchObject({ reason: { outcome: "not_sent", nonce: expect.any(Number) } });
  line.isCut = false;
  await session.renew();
  line.isCut = true;
  await expect(repeat()).rejects.toMatchObject({ outcome: "unknown", nonce });
  line.isCut = false;
  await session.endOtherSessions();
  await expect(repeat()).rejects.toMatchObject({
    code: "nonce_too_old",
    outcome: "unknown",
    nonce,
  });
  expect(await session.openOrders()).toHaveLength(1);
});
