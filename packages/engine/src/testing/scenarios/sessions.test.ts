/** Signing in, session keys, expiry, and nonces that make a retry safe. */
import { describe, expect, test } from "vitest";
import { NONCE_WINDOW } from "../../config.js";
import { ETH } from "./listing.js";
import { START_MS, Venue } from "./venue.js";

const BID = { margin: 10, price: 49_000 };

describe("sign-in", () => {
  test("a SIWE nonce works once per address, until its message could not be accepted any more", () => {
    const venue = new Venue();
    const alice = venue.trader("alice");
    const bob = venue.trader("bob");
    const siwe = { siweNonce: "abcdefgh", siweNonceUntilMs: START_MS + 1_000 };
    alice.signsIn(siwe);
    expect(venue.happened("SessionOpened").length).toBe(1);
    alice.signsIn(siwe);
    expect(venue.refusal).toBe("siwe_nonce_used");
    bob.signsIn(siwe);
    expect(venue.happened("SessionOpened").length).toBe(1);
    venue.waits(0.8);
    alice.signsIn(siwe);
    expect(venue.refusal).toBe("siwe_nonce_used");
    venue.tick();
    alice.signsIn(siwe);
    expect(venue.refusal).toBeNull();
  });

  test("a token belongs to one session, until that ends", () => {
    const venue = new Venue();
    const alice = venue.trader("alice");
    const session = alice.signsIn({ tokenHash: "same" });
    venue.trader("bob").signsIn({ tokenHash: "same" });
    expect(venue.refusal).toBe("token_in_use");
    venue.apply({ kind: "CloseSession", stampMs: venue.now, session });
    expect(venue.events).toMatchObject([{ kind: "SessionClosed", session, expired: 0 }]);
    alice.signsIn({ tokenHash: "same" });
    expect(venue.refusal).toBeNull();
  });

  test("refused: already expired, or a scope with an unknown market", () => {
    const venue = new Venue();
    const alice = venue.trader("alice");
    alice.signsIn({ expiresAtMs: venue.now });
    expect(venue.refusal).toBe("session_expired");
    alice.signsIn({ markets: [0, 1] });
    expect(venue.refusal).toBe("unknown_symbol");
  });

  test("one account per address, numbered as they come; its number is 1 for the first", () => {
    const venue = new Venue();
    const alice = venue.trader("alice");
    expect(venue.happened("AccountOpened")).toMatchObject([{ account: 1, address4: 1 }]);
    alice.signsIn();
    expect(venue.happened("AccountOpened")).toEqual([]);
    expect(venue.trader("bob").account).toBe(2);
  });
});

describe("session key", () => {
  test("rotation: later orders by the old key are refused, the session and its orders stay", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_000);
    const before = alice.buys("limit", { ...BID, nonce: 7 });
    const rotate = { kind: "RotateSession", stampMs: venue.now, session: alice.session } as const;
    venue.apply({ ...rotate, oldKey: alice.key, newKey: "new" });
    expect(venue.events).toMatchObject([{ kind: "SessionRotated", session: alice.session }]);
    expect(alice.buys("limit", BID).reason).toBe("session_key_rotated");
    expect(alice.buys("limit", { ...BID, key: "new" }).status).toBe("resting");
    // Nonces survive: the same order again is the same answer, even signed by the old key.
    const again = alice.buys("limit", { ...BID, nonce: 7 });
    expect(again).toMatchObject({ status: "replayed", orderId: before.orderId });
    // A second rotation that still believes in the old key lost the race.
    venue.apply({ ...rotate, oldKey: alice.key, newKey: "other" });
    expect(venue.refusal).toBe("session_key_rotated");
    expect(alice.cancels(before.orderId)).toBeNull();
  });

  test("expiry: refused from that moment, closed by the next tick; resting orders outlive it", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_000);
    const session = alice.signsIn({ expiresAtMs: START_MS + 500 });
    expect(alice.buys("limit", BID).status).toBe("resting");
    const late = { ...alice.order(1, "limit", BID), stampMs: START_MS + 500 };
    venue.apply(late);
    expect(venue.refusal).toBe("session_expired");
    venue.tick();
    expect(venue.happened("SessionClosed")).toMatchObject([{ session, expired: 1 }]);
    expect(alice.buys("limit", BID).reason).toBe("session_unknown");
    expect(alice.openOrders()).toBe(1);
  });

  test("two sessions of one account see the same orders; a stranger does not", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_000);
    const bob = venue.trader("bob", 1_000);
    const { orderId } = alice.buys("limit", BID);
    alice.signsIn();
    expect(bob.cancels(orderId)).toBe("order_not_cancelable");
    expect(alice.cancels(orderId)).toBeNull();
    expect(alice.cancels(orderId)).toBe("order_not_cancelable");
  });
});

