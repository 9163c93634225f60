/** A real venue behind a real gateway whose time and prices advance, as in a server process. */

import { type RunningVenue, runVenue } from "@perpgate/gateway/testing";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { PerpgateClient } from "@perpgate/sdk";
import { DEFAULT_PARAMETERS, venueConfigOf } from "@perpgate/venue";
import { onTestFinished } from "vitest";

const INTERVAL_MS = 100;

export class LivingVenue {
  readonly prices = new Map([
    ["BTCUSD", 65_000],
    ["ETHUSD", 3_200],
    ["SOLUSD", 150],
  ]);
  readonly client: PerpgateClient;
  /** While true, the venue's time stands still. */
  isPaused = false;
  private isStopped = false;

  private constructor(readonly at: RunningVenue) {
    this.client = new PerpgateClient({ url: at.url });
  }

  static async start(changes: Parameters<typeof runVenue>[0] = {}): Promise<LivingVenue> {
    const living = new LivingVenue(await runVenue({ startMs: Date.now(), ...changes }));
    const running = living.run();
    // Called before the venue's own hook, which was registered earlier.
    onTestFinished(async () => {
      living.isStopped = true;
      await running;
      living.client.close();
    });
    return living;
  }

  get symbols(): readonly string[] {
    return [...this.prices.keys()];
  }

  /** Lists a market with the terms of SOLUSD, while everything runs. */
  async list(symbol: string, price: number): Promise<void> {
    const [like] = DEFAULT_MARKETS.slice(-1);
    if (like === undefined) throw new Error("no market");
    const listing = [...DEFAULT_MARKETS, { ...like, symbol, base: symbol.replace("USD", "") }];
    const config = venueConfigOf(listing, DEFAULT_PARAMETERS);
    await this.at.venue.configure({ config, attestors: null, listing });
    await this.at.setIndex(symbol, price);
    this.prices.set(symbol, price);
  }

  async control(symbol: string, action: "halt" | "resume"): Promise<void> {
    const market = this.symbols.indexOf(symbol);
    const stampMs = this.at.nowMs();
    const expiresAtMs = stampMs + 60_000;
    await this.at.execute({
      ...{ kind: "ControlMarket", stampMs, expiresAtMs },
      ...{ market, action, priceTicks: 0 },
    });
  }

  /** Ticks and fresh prices. On a busy machine the venue's time is slower than ours. */
  private async run(): Promise<void> {
    const { at, prices } = this;
    while (!this.isStopped) {
      if (!this.isPaused) {
        await at.advance(200);
        for (const [symbol, price] of prices) await at.setIndex(symbol, price);
      }
      await sleep(2 * INTERVAL_MS);
    }
  }
}

/** Asks until the answer is defined; the time-out of the test is the limit. */
export async function eventually<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(INTERVAL_MS);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
