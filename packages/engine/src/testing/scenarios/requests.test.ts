/** Unsigned requests that are sent again, as by an edge whose core was lost. */
import { describe, expect, test } from "vitest";
import { REQUEST_KEPT_MS } from "../../config.js";
import { Engine } from "../../engine.js";
import { REFUSALS } from "../../reasons.js";
import { SnapshotUnreadable } from "../../snapshot/snapshot.js";
import { addressOf, openSession } from "../commands.js";
import { quoting } from "./quoting.js";
import type { Venue } from "./venue.js";

const idOf = (number: number): string => number.toString(16).padStart(32, "0");

function terms(venue: Venue, number: number, aheadMs = 10_000) {
  return { request: { id: idOf(number), notAfterMs: venue.now + aheadMs } };
}

function cancelAll(venue: Venue, session: number, number: number) {
  const request = terms(venue, number);
  return { kind: "CancelAll", stampMs: venue.now, session, market: -1, ...request } as const;
}

function cancelAfter(venue: Venue, session: number, afterMs: number, number: number) {
  const request = terms(venue, number);
  return { kind: "CancelAfter", stampMs: venue.now, session, afterMs, ...request } as const;
}

const refusalOf = (venue: Venue): string | undefined =>
  REFUSALS[venue.happened("CommandRefused")[0]?.refusal ?? 0];

describe("a request that is in the log twice", () => {
  test("newer orders and a disarmed switch in between: it acts once, and the copy names the first", () => {
    const { venue, alice, ids } = quoting();
    const { session } = alice;
    const all = cancelAll(venue, session, 1);
    const arm = cancelAfter(venue, session, 2_000, 2);
    venue.apply(all);
    const canceledAt = venue.engine.seq;
    expect(venue.happened("OrderEnded").map(({ orderId }) => orderId)).toEqual(ids);
    venue.apply(arm);
    const armedAt = venue.engine.seq;
    alice.buys("limit", { margin: 100, price: 49_000 });
    venue.apply({ kind: "CancelAfter", stampMs: venue.now, session, afterMs: 0 });
    venue.apply({ ...all, stampMs: venue.now });
    expect(venue.events).toEqual([{ kind: "RequestRepeated", position: canceledAt }]);
    venue.apply({ ...arm, stampMs: venue.now });
    expect(venue.events).toEqual([{ kind: "RequestRepeated", position: armedAt }]);
    venue.waits(5);
    expect(alice.openOrders()).toBe(1);
  });

  test("what its answer needs is kept: the orders that it ended, its session, its refusal", () => {
    const { venue, alice, ids } = quoting();
    const { session } = alice;
    venue.apply(cancelAll(venue, session, 1));
    const kept = (number: number) => venue.engine.state.requests.get(idOf(number), venue.now);
    expect(kept(1)).toMatchObject({ position: venue.engine.seq, timeMs: venue.now });
    expect([...(kept(1)?.words ?? [])]).toEqual(expect.arrayContaining([...ids]));
    venue.apply({
      ...openSession({ stampMs: venue.now, address: addressOf(77) }),
      ...terms(venue, 2),
    });
    expect(venue.happened("SessionOpened")).toMatchObject([{ session: venue.engine.seq }]);
    expect([...(kept(2)?.words ?? [])]).toContain(venue.engine.seq);
    const orderId = ids[0] ?? 0;
    const cancel = { kind: "CancelOrder", stampMs: venue.now, session, orderId } as const;
    venue.apply({ ...cancel, ...terms(venue, 3) });
    expect(refusalOf(venue)).toBe("order_not_cancelable");
    const position = venue.engine.seq;
    venue.apply({ ...cancel, ...terms(venue, 3) });
    expect(venue.events).toEqual([{ kind: "RequestRepeated", position }]);
  });

  test("it is no execution: a block without others is not sealed for it", () => {
    const { venue, alice } = quoting();
    const { session } = alice;
    const arm = cancelAfter(venue, session, 0, 1);
    venue.apply(arm);
    venue.tick();
    venue.tick();
    expect(venue.happened("BlockSealed")).toEqual([]);
    venue.apply(arm);
    venue.tick();
    expect(venue.happened("BlockSealed")).toEqual([]);
  });
});

