/** What an operator sees of orders and streams over sockets, and of what is refused. */

import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { StreamClient } from "../ws/testing/stream-client.js";
import { SocketCounts } from "./socket-counts.js";
import { TimesByStatus, TimeTable } from "./time-table.js";

async function read(registry: Registry): Promise<ReadonlyMap<string, number>> {
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("perp"));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

test("orders of a socket: timed by operation and status, refusals by code, frames and bytes", async () => {
  const metrics = new Registry();
  const at = await runVenue({ metrics });
  await at.setIndex("BTCUSD", 65_000);
  const trader = await Trader.enter(at);
  const client = await StreamClient.connect(at.url);
  await client.ask({ op: "auth", token: trader.token });
  const body = JSON.stringify(trader.limit("long", 64_000));
  const { "x-service-sig": sig = "" } = trader.signatureOf(body);
  expect((await client.ask({ op: "order", body, sig })).t).toBe("ok");
  const other = JSON.stringify(trader.limit("long", 64_000));
  expect((await client.ask({ op: "order", body: other, sig })).t).toBe("error");
  await client.ask({ op: "nonsense" });
  await trader.place(trader.limit("long", 63_000), "none");

  const figures = await read(metrics);
  const answers = (op: string, status: number) =>
    figures.get(`perpgate_socket_request_seconds_count{op="${op}",status="${status}"}`);
  expect(answers("auth", 200)).toBe(1);
  expect(answers("order", 200)).toBe(1);
  expect(answers("order", 401)).toBe(1);
  expect(answers("unknown", 400)).toBe(1);
  const most = 'perpgate_socket_request_seconds_bucket{le="+Inf",op="order",status="200"}';
  expect(figures.get(most)).toBe(1);
  const refused = (transport: string, code: string, status: number) =>
    figures.get(
      `perpgate_refusals_total{transport="${transport}",code="${code}",status="${status}"}`,
    );
  expect(refused("socket", "invalid_signature", 401)).toBe(1);
  expect(refused("socket", "unknown_operation", 400)).toBe(1);
  expect(refused("http", "signature_required", 401)).toBe(1);
  // An alert must see the first of them.
  expect(refused("socket", "internal_error", 500)).toBe(0);
  expect(figures.get('perpgate_socket_frames_received_total{kind="message"}')).toBe(4);
  expect(figures.get("perpgate_socket_received_bytes_total")).toBeGreaterThan(body.length * 2);
  expect(figures.get("perpgate_socket_frames_sent_total")).toBe(4);
  expect(figures.get("perpgate_sockets_open")).toBe(1);
  await client.close();
  while ((await read(metrics)).get("perpgate_sockets_open") !== 0);
  expect((await read(metrics)).get('perpgate_sockets_closed_total{code="1005"}')).toBe(1);
});

test("resumed streams: backfills and their rows; a since of another log is a gap", async () => {
  const metrics = new Registry();
  const at = await runVenue({ metrics });
  await at.setIndex("BTCUSD", 65_000);
  const trader = await Trader.enter(at);
  const since = at.venue.seq;
  for (const price of [60_000, 61_000, 62_000]) await trader.place(trader.limit("long", price));
  const client = await StreamClient.connect(at.url, trader.token);
  await client.ask({ op: "subscribe", streams: ["orders"], since });
  for (let order = 0; order < 3; order++) await client.next("orders");
  await client.ask({ op: "subscribe", streams: ["fills"], since: 1e9 });
  await client.settled();
  const figures = await read(metrics);
  expect(figures.get("perpgate_backfills_total")).toBe(1);
  expect(figures.get("perpgate_backfills_active")).toBe(0);
  expect(figures.get("perpgate_backfill_rows_total")).toBeGreaterThanOrEqual(3);
  expect(figures.get("perpgate_stream_gaps_total")).toBe(1);
});

test("an address over its limit: counted by the limit's name, over both transports", async () => {
  const metrics = new Registry();
  const at = await runVenue({ metrics, limits: { ordersPerSecond: 0.001, ordersBurst: 1 } });
  const trader = await Trader.enter(at);
  const client = await StreamClient.connect(at.url, trader.token);
  await trader.place(trader.limit("long", 64_000));
  await trader.place(trader.limit("long", 64_000));
  const body = JSON.stringify(trader.limit("long", 64_000));
  const { "x-service-sig": sig = "" } = trader.signatureOf(body);
  const refused = await client.ask({ op: "order", body, sig });
  expect(refused.d).toMatchObject({ code: "rate_limited" });
  const figures = await read(metrics);
  expect(figures.get('perpgate_rate_limited_total{limit="orders"}')).toBe(2);
  expect(figures.get("perpgate_cost_waiting")).toBe(0);
});

test("close codes that clients choose: one series; those of the protocol and the server: one each", async () => {
  const registry = new Registry();
  const counts = new SocketCounts([]);
  counts.register(registry, { size: 0, readerCount: 0, bufferedBytes: 0 });
  for (const code of [1000, 1006, 4408, 3000, 3001, 4000, 4999]) counts.onClosed(code);
  const closed = [...(await read(registry))].filter(
    ([name, count]) => name.startsWith("perpgate_sockets_closed_total") && count > 0,
  );
  expect(closed.map(([name, count]) => [/code="(.*)"/.exec(name)?.[1], count])).toEqual([
    ["4408", 1],
    ["1000", 1],
    ["1006", 1],
    ["other", 4],
  ]);
});

test("TimeTable: counts each time under its bound, cumulative as Prometheus reads them", async () => {
  const registry = new Registry();
  const table = new TimeTable();
  table.register(registry, "perp_seconds", "help");
  const times = new TimesByStatus(table, { op: "order" });
  for (const ms of [0.5, 0.6, 3, 9_000]) times.observe(200, ms);
  const figures = await read(registry);
  const under = (le: string) =>
    figures.get(`perp_seconds_bucket{le="${le}",op="order",status="200"}`);
  expect(["0.0005", "0.001", "0.002", "0.005", "5", "+Inf"].map(under)).toEqual([1, 2, 2, 3, 3, 4]);
  expect(figures.get('perp_seconds_count{op="order",status="200"}')).toBe(4);
  expect(figures.get('perp_seconds_sum{op="order",status="200"}')).toBeCloseTo(9.0041);
});
