import { NO_EVIDENCE } from "@perpgate/venue";
import { expect, test } from "vitest";
import { newFolder, type RunningVenue, runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { type Frame, StreamClient } from "./testing/stream-client.js";

async function follow(
  at: RunningVenue,
  token: string,
  streams: readonly string[],
  since?: number,
): Promise<StreamClient> {
  const client = await StreamClient.connect(at.url, token);
  await client.ask({ op: "subscribe", streams, ...(since === undefined ? {} : { since }) });
  return client;
}

async function updates(client: StreamClient, atLeast: number): Promise<Frame[]> {
  const found = () => client.frames.filter(({ d }) => d.type === "update");
  while (found().length < atLeast) await client.settled();
  await client.settled();
  await client.settled();
  return found();
}

/** Two makers' orders that one taker's order takes, and a rest that is canceled. */
async function trade(at: RunningVenue, maker: Trader, taker: Trader): Promise<void> {
  const nonce = 1_000 + at.venue.seq;
  await maker.place(maker.limit("short", 65_010, { margin: 65.01, leverage: 10, nonce }));
  const second = maker.limit("short", 65_020, { margin: 650.2, leverage: 10, nonce: nonce + 1 });
  const { body } = await maker.place(second);
  await taker.place(taker.order({ margin: 260.05, leverage: 5, nonce }));
  await maker.cancel(body.orderId);
}

/** For the maker: two orders, the trade, the cancel. */
const ACCOUNT_FRAMES = 4;

test("fills: one frame a command with all its fills, the same as over REST", async () => {
  const at = await runVenue();
  const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
  const clients = [
    await follow(at, maker.token, ["fills"]),
    await follow(at, taker.token, ["fills"]),
  ];
  await trade(at, maker, taker);
  for (const [i, trader] of [maker, taker].entries()) {
    const [frame, ...more] = await updates(clients[i]!, 1);
    expect(more).toEqual([]);
    const fills = [...(await trader.list("/v1/fills"))].reverse();
    expect(fills).toHaveLength(2);
    expect(frame).toEqual({ t: "fills", d: { type: "update", seq: frame?.d.seq, fills } });
    expect(String(fills[0]?.id).split("-")[0]).toBe(String(frame?.d.seq));
  }
});

test("account: what is owned first, then after each command that changes it", async () => {
  const at = await runVenue();
  const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
  const client = await follow(at, maker.token, ["account"]);
  expect((await client.next("account")).d).toMatchObject({
    type: "snapshot",
    balance: 10_000,
    available: 10_000,
    equity: 10_000,
  });
  await trade(at, maker, taker);
  const frames = await updates(client, ACCOUNT_FRAMES);
  expect(frames).toHaveLength(ACCOUNT_FRAMES);
  expect(frames[0]?.d.balance).toBe(10_000);
  expect(frames[0]?.d.reserved).toBeGreaterThan(0);
  const { body } = await maker.get("/v1/account");
  const { balance, available, reserved, positionMargin, equity } = body;
  expect(frames.at(-1)?.d).toMatchObject({ balance, available, reserved, positionMargin, equity });
});

test("resume: from any seq, the same frames of fills and account, across a restart", async () => {
  const directory = newFolder();
  const before = await runVenue({ directory });
  const [maker, taker] = [await Trader.enter(before), await Trader.enter(before)];
  const streams = ["fills", "account"];
  const whole = await follow(before, maker.token, streams);
  for (let i = 0; i < 3; i++) await trade(before, maker, taker);
  const live = await updates(whole, 3 * (ACCOUNT_FRAMES + 1));
  expect(live).toHaveLength(3 * (ACCOUNT_FRAMES + 1));
  const startMs = before.nowMs();
  await before.stop();
  const after = await runVenue({ directory, startMs });
  for (const since of live.map(({ d }) => Number(d.seq))) {
    const expected = live.filter(({ d }) => Number(d.seq) > since);
    const client = await follow(after, maker.token, streams, since);
    const seen = await updates(client, expected.length);
    for (const stream of streams) {
      const of = ({ t }: Frame) => t === stream;
      expect(seen.filter(of), `${stream} since ${since}`).toEqual(expected.filter(of));
    }
    await client.close();
  }
  // The grant of the first sign-in has no other row that could tell of it.
  const [first] = await updates(await follow(after, maker.token, ["account"], 0), 1);
  expect(first?.d).toMatchObject({ type: "update", balance: 10_000, available: 10_000 });
  expect(after.streamFaults).toEqual([]);
});

test("status: public, immediately, then when a market's status or the stage changes", async () => {
  const at = await runVenue();
  const client = await StreamClient.connect(at.url);
  await client.ask({ op: "subscribe", streams: ["status"] });
  const first = await client.next("status");
  expect(first.d).toMatchObject({ release: "test", engineVersion: 3, stage: "open" });
  expect(first.d.markets).toContainEqual({ symbol: "BTCUSD", status: "active" });
  await at.advance(2_000);
  const stampMs = at.nowMs();
  const expiresAtMs = stampMs + 30_000;
  await at.venue.submitted(
    { kind: "ControlMarket", stampMs, expiresAtMs, market: 0, action: "halt", priceTicks: 0 },
    NO_EVIDENCE,
    () => undefined,
  );
  const next = await client.take(
    ({ t, d }) => t === "status" && JSON.stringify(d.markets).includes("halted"),
  );
  expect(next.d.markets).toContainEqual({ symbol: "BTCUSD", status: "halted" });
  expect(client.frames.filter(({ t }) => t === "status").length).toBeLessThan(3);
});
