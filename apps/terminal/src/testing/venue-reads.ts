/** What tests read of a venue, and another trader of it. */

import { until } from "@perpgate/gateway/testing";
import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";

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
    // On a busy machine a venue that has just started may refuse reads.
    if (!response.ok) return 0;
    const { bids, asks }: { bids: unknown[]; asks: unknown[] } = JSON.parse(await response.text());
    return Math.min(bids.length, asks.length);
  };
  const isTrading = async () => (await depthOf()) === 100 && (await tickerOf(url)).last !== null;
  await until(isTrading, { everyMs: 100 });
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

/** Other traders offer 600,000 dollars of BTCUSD above the mark, a tick apart. */
export async function offerTo(
  url: string,
  onTestFinished: (end: () => void) => void,
): Promise<void> {
  const client = new PerpgateClient({ url });
  onTestFinished(() => client.close());
  const { mark } = await tickerOf(url);
  for (const _ of [1, 2]) {
    const trader = await client.signIn({ account: privateKeyAccount(newPrivateKey()) });
    const price = (level: number): number => Math.round(mark * 10 + level) / 10;
    for (const level of [1, 2, 3]) {
      await trader.placeOrder({
        symbol: "BTCUSD",
        side: "short",
        type: "limit",
        size: Math.floor((100_000 / price(level)) * 1_000) / 1_000,
        leverage: 50,
        price: price(level),
      });
    }
  }
}
