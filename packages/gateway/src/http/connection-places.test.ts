import { expect, test } from "vitest";
import { ConnectionPlaces, MAX_REQUEST_MS, type PlaceHolder } from "./connection-places.js";

function run(places: number) {
  const events: string[] = [];
  const lines: object[] = [];
  const clock = { nowMs: 0 };
  const room = new ConnectionPlaces(
    places,
    {
      onRefused: () => events.push("refused"),
      onEvicted: (why) => events.push(`evicted ${why}`),
    },
    { warn: (fields) => lines.push(fields) },
    () => clock.nowMs,
  );
  /** Takes a place, if there is one. */
  const enter = (name: string, isKnown = false, isProtected = false): PlaceHolder | undefined => {
    if (!room.hasRoom(isKnown)) return undefined;
    const holder = { isProtected, evict: () => events.push(`${name} left`) };
    room.add(holder);
    return holder;
  };
  return { room, events, lines, enter, clock };
}

test("places: a tenth is kept for addresses with a live session", () => {
  const { room, events, enter } = run(10);
  for (let i = 0; i < 9; i++) room.onRequest(enter(`${i}`)!);
  expect(enter("stranger")).toBeUndefined();
  expect(enter("trader", true)).toBeDefined();
  expect(room.taken).toBe(10);
  expect(events).toEqual(["refused"]);
});

test("all taken: the oldest that has not sent a request in time leaves, before any that was answered", () => {
  const { room, events, enter, clock } = run(3);
  const [answered] = [enter("answered")!, enter("oldest"), enter("younger")];
  room.onRequest(answered);
  room.onIdle(answered);
  clock.nowMs = MAX_REQUEST_MS;
  expect(enter("newcomer")).toBeDefined();
  expect(events).toEqual(["evicted silent", "oldest left"]);
  expect(room.taken).toBe(3);
});

test("all taken: one that has just connected stays, those that were answered leave before it", () => {
  const { room, events, enter, clock } = run(3);
  const [a, b] = [enter("a")!, enter("b")!];
  for (const each of [a, b]) {
    room.onRequest(each);
    room.onIdle(each);
  }
  enter("just connected");
  clock.nowMs = MAX_REQUEST_MS - 1;
  const next = enter("next")!;
  room.onRequest(next);
  enter("third");
  enter("fourth");
  expect(events.filter((event) => event.endsWith("left"))).toEqual([
    "a left",
    "b left",
    "just connected left",
  ]);
});

test("all were answered: the one that is idle longest leaves; one with a request stays", () => {
  const { room, events, enter } = run(3);
  const [a, b, c] = [enter("a")!, enter("b")!, enter("c")!];
  for (const each of [a, b, c]) room.onRequest(each);
  for (const each of [a, b, c]) room.onIdle(each);
  room.onRequest(a);
  enter("newcomer");
  expect(events).toEqual(["evicted idle", "b left"]);
});

test("a connection that was closed: leaves its place, and is not idle any more", () => {
  const { room, events, enter } = run(1);
  const gone = enter("gone")!;
  room.onRequest(gone);
  room.delete(gone);
  room.onIdle(gone);
  expect(enter("next")).toBeDefined();
  expect(events).toEqual([]);
});

test("all are idle: protected ones leave for an address with a session only, and after all others", () => {
  const { room, events, enter } = run(3);
  for (const name of ["a", "b", "c"]) {
    const holder = enter(name, true, name !== "c")!;
    room.onRequest(holder);
    room.onIdle(holder);
  }
  room.onRequest(enter("stranger")!);
  expect(enter("refused")).toBeUndefined();
  room.onRequest(enter("trader", true)!);
  expect(events).toEqual(["evicted idle", "c left", "refused", "evicted idle", "a left"]);
});

test("a body that is awaited: its connection leaves like one without a request, until it is there", () => {
  const { room, events, enter, clock } = run(2);
  const [slow, whole] = [enter("slow")!, enter("whole", true)!];
  for (const each of [slow, whole]) {
    room.onRequest(each);
    room.onBodyAwaited(each);
  }
  room.onBodyEnded(whole);
  clock.nowMs = MAX_REQUEST_MS;
  room.onRequest(enter("newcomer")!);
  expect(enter("refused")).toBeUndefined();
  expect(events).toEqual(["evicted silent", "slow left", "refused"]);
});