describe("the time of a request", () => {
  test("executed at its last moment, refused after it, and not kept then", () => {
    const { venue, alice } = quoting();
    const { session } = alice;
    const arm = { kind: "CancelAfter", session, afterMs: 2_000 } as const;
    const inTime = terms(venue, 1, 0);
    const late = terms(venue, 2, -1);
    venue.apply({ ...arm, stampMs: venue.now, ...inTime });
    expect(venue.happened("CancelAfterSet")).toHaveLength(1);
    venue.apply({ ...arm, stampMs: venue.now, ...late });
    expect(venue.happened("CommandRefused")).toMatchObject([
      { detail1: late.request.notAfterMs, detail2: venue.now },
    ]);
    expect(refusalOf(venue)).toBe("request_too_late");
    venue.apply({ ...arm, stampMs: venue.now, ...terms(venue, 2) });
    expect(venue.happened("CancelAfterSet")).toHaveLength(1);
  });

  test("further ahead than it would be known for: refused, or a copy could come after that", () => {
    const { venue, alice } = quoting();
    const arm = { kind: "CancelAfter", session: alice.session, afterMs: 2_000 } as const;
    venue.apply({ ...arm, stampMs: venue.now, ...terms(venue, 1, REQUEST_KEPT_MS) });
    expect(refusalOf(venue)).toBe("request_too_late");
    venue.apply({ ...arm, stampMs: venue.now, ...terms(venue, 1, REQUEST_KEPT_MS - 1) });
    expect(venue.happened("CancelAfterSet")).toHaveLength(1);
  });

  test("known for 30 s of log time, in which no copy is executed; then it is removed", () => {
    const { venue, alice } = quoting();
    const { session } = alice;
    const begun = venue.now;
    const request = terms(venue, 1, REQUEST_KEPT_MS - 1);
    const arm = { kind: "CancelAfter", session, afterMs: 1_000, ...request } as const;
    venue.apply({ ...arm, stampMs: venue.now });
    venue.waits(29.8);
    venue.apply({ ...arm, stampMs: begun + REQUEST_KEPT_MS - 1 });
    expect(venue.events.at(-1)).toMatchObject({ kind: "RequestRepeated" });
    venue.apply({ ...arm, stampMs: begun + REQUEST_KEPT_MS });
    expect(refusalOf(venue)).toBe("request_too_late");
    venue.tick();
    expect(venue.engine.state.requests.entries(0)).toEqual([]);
  });

  test("an id that is none is refused", () => {
    const { venue, alice } = quoting();
    const request = { id: "AB", notAfterMs: venue.now + 1_000 };
    const { session } = alice;
    venue.apply({ kind: "CancelAfter", stampMs: venue.now, session, afterMs: 0, request });
    expect(refusalOf(venue)).toBe("invalid_command");
  });
});

describe("in a snapshot", () => {
  test("kept requests are restored, and answer copies", () => {
    const { venue, alice } = quoting();
    const { session } = alice;
    const all = cancelAll(venue, session, 1);
    venue.apply(all);
    const position = venue.engine.seq;
    const bytes = venue.engine.snapshot();
    const restored = Engine.restore(bytes);
    expect(restored.snapshot()).toEqual(bytes);
    expect(restored.apply(all).decode()).toEqual([{ kind: "RequestRepeated", position }]);
  });

  test("damage is found", () => {
    const { venue, alice } = quoting();
    const { session } = alice;
    const request = terms(venue, 0xabcdef).request;
    venue.apply({ kind: "CancelAll", stampMs: venue.now, session, market: -1, request });
    const bytes = Buffer.from(venue.engine.snapshot());
    const at = bytes.indexOf(request.id);
    expect(at).toBeGreaterThan(0);
    bytes[at] = "X".charCodeAt(0);
    expect(() => Engine.restore(bytes)).toThrow(SnapshotUnreadable);
  });
});