describe("nonces", () => {
  test("the same nonce again: the original order, nothing else, even when it could not be placed now", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 100);
    const first = alice.buys("limit", { margin: 95, price: 49_000, nonce: 5 });
    expect(first.status).toBe("resting");
    const wallet = alice.wallet;
    const again = alice.buys("limit", { margin: 95, price: 49_000, nonce: 5 });
    expect(again).toMatchObject({ status: "replayed", orderId: first.orderId });
    expect(venue.events.length).toBe(1);
    expect(alice.wallet).toBe(wallet);
  });

  test("a refused order consumes nothing", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 100);
    expect(alice.buys("limit", { margin: 200, price: 49_000, nonce: 5 }).status).toBe("refused");
    expect(alice.buys("limit", { margin: 50, price: 49_000, nonce: 5 }).status).toBe("resting");
  });

  test("a canceled order consumes its nonce, too", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 100);
    expect(alice.buys("market", { margin: 50, nonce: 5 }).status).toBe("canceled");
    expect(alice.buys("market", { margin: 50, nonce: 5 }).status).toBe("replayed");
  });

  test("each session has its own", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_000);
    expect(alice.buys("limit", { ...BID, nonce: 5 }).status).toBe("resting");
    alice.signsIn();
    expect(alice.buys("limit", { ...BID, nonce: 5 }).status).toBe("resting");
  });

  test("1,024 remembered in any order; an unseen one below all is too old, a seen one replays", () => {
    const venue = new Venue({ config: { maxOpenOrders: 5_000 } });
    const alice = venue.trader("alice", 10_000_000);
    const ids = new Map<number, number>();
    // 10, 20 … 10,240, the even ones first and backwards.
    const nonces = Array.from({ length: NONCE_WINDOW }, (_, i) => (i + 1) * 10);
    const shuffled = [
      ...nonces.filter((nonce) => nonce % 20 === 0).reverse(),
      ...nonces.filter((nonce) => nonce % 20 !== 0),
    ];
    const send = (nonce: number) =>
      alice.buys("market", { margin: 1, leverage: 1, nonce, market: venue.listings[0]! });
    for (const nonce of shuffled) ids.set(nonce, send(nonce).orderId);
    for (const nonce of [10, 20, 5_110, 10_240]) {
      expect(send(nonce)).toMatchObject({ status: "replayed", orderId: ids.get(nonce) });
    }
    expect(send(9)).toMatchObject({ reason: "nonce_too_old", details: [10, 0] });
    // A new one in between pushes the lowest out.
    expect(send(5_115).status).toBe("canceled");
    expect(send(10)).toMatchObject({ reason: "nonce_too_old", details: [20, 0] });
    expect(send(20).status).toBe("replayed");
    expect(send(15)).toMatchObject({ reason: "nonce_too_old" });
    expect(send(2 ** 53 - 1).status).toBe("canceled");
    expect(send(20)).toMatchObject({ reason: "nonce_too_old", details: [30, 0] });
  });
});

test("unknown sessions and markets: refused for every command that names one", () => {
  const venue = new Venue({ markets: [ETH] });
  const alice = venue.trader("alice", 100);
  const base = { stampMs: venue.now, session: 999 };
  venue.apply({ kind: "CancelAll", ...base, market: -1 });
  expect(venue.refusal).toBe("session_unknown");
  venue.apply({ kind: "CloseSession", ...base });
  expect(venue.refusal).toBe("session_unknown");
  venue.apply({ kind: "RegisterDeposit", ...base, chain: "tron", txHash: "00", token: "USDT" });
  expect(venue.refusal).toBe("session_unknown");
  venue.apply({ ...alice.order(1, "market", { margin: 1 }), market: 3 });
  expect(venue.refusal).toBe("unknown_symbol");
  venue.apply({ kind: "CancelAll", stampMs: venue.now, session: alice.session, market: 3 });
  expect(venue.refusal).toBe("unknown_symbol");
});
