/** What docs/frameworks.md says that trading frameworks find, asked as they ask. */

import { expect, test } from "vitest";
import { ask } from "../testing/running-gateway.js";
import { StreamClient } from "../ws/testing/stream-client.js";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

test("a connector: ping, time and status; orders by client id; fills since a time, in pages", async () => {
  const at = await runVenue();
  expect((await ask(`${at.url}/healthz`)).status).toBe(200);
  expect((await ask(`${at.url}/v1/time`)).body).toEqual({ time: expect.any(Number) });
  expect((await ask(`${at.url}/v1/status`)).body).toMatchObject({
    stage: "open",
    markets: [{ symbol: "BTCUSD", status: "active" }, {}, {}],
  });
  const [maker, bot] = [await Trader.enter(at), await Trader.enter(at)];
  const socket = await StreamClient.connect(at.url, bot.token);
  expect((await socket.ask({ op: "ping" })).t).toBe("pong");

  const buy = async (clientOrderId: string): Promise<void> => {
    await maker.place(maker.limit("short", 65_010));
    const { body } = await bot.place({ ...bot.order({ leverage: 5 }), clientOrderId });
    expect(body).toMatchObject({ status: "filled", clientOrderId });
  };
  await buy("bot-1");
  await at.advance(1_000);
  const since = at.venue.nowMs();
  for (const name of ["bot-2", "bot-3"]) await buy(name);

  const [order] = await bot.list("/v1/orders?status=all&clientOrderId=bot-2");
  expect(order).toMatchObject({ clientOrderId: "bot-2", status: "filled" });
  const names = (fills: readonly Record<string, unknown>[]) =>
    fills.map(({ clientOrderId }) => clientOrderId);
  expect(names(await bot.list(`/v1/fills?from=${since}&after=0`))).toEqual(["bot-2", "bot-3"]);
  const [first] = await bot.list(`/v1/fills?from=${since}&after=0&limit=1`);
  expect(names(await bot.list(`/v1/fills?from=${since}&after=${first?.id}`))).toEqual(["bot-3"]);
  expect(names(await bot.list(`/v1/fills?to=${since}`))).toEqual(["bot-1"]);
});
