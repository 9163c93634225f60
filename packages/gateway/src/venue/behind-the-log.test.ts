/** A core that has not applied what another one has answered. */

import { afterAll, afterEach, expect, test, vi } from "vitest";
import { ask } from "../testing/running-gateway.js";
import { StreamClient } from "../ws/testing/stream-client.js";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const TICK_MS = 200;

const at = await runVenue({}, afterAll);

/** From now on the log counts as one that cores lead by turns. */
function amongOthers(): void {
  const { venue, edge } = at;
  vi.spyOn(venue, "isReplicated", "get").mockReturnValue(true);
  vi.spyOn(edge, "isReplicated", "get").mockReturnValue(true);
}

afterEach(() => {
  vi.restoreAllMocks();
});

test("amend by a client id of digits is no position", async () => {
  const trader = await Trader.enter(at);
  const clientOrderId = "9999999999";
  await trader.place({ ...trader.limit("long", 60_000), clientOrderId });
  amongOthers();
  const amendment = { clientOrderId, price: 60_100, nonce: 9 };
  const amended = await trader.signed(`/v1/orders/${clientOrderId}/amend`, amendment);
  expect(amended).toMatchObject({ status: 200 });
});

/** A request that waits for a position; this gateway's next batch comes back meanwhile. */
function untilNextBatch(): void {
  vi.spyOn(at.venue, "reachedIfAnswered").mockImplementationOnce((position) => {
    const reached = at.venue.reachedIfAnswered(position);
    void at.advance(TICK_MS);
    return reached;
  });
}

test("a token of another log: 401, not lagging", async () => {
  const trader = new Trader(at);
  trader.token = tokenOfAnotherLog();
  amongOthers();
  untilNextBatch();
  const refused = await trader.get("/v1/account");
  expect(refused).toMatchObject({ status: 401, body: { code: "invalid_token" } });
});

test("a token of another log, at a socket: invalid_token, not lagging", async () => {
  const socket = await StreamClient.connect(at.url);
  amongOthers();
  for (const message of [{ op: "auth" }, { op: "subscribe", streams: ["orders"] }]) {
    untilNextBatch();
    const answer = await socket.ask({ ...message, token: tokenOfAnotherLog() });
    expect(answer).toMatchObject({ t: "error", d: { code: "invalid_token" } });
  }
});

function tokenOfAnotherLog(): string {
  return `${"t".repeat(43)}.${at.venue.seq + 1_000_000}`;
}

test("an order that no gateway has acknowledged: 404, not lagging", async () => {
  const trader = await Trader.enter(at);
  amongOthers();
  untilNextBatch();
  const unknown = await trader.get("/v1/orders/999999999");
  expect(unknown).toMatchObject({ status: 404, body: { code: "order_not_found" } });
});

test("an order ahead of this gateway, and nothing comes from the log: lagging", async () => {
  const trader = await Trader.enter(at);
  amongOthers();
  const ahead = await trader.get(`/v1/orders/${at.venue.seq + 1_000}`);
  expect(ahead).toMatchObject({ status: 503, body: { code: "lagging" } });
});

test("the log's time is behind: an order is not executed, and not submitted", async () => {
  const trader = await Trader.enter(at);
  amongOthers();
  vi.spyOn(at.venue, "isTimeBehind", "get").mockReturnValue(true);
  const submit = vi.spyOn(at.venue, "submit");
  const placed = await trader.place(trader.limit("long", 60_000));
  expect(placed).toMatchObject({ status: 503, body: { code: "not_executed" } });
  expect(submit).not.toHaveBeenCalled();
});

test("cancel by client id: the order that has the name when the cancel is executed", async () => {
  const trader = await Trader.enter(at);
  const place = async () => {
    const { body } = await trader.place({
      ...trader.limit("long", 60_000),
      clientOrderId: "bid-2",
    });
    return String(body.orderId);
  };
  const first = await place();
  let second = "";
  const submitted = vi.spyOn(at.venue, "submitted");
  submitted.mockImplementationOnce(async (...cancel) => {
    await trader.cancel(first);
    second = await place();
    return at.venue.submitted(...cancel);
  });
  const { status, body } = await trader.send("/v1/orders/cancel", { clientOrderId: "bid-2" });
  expect({ status, body }).toMatchObject({ status: 200, body: { orderId: second } });
  expect((await trader.get(`/v1/orders/${second}`)).body.status).toBe("canceled");
});

test("subscribe: since ahead of this gateway is waited for, without a gap", async () => {
  const trader = await Trader.enter(at);
  const socket = await StreamClient.connect(at.url, trader.token);
  amongOthers();
  const since = at.venue.seq + 1;
  const subscribed = socket.ask({ op: "subscribe", streams: ["preconfirms"], since });
  const placed: number[] = [];
  while (placed.length < 6) {
    const { body } = await trader.place(trader.limit("long", 60_000));
    placed.push(Number(body.ackNonce));
  }
  expect(await subscribed).toMatchObject({ t: "ok", d: { streams: ["preconfirms"] } });
  for (const ackNonce of placed.filter((position) => position > since)) {
    expect((await socket.next("preconfirms")).d).toMatchObject({ ackNonce: String(ackNonce) });
  }
});

/** A socket that the log has as connected, and a position that the log does not have. */
async function aheadOfTheLog() {
  const trader = await Trader.enter(at);
  const socket = await StreamClient.connect(at.url, trader.token);
  await socket.ask({ op: "auth", token: trader.token });
  const since = at.venue.seq + 1_000_000;
  return { socket, since, message: { op: "subscribe", streams: ["preconfirms"], since } };
}

test("subscribe: since of another log, once this gateway has caught up: a gap", async () => {
  const { socket, since, message } = await aheadOfTheLog();
  amongOthers();
  untilNextBatch();
  expect(await socket.ask(message)).toMatchObject({ t: "ok", d: { streams: ["preconfirms"] } });
  expect((await socket.next("preconfirms")).d).toMatchObject({ type: "gap", since });
});

test("subscribe: since ahead of this gateway, and nothing comes from the log: lagging", async () => {
  const { socket, message } = await aheadOfTheLog();
  amongOthers();
  const answer = await socket.ask(message);
  expect(answer).toMatchObject({ t: "error", d: { code: "lagging" } });
});

const PAGE = { origin: "https://app.example", "x-request-id": "my-request" };

test("lagging: a page of another origin can read it, and how far this gateway is", async () => {
  const headers = { ...PAGE, "perpgate-min-position": String(at.venue.seq + 1_000_000) };
  const lagging = await ask(`${at.url}/v1/markets`, { headers });
  expect(lagging).toMatchObject({ status: 503, body: { code: "lagging" } });
  expect(lagging.headers.get("perpgate-position")).toBe(String(at.venue.seq));
  expect(lagging.headers.get("access-control-allow-origin")).toBe("*");
  expect(lagging.headers.get("x-request-id")).toBe("my-request");
  expect(lagging.headers.get("retry-after")).toBe("1");
});

test("a position that is no number: refused with this gateway's position", async () => {
  const headers = { ...PAGE, "perpgate-min-position": "1e3" };
  const refused = await ask(`${at.url}/v1/markets`, { headers });
  expect(refused.status).toBe(400);
  expect(refused.headers.get("perpgate-position")).toBe(String(at.venue.seq));
});
