/** A feed of the latest state over real sockets: readers that fall behind and catch up. */

import { describe, expect, test } from "vitest";
import { type ConnectedPair, SocketPairs } from "../testing/connected-pair.js";
import { wireFrame } from "../wire-frame.js";
import { FrameScheduler } from "./frame-scheduler.js";
import { LatestFeed } from "./latest-feed.js";

const LOAD = wireFrame({ t: "ok", d: { text: "x".repeat(200_000) } });

/** A feed of one number and the time, which alone is no news. */
class Stage {
  value = 0;
  time = 0;
  // Never scheduled: the tests run the rounds.
  readonly feed = new LatestFeed(
    new FrameScheduler((error) => {
      throw error;
    }),
    {
      t: "ticker",
      s: "BTCUSD",
      isTimed: true,
      read: () => ({ value: this.value, time: this.time }),
      fingerprint: () => String(this.value),
    },
  );

  /** Changes the state and runs the round that sends it. */
  show(value: number): void {
    this.value = value;
    const delivery = this.feed.collect();
    if (delivery === undefined) throw new Error("nothing has changed");
    while (delivery.next());
  }
}

async function shownTo({ received }: ConnectedPair): Promise<unknown[]> {
  const frames = await received();
  return frames.filter(({ t }) => t === "ticker").map(({ d }) => d.value);
}

/** The values received up to this one. */
async function shownUntil(value: number, pair: ConnectedPair): Promise<unknown[]> {
  const shown: unknown[] = [];
  while (shown.at(-1) !== value) shown.push(...(await shownTo(pair)));
  return shown;
}

/** The reader has no room until the next tick. */
function fill({ connection }: ConnectedPair): void {
  connection.corkUntilNextTick();
  connection.send(LOAD);
}

test("a new reader gets the time of now; the others get changes alone", async () => {
  const stage = new Stage();
  const pairs = await SocketPairs.open();
  const [first, second] = [await pairs.connect(), await pairs.connect()];
  const open = async (pair: ConnectedPair, time: number) => {
    stage.time = time;
    const leave = stage.feed.open(pair.connection);
    const frames = await pair.received();
    return { leave, shown: frames.filter(({ t }) => t === "ticker").map(({ d }) => d.time) };
  };
  const one = await open(first, 1);
  const two = await open(second, 2);
  expect([one.shown, two.shown]).toEqual([[1], [2]]);
  expect(stage.feed.collect()).toBeUndefined();
  expect(await shownTo(first)).toEqual([]);
  // A change that the readers have not seen yet comes to all of them in the next round.
  stage.value = 7;
  two.leave();
  expect((await open(second, 3)).shown).toEqual([2]);
  stage.show(7);
  expect(await shownUntil(7, first)).toEqual([7]);
  expect(await shownUntil(7, second)).toEqual([7]);
});

describe("a reader of the latest state that has no room", () => {
  test("is skipped, and gets the latest state once it has caught up", async () => {
    const stage = new Stage();
    const pairs = await SocketPairs.open();
    const [slow, ready] = [await pairs.connect(), await pairs.connect()];
    for (const { connection } of [slow, ready]) stage.feed.open(connection);
    fill(slow);
    for (const value of [1, 2, 3]) stage.show(value);
    expect(await shownUntil(3, ready)).toEqual([0, 1, 2, 3]);
    expect(await shownUntil(3, slow)).toEqual([0, 3]);
    stage.show(4);
    expect(await shownUntil(4, slow)).toEqual([4]);
  });

  test("has none again when it catches up: gets the state the next time", async () => {
    const stage = new Stage();
    const slow = await (await SocketPairs.open()).connect();
    // Another stream of the same socket, which comes first and takes all the room.
    let isFirst = true;
    slow.connection.onDrain(() => {
      if (isFirst) fill(slow);
      isFirst = false;
    });
    stage.feed.open(slow.connection);
    fill(slow);
    stage.show(1);
    expect(await shownUntil(1, slow)).toEqual([0, 1]);
    expect(isFirst).toBe(false);
  });

  test("does not get a state twice that a round has sent meanwhile", async () => {
    const stage = new Stage();
    const slow = await (await SocketPairs.open()).connect();
    let drains = 0;
    slow.connection.onDrain(() => {
      drains++;
      // The round comes before this reader's turn to catch up.
      if (drains === 1) stage.show(2);
    });
    stage.feed.open(slow.connection);
    fill(slow);
    stage.show(1);
    expect(await shownUntil(2, slow)).toEqual([0, 2]);
    fill(slow);
    while (drains < 2) expect(await shownTo(slow)).toEqual([]);
    expect(await shownTo(slow)).toEqual([]);
  });

  test("has unsubscribed by the time there is room: gets nothing", async () => {
    const stage = new Stage();
    const slow = await (await SocketPairs.open()).connect();
    const leave = stage.feed.open(slow.connection);
    fill(slow);
    stage.show(1);
    leave();
    let isDrained = false;
    slow.connection.onDrain(() => {
      isDrained = true;
    });
    const shown: unknown[] = [];
    while (!isDrained) shown.push(...(await shownTo(slow)));
    shown.push(...(await shownTo(slow)));
    expect(shown).toEqual([0]);
  });
});
