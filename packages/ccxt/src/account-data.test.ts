/** Deposits and liquidations of an account, on a live venue. */

import { runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import { expect, test } from "vitest";
import { live, quote, SYMBOL } from "./testing/venue.js";

const { venue, maker, newExchange } = await live();
await quote(maker);

test("a deposit that pays several accounts: its amount is that of this account", async () => {
  const attestation = { attestorKind: "chain", devCredit: 0 } as const;
  const at = await runVenue({ startMs: startAheadOfClients(), parameters: attestation });
  const exchange = newExchange({ urls: { api: at.url } });
  const { address } = await exchange.signIn();
  const txid = `0x${"ab".repeat(32)}`;
  const { id } = await exchange.registerDeposit("USDC", txid, { network: "ERC20" });
  await at.execute({
    kind: "AttestDeposit",
    stampMs: at.nowMs(),
    attestor: 0,
    depositId: Number(id),
    verdict: "credit",
    votedAtMs: at.nowMs(),
    confirmations: 64,
    required: 64,
    credits: [
      { address: "77".repeat(20), amountMicros: 900_000_000, logIndex: 0 },
      { address: address.slice(2).toLowerCase(), amountMicros: 25_000_000, logIndex: 1 },
    ],
    reason: "",
  });
  expect(await exchange.fetchDeposits("USDC")).toMatchObject([
    { id, amount: 25, addressFrom: address, status: "ok", timestamp: at.nowMs() },
  ]);
});

test("deposits of long ago keep their time; since and until leave out credits, not pending ones", async () => {
  const exchange = newExchange();
  const register = async (byte: string): Promise<string | undefined> => {
    const txid = `0x${byte.repeat(32)}`;
    return (await exchange.registerDeposit("USDC", txid, { network: "ARBONE" })).id;
  };
  const idsOf = async (since?: number, limit?: number, params = {}) =>
    (await exchange.fetchDeposits("USDC", since, limit, params)).map(({ id }) => id);
  const first = await register("a1");
  await venue.advance(1_000);
  const [early] = await exchange.fetchDeposits();
  expect(early).toMatchObject({ id: first, timestamp: expect.any(Number) });
  // More entries of the ledger than a page has.
  const buy = { symbol: SYMBOL, type: "market", side: "buy", amount: 0.0001 } as const;
  for (let batch = 0; batch < 21; batch++) {
    await exchange.createOrders(Array.from({ length: 50 }, () => buy));
  }
  const second = await register("b2");
  await venue.advance(1_000);
  const third = await register("c3");
  const [oldest, credited, pending] = await exchange.fetchDeposits("USDC");
  expect(oldest).toEqual(early);
  expect(credited).toMatchObject({ id: second, status: "ok", timestamp: expect.any(Number) });
  expect(pending).toMatchObject({ id: third, status: "pending", timestamp: undefined });
  const since = credited?.timestamp ?? 0;
  expect(await idsOf(since)).toEqual([second, third]);
  expect(await idsOf(undefined, undefined, { until: since - 1 })).toEqual([first, third]);
  expect(await idsOf(0, 1)).toEqual([first]);
  expect(await idsOf(undefined, 1)).toEqual([third]);
});

test("liquidations: the limit counts them, not the fills around them", async () => {
  const gambler = newExchange();
  await gambler.loadMarkets();
  await gambler.setLeverage(50, SYMBOL);
  await gambler.createOrder(SYMBOL, "market", "buy", 0.01);
  await venue.setIndex("BTCUSD", 64_000);
  await venue.advance(1_000);
  expect(await gambler.fetchPositions()).toEqual([]);
  await venue.setIndex("BTCUSD", 65_000);
  await gambler.createOrder(SYMBOL, "market", "buy", 0.01);
  const liquidations = await gambler.fetchMyLiquidations(SYMBOL, undefined, 1);
  expect(liquidations).toMatchObject([{ symbol: SYMBOL, side: "sell", contracts: 0.01 }]);
  expect(await gambler.fetchMyLiquidations(SYMBOL, 1, 1)).toEqual(liquidations);
});
