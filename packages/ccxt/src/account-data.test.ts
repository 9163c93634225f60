/** Deposits and liquidations of an account, on a live venue. */

import type { AttestedCredit } from "@perpgate/engine";
import { runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import type { BridgeInfo } from "@perpgate/sdk";
import { errors } from "ccxt";
import { expect, test } from "vitest";
import { expectCurrency, expectTransaction } from "./testing/structure.js";
import { live, quote, SYMBOL } from "./testing/venue.js";

const { venue, maker, newExchange } = await live();
await quote(maker);

const WITHDRAWALS = {
  minWithdrawal: 10,
  fee: 1,
  accountPerDay: 1_000,
  venuePerHour: 1_000,
  venuePerDay: 1_000,
  lifeSeconds: 3_600,
  chains: [{ chain: "ethereum", chainId: 1, tokens: ["USDC"], maxUnpaid: 1_000 }],
};

/** A venue with a vault; its attestors vote by `credit`. */
async function chainVenue() {
  const token = { token: "USDC", contract: `0x${"c1".repeat(20)}`, decimals: 6 } as const;
  const chain: BridgeInfo["chains"][number] = {
    chain: "ethereum",
    chainId: 1,
    vault: `0x${"f0".repeat(20)}`,
    confirmations: 64,
    finality: "finalized",
    minDeposit: 1,
    tokens: [token, { ...token, token: "USDT" }],
  };
  const info: Omit<BridgeInfo, "withdrawals"> = {
    attestor: "chain",
    venue: "test",
    venueId: null,
    members: [],
    quorum: 1,
    keys: [],
    paused: ["USDT"],
    chains: [chain],
  };
  const nobody = () => Promise.reject(new Error("no attestor asks"));
  const at = await runVenue({
    startMs: startAheadOfClients(),
    parameters: { attestorKind: "chain", devCredit: 0, withdrawals: WITHDRAWALS },
    attestation: () => ({ info: () => info, holdings: () => [], accept: nobody, queue: nobody }),
  });
  const credit = (id: string | undefined, credits: readonly AttestedCredit[]) =>
    at.execute({
      kind: "AttestDeposit",
      stampMs: at.nowMs(),
      attestor: 0,
      depositId: Number(id),
      verdict: "credit",
      votedAtMs: at.nowMs(),
      confirmations: 64,
      required: 64,
      credits,
      reason: "",
    });
  return { at, chain, credit };
}

test("a deposit that pays several accounts and tokens: an entry for each token of this account", async () => {
  const { at, credit } = await chainVenue();
  const exchange = newExchange({ urls: { api: at.url } });
  const { address } = await exchange.signIn();
  const txid = `0x${"ab".repeat(32)}`;
  const { id } = await exchange.registerDeposit("USDC", txid, { network: "ERC20" });
  const own = address.slice(2).toLowerCase();
  await credit(id, [
    { address: "77".repeat(20), amountMicros: 900_000_000, logIndex: 0, token: "USDC" },
    { address: own, amountMicros: 25_000_000, logIndex: 1, token: "USDT" },
    { address: own, amountMicros: 100_000, logIndex: 2, token: "USDC" },
    { address: own, amountMicros: 200_000, logIndex: 3, token: "USDC" },
  ]);
  const shared = { id, addressFrom: address, status: "ok", timestamp: at.nowMs() };
  const tether = { ...shared, currency: "USDT", amount: 25, fee: { currency: "USDT" } };
  const deposits = await exchange.fetchDeposits();
  expect(deposits).toMatchObject([tether, { ...shared, currency: "USDC", amount: 0.3 }]);
  for (const deposit of deposits) expectTransaction(exchange, deposit);
  expect(await exchange.fetchDeposits("USDT")).toMatchObject([tether]);
});

test("a deposit of another token than was registered: its currency is that of the credit", async () => {
  const { at, credit } = await chainVenue();
  const exchange = newExchange({ urls: { api: at.url } });
  const { address } = await exchange.signIn();
  const txid = `0x${"cd".repeat(32)}`;
  const { id } = await exchange.registerDeposit("USDC", txid, { network: "ERC20" });
  const sender = address.slice(2).toLowerCase();
  await credit(id, [{ address: sender, amountMicros: 5_000_000, logIndex: 0, token: "USDT" }]);
  expect(await exchange.fetchDeposits("USDT")).toMatchObject([{ id, amount: 5 }]);
  expect(await exchange.fetchDeposits("USDC")).toEqual([]);
});

test("a deposit that was registered for another account: nothing was credited here", async () => {
  const { at, credit } = await chainVenue();
  const exchange = newExchange({ urls: { api: at.url } });
  const txid = `0x${"ef".repeat(32)}`;
  const { id } = await exchange.registerDeposit("USDC", txid, { network: "ERC20" });
  const sender = "77".repeat(20);
  await credit(id, [{ address: sender, amountMicros: 5_000_000, logIndex: 0, token: "USDC" }]);
  expect(await exchange.fetchDeposits()).toMatchObject([
    { id, amount: 0, addressFrom: `0x${sender}`, status: "ok" },
  ]);
});

test("fetchDepositAddress: the vault of a chain, named in has once currencies are loaded", async () => {
  const { at, chain } = await chainVenue();
  const exchange = newExchange({ urls: { api: at.url } });
  expect(exchange.has.fetchDepositAddress).toBe(false);
  await exchange.loadMarkets();
  expect(exchange.has.fetchDepositAddress).toBe(true);
  for (const params of [{}, { network: "ERC20" }]) {
    expect(await exchange.fetchDepositAddress("USDC", params)).toEqual({
      info: chain,
      currency: "USDC",
      network: "ERC20",
      address: chain.vault,
      tag: undefined,
    });
  }
  const elsewhere = exchange.fetchDepositAddress("USDC", { network: "TRC20" });
  await expect(elsewhere).rejects.toThrow(/takes USDC, USDT on ERC20/);
  const { USDC, USDT } = exchange.currencies;
  for (const currency of [USDC, USDT]) expectCurrency(exchange, currency);
  expect(USDC).toMatchObject({ deposit: true, networks: { ERC20: { deposit: true } } });
  // Paused.
  expect(USDT).toMatchObject({ deposit: false, networks: { ERC20: { active: false } } });
});

test("currencies of a venue that pays: withdraw, fee and least amount on the networks that pay", async () => {
  const { at } = await chainVenue();
  const exchange = newExchange({ urls: { api: at.url } });
  await exchange.loadMarkets();
  const { currencies } = exchange;
  for (const currency of Object.values(currencies)) expectCurrency(exchange, currency);
  const pays = { withdraw: true, fee: 1, active: true, limits: { withdraw: { min: 10 } } };
  expect(currencies.USDC).toMatchObject({ ...pays, networks: { ERC20: pays } });
  const unbounded = { min: undefined, max: undefined };
  expect(currencies.USDC).toMatchObject({ limits: { deposit: { min: 1 }, amount: unbounded } });
  expect(currencies.BTC).toMatchObject({ limits: { deposit: unbounded, withdraw: unbounded } });
  // Neither in `withdrawals.chains` nor credited.
  const paysNot = { withdraw: false, fee: undefined, active: false };
  expect(currencies.USDT).toMatchObject({ ...paysNot, networks: { ERC20: paysNot } });
  expect(currencies.USD).toMatchObject({ withdraw: false });
});

test("deposits: listed by the time of their registration", async () => {
  const exchange = newExchange();
  const register = async (byte: string): Promise<string | undefined> => {
    const txid = `0x${byte.repeat(32)}`;
    return (await exchange.registerDeposit("USDC", txid, { network: "ARBONE" })).id;
  };
  const idsOf = async (since?: number, limit?: number, params = {}) =>
    (await exchange.fetchDeposits("USDC", since, limit, params)).map(({ id }) => id);
  const first = await register("a1");
  await venue.advance(1_000);
  const since = venue.nowMs();
  const second = await register("b2");
  expect(await exchange.fetchDeposits("USDC")).toMatchObject([
    { id: first, status: "ok", timestamp: since - 1_000 },
    { id: second, status: "pending", timestamp: since, updated: since },
  ]);
  expect(await idsOf(since)).toEqual([second]);
  expect(await idsOf(undefined, undefined, { until: since - 1 })).toEqual([first]);
  expect(await idsOf(0, 1)).toEqual([first]);
  expect(await idsOf(undefined, 1)).toEqual([second]);
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
  // A jump: orders are taken again after the tick that looks for liquidations.
  await venue.advance(1_000);
  await gambler.createOrder(SYMBOL, "market", "buy", 0.01);
  const liquidations = await gambler.fetchMyLiquidations(SYMBOL, undefined, 1);
  expect(liquidations).toMatchObject([{ symbol: SYMBOL, side: "sell", contracts: 0.01 }]);
  expect(await gambler.fetchMyLiquidations(SYMBOL, 1, 1)).toEqual(liquidations);
});

test("withdraw: to the account's own address alone; a refusal is CCXT's; fetchWithdrawals lists it", async () => {
  const { at, credit } = await chainVenue();
  const exchange = newExchange({ urls: { api: at.url } });
  const { address } = await exchange.signIn();
  expect(exchange.has.withdraw).toBe(false);
  await exchange.loadMarkets();
  expect(exchange.has.withdraw).toBe(true);
  const params = { network: "ERC20" };
  const { id } = await exchange.registerDeposit("USDC", `0x${"ab".repeat(32)}`, params);
  const account = address.slice(2).toLowerCase();
  await credit(id, [{ logIndex: 0, token: "USDC", address: account, amountMicros: 50_000_000 }]);
  const other = `0x${"66".repeat(20)}`;
  await expect(exchange.withdraw("USDC", 20, other, undefined, params)).rejects.toThrow(
    errors.InvalidAddress,
  );
  await expect(exchange.withdraw("USDC", 500, address, undefined, params)).rejects.toThrow(
    errors.InsufficientFunds,
  );
  const asked = await exchange.withdraw("USDC", 20, address, undefined, params);
  expect(asked).toMatchObject({
    type: "withdrawal",
    status: "pending",
    amount: 20,
    fee: { cost: 1 },
  });
  expectTransaction(exchange, asked);
  // Only the answer to the request says whether it was a repeat.
  const { replayed, ...info } = asked.info;
  expect(replayed).toBe(false);
  expect(await exchange.fetchWithdrawals("USDC")).toEqual([{ ...asked, info }]);
  expect(await exchange.fetchWithdrawals("USDT")).toEqual([]);
});
