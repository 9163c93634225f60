/** The list of markets against a real venue, with the time in the test's hands. */

import { POLL, runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { PerpgateClient, type RequestLike } from "@perpgate/sdk";
import { DEFAULT_PARAMETERS, venueConfigOf } from "@perpgate/venue";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { MarketFeed } from "./market-feed.js";

// Node has no frames and no address bar.
vi.stubGlobal("requestAnimationFrame", (callback: () => void) => setTimeout(callback));
vi.stubGlobal("location", { hash: "" });

async function start() {
  const at = await runVenue({ startMs: startAheadOfClients() });
  const line = { isCut: false };
  const fetch = async (url: string, init: RequestLike) => {
    if (line.isCut) throw new TypeError("fetch failed");
    return globalThis.fetch(url, init);
  };
  const client = new PerpgateClient({ url: at.url, fetch });
  onTestFinished(() => client.close());
  const feed = new MarketFeed(client);
  feed.load();
  const shown = () => feed.view("BTCUSD")?.market;
  await expect.poll(() => shown()?.status, POLL).toBe("active");
  const times = () => ({ stampMs: at.nowMs(), expiresAtMs: at.nowMs() + 30_000 });
  return { at, feed, shown, times, line };
}

describe("market feed", () => {
  test("a market that is halted and resumed: shown by the stream alone", async () => {
    const { at, feed, shown, times, line } = await start();
    line.isCut = true;
    const control = (action: "halt" | "resume") =>
      at.execute({ kind: "ControlMarket", ...times(), market: 0, action, priceTicks: 0 });
    await control("halt");
    await expect.poll(() => shown()?.status, POLL).toBe("halted");
    expect(feed.current.get()?.market.status).toBe("halted");
    await control("resume");
    await expect.poll(() => shown()?.status, POLL).toBe("active");
  });

  test("other fees: shown after the next hour of funding", async () => {
    const { at, feed, shown, times } = await start();
    const { nextFundingAt } = feed;
    await expect.poll(() => nextFundingAt.get(), POLL).toBeGreaterThan(at.nowMs());
    const markets = DEFAULT_MARKETS.map((market) => ({ ...market, takerFee: 0.0007 }));
    const config = venueConfigOf(markets, DEFAULT_PARAMETERS);
    await at.execute({ kind: "Configure", ...times(), config });
    at.skip((nextFundingAt.get() ?? 0) - at.nowMs() - 2_000);
    await at.execute({ kind: "AskTime", stampMs: at.nowMs() });
    await at.setIndex("BTCUSD", 65_000);
    await at.advance(4_000);
    await expect.poll(() => shown()?.takerFee, POLL).toBe(0.0007);
  });
});
