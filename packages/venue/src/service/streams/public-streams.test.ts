/** What edges are sent of the public streams: each change once, the whole state after what was left out. */

import { until } from "@perpgate/journal/testing";
import { type CoreLink, EdgeLink, memoryTransport } from "@perpgate/link";
import { expect, onTestFinished, test } from "vitest";
import { removeFolder, TestVenue, temporaryFolder } from "../../testing/test-venue.js";
import { Core } from "../core.js";

const LIMITS = {
  accountReadsPerSecond: 1,
  accountReadsBurst: 1,
  ordersPerSecond: 1,
  ordersBurst: 1,
  cancelsPerSecond: 1,
  cancelsBurst: 1,
  depositsPerMinute: 1,
  unseenDeposits: 1,
};

async function begin() {
  const folder = await temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  const driver = await TestVenue.open(folder);
  const { venue } = driver;
  await driver.index();
  const session = await driver.signIn(1);
  const faults: unknown[] = [];
  const core = new Core({ venue, limits: LIMITS, onFault: (error) => faults.push(error) });
  onTestFinished(async () => {
    core.stop();
    await venue.close();
    expect(faults).toEqual([]);
  });
  let nonce = 0;
  const order = (price: number) => driver.order(session, ++nonce, "long", price, 1);
  return { core, driver, order };
}

/** An edge that notes what it is sent. */
async function edgeOf(core: Core) {
  const transport = memoryTransport({ isCoded: true });
  const at = { waitingBytes: 0 };
  const link: CoreLink = core.connect((receiver) => ({
    ...transport.connectCore(receiver),
    get waitingBytes() {
      return at.waitingBytes;
    },
  }));
  const edge = new EdgeLink(transport.connectEdge);
  await edge.ready;
  const got: { name: string; seq: number; levels: number }[] = [];
  const note =
    (name: string) =>
    ({ seq = 0, bids = [] }: { seq?: number; bids?: readonly unknown[] }): void => {
      got.push({ name, seq, levels: bids.length });
    };
  edge.on({
    bookSnapshot: note("bookSnapshot"),
    bookDelta: note("bookDelta"),
    ticker: () => note("ticker")({}),
    status: () => note("status")({}),
    markets: () => note("markets")({}),
    asOf: ({ position }) => note("asOf")({ seq: position }),
  });
  const received = async (name: string, count = 1) => {
    await until(() => got.filter((each) => each.name === name).length >= count);
  };
  const names = () => got.map(({ name }) => name);
  return { at, link, edge, got, received, names };
}

const BOOK = "book.BTCUSD";

test("a book: a snapshot, then each change once for each edge that follows it", async () => {
  const { core, order } = await begin();
  await order(640_000);
  const [first, second, other] = [await edgeOf(core), await edgeOf(core), await edgeOf(core)];
  for (const { edge } of [first, second]) edge.notify("follow", { stream: BOOK });
  // Again: no second snapshot.
  first.edge.notify("follow", { stream: BOOK });
  await Promise.all([first.received("bookSnapshot"), second.received("bookSnapshot")]);
  const { seq } = await order(640_001);
  await Promise.all([first.received("bookDelta"), second.received("bookDelta")]);
  for (const { got } of [first, second]) {
    expect(got).toEqual([
      { name: "bookSnapshot", seq: seq - 1, levels: 1 },
      { name: "bookDelta", seq, levels: 1 },
    ]);
  }
  second.edge.notify("unfollow", { stream: BOOK });
  await order(640_002);
  await first.received("bookDelta", 2);
  expect(second.got).toHaveLength(2);
  expect(other.got).toEqual([]);
});

test("an edge that does not read: changes of a book are left out, then one snapshot; others get them", async () => {
  const { core, order } = await begin();
  const [slow, ready] = [await edgeOf(core), await edgeOf(core)];
  for (const { edge } of [slow, ready]) edge.notify("follow", { stream: BOOK });
  await Promise.all([slow.received("bookSnapshot"), ready.received("bookSnapshot")]);
  slow.at.waitingBytes = 2 ** 20 + 1;
  await order(640_000);
  await ready.received("bookDelta", 1);
  const { seq } = await order(640_001);
  await ready.received("bookDelta", 2);
  expect(slow.got).toHaveLength(1);
  slow.at.waitingBytes = 0;
  await slow.received("bookSnapshot", 2);
  expect(slow.got[1]).toEqual({ name: "bookSnapshot", seq, levels: 2 });
  await order(640_002);
  await Promise.all([slow.received("bookDelta"), ready.received("bookDelta", 3)]);
  expect(ready.names()).toEqual(["bookSnapshot", "bookDelta", "bookDelta", "bookDelta"]);
});

test("tickers and status: the state, then changes alone; the time follows, never ahead of them", async () => {
  const { core, driver } = await begin();
  const { edge, got, received, names } = await edgeOf(core);
  for (const stream of ["ticker.BTCUSD", "status"]) edge.notify("follow", { stream });
  await received("ticker");
  await driver.index(660_000);
  await received("asOf");
  const before = got.findIndex(({ name }) => name === "asOf");
  expect(names().slice(0, before)).toEqual(["ticker", "status", "ticker"]);
  const seq = await driver.tick();
  await until(() => got.at(-1)?.name === "asOf" && got.at(-1)?.seq === seq);
  // Nothing but the time has changed since.
  expect(names().slice(before)).toEqual(["asOf", "asOf"]);
});

test("an edge that is gone: nothing is read for it any more", async () => {
  const { core, order } = await begin();
  const [gone, ready] = [await edgeOf(core), await edgeOf(core)];
  for (const { edge } of [gone, ready]) edge.notify("follow", { stream: BOOK });
  await Promise.all([gone.received("bookSnapshot"), ready.received("bookSnapshot")]);
  gone.edge.close();
  await gone.link.closed;
  await order(640_000);
  await ready.received("bookDelta");
  expect(gone.got).toHaveLength(1);
});

test.each(["", "book", "book.NOSUCH", "orders", "book.BTCUSD.1m", "x".repeat(64)])(
  "an edge that follows %o: its link ends",
  async (stream) => {
    const { core } = await begin();
    const { edge, link } = await edgeOf(core);
    edge.notify("follow", { stream });
    expect((await link.closed).message).toBe(`the edge follows ${stream}`);
  },
);

test("the list of markets: sent when followed", async () => {
  const { core } = await begin();
  const { edge, names, received } = await edgeOf(core);
  edge.notify("follow", { stream: "markets" });
  await received("markets");
  expect(names()).toEqual(["markets"]);
});
