/** Reads of a venue over REST. */

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
