/** What tests read of a venue, and another trader of it. */

import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import { vi } from "vitest";

interface TickerPrices {
  readonly mark: number;
  readonly last: number | null;
}

export async function tickerOf(url: string): Promise<TickerPrices> {
  const response = await fetch(`${url}/v1/markets/BTCUSD/ticker`);
  const ticker: TickerPrices = JSON.parse(await response.text());
  return ticker;
}

/** Resolves once the bots have quoted on both sides and traded. */
export async function untilTraded(url: string): Promise<void> {
  const depthOf = async () => {
    const response = await fetch(`${url}/v1/markets/BTCUSD/book?depth=100`);
    const { bids, asks }: { bids: unknown[]; asks: unknown[] } = JSON.parse(await response.text());
    return Math.min(bids.length, asks.length);
  };
  const isTrading = async () => (await depthOf()) === 100 && (await tickerOf(url)).last !== null;
  await vi.waitUntil(isTrading, { timeout: 100_000, interval: 100 });
}

/** Another trader sells into the book; returns that trader's client. */
export async function sellTo(
  url: string,
  onTestFinished: (end: () => void) => void,
): Promise<PerpgateClient> {
  const client = new PerpgateClient({ url });
  onTestFinished(() => client.close());
  const other = await client.signIn({ account: privateKeyAccount(newPrivateKey()) });
  await other.placeOrder({
    symbol: "BTCUSD",
    side: "short",
    type: "limit",
    timeInForce: "ioc",
    size: 0.001,
    leverage: 2,
    price: 64_000,
  });
  return client;
}
