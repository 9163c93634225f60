/** The account's data against a real venue, with the time in the test's hands. */

import { POLL, type RunningVenue, runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import type { Position } from "@perpgate/protocol";
import {
  type ClientOptions,
  newPrivateKey,
  PerpgateClient,
  privateKeyAccount,
  type Session,
} from "@perpgate/sdk";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Store } from "../state/store.js";
import { AccountFeed, type AccountListener } from "./account-feed.js";
import { MarketFeed } from "./market-feed.js";

// Node has no frames and no address bar.
vi.stubGlobal("requestAnimationFrame", (callback: () => void) => setTimeout(callback));
vi.stubGlobal("location", { hash: "" });

const LISTENER: AccountListener = {
  onEnded: (error) => {
    throw error ?? new Error("the session has ended");
  },
  onOrders: () => undefined,
  onFills: () => undefined,
};
const TERMS = { symbol: "BTCUSD", type: "limit", leverage: 10 } as const;

function newClient({ url }: RunningVenue, options: Partial<ClientOptions> = {}): PerpgateClient {
  const client = new PerpgateClient({ url, ...options });
  onTestFinished(() => client.close());
  return client;
}

function newSession(client: PerpgateClient): Promise<Session> {
  return client.signIn({ account: privateKeyAccount(newPrivateKey()) });
}

/** What funding changes, and trades aside nothing else. */
function figuresOf(position: Position | undefined) {
  if (position === undefined) throw new Error("there is no position");
  const { margin, liquidationPrice, fundingPaid } = position;
  return { margin, liquidationPrice, fundingPaid };
}

function openFeed(session: Session, nextFundingAt = new Store<number | undefined>(undefined)) {
  const feed = new AccountFeed(LISTENER, nextFundingAt);
  onTestFinished(() => feed.close());
  feed.open(session);
  return feed;
}

describe("account feed", () => {
  test("an hour of funding, no trade: margin, liquidation price and funding of the position follow", async () => {
    const at = await runVenue({ startMs: startAheadOfClients() });
    const client = newClient(at);
    const [maker, taker] = [await newSession(client), await newSession(client)];
    // Enough on both sides for a premium, without which there is no funding.
    await maker.placeOrder({ ...TERMS, side: "long", size: 0.5, price: 64_990 });
    await maker.placeOrder({ ...TERMS, side: "short", size: 0.5, price: 65_010 });
    await taker.placeOrder({ ...TERMS, side: "long", size: 0.1, price: 65_010 });
    const markets = new MarketFeed(client);
    markets.load();
    const feed = openFeed(taker, markets.nextFundingAt);
    const shown = () => feed.positions.get()?.get("BTCUSD");
    await expect.poll(() => shown()?.size, POLL).toBe(0.1);
    await expect.poll(() => markets.nextFundingAt.get(), POLL).toBeGreaterThan(at.nowMs());
    const before = figuresOf(shown());
    expect(before.fundingPaid).toBe(0);

    at.skip((markets.nextFundingAt.get() ?? 0) - at.nowMs() - 2_000);
    await at.execute({ kind: "AskTime", stampMs: at.nowMs() });
    await at.setIndex("BTCUSD", 65_000);
    await at.advance(4_000);
    const after = figuresOf((await taker.positions())[0]);
    expect(after.fundingPaid).toBeGreaterThan(0);
    expect(after.liquidationPrice).toBeGreaterThan(before.liquidationPrice ?? 0);
    await expect.poll(() => figuresOf(shown()), POLL).toEqual(after);
    const { positionMargin } = await taker.account();
    await expect.poll(() => feed.account.get()?.positionMargin, POLL).toBe(positionMargin);
  });
});
