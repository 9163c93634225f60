/** A real venue behind a real gateway whose time and prices go on by themselves, as a process's do. */

import { type RunningVenue, runVenue } from "@perpgate/gateway/testing";
import { PerpgateClient } from "@perpgate/sdk";
import { onTestFinished } from "vitest";

const BEAT_MS = 100;

export class LivingVenue {
  readonly prices = new Map([
    ["BTCUSD", 65_000],
    ["ETHUSD", 3_200],
    ["SOLUSD", 150],
  ]);
  readonly client: PerpgateClient;
  /** While it is, time stands still. */
  isPaused = false;
  private isOver = false;

  private constructor(readonly at: RunningVenue) {
    this.client = new PerpgateClient({ url: at.url });
  }

  static async start(changes: Parameters<typeof runVenue>[0] = {}): Promise<LivingVenue> {
    const living = new LivingVenue(await runVenue({ startMs: Date.now(), ...changes }));
    const beating = living.beat();
    // The venue ends with the test too, but after this: what was registered last is called first.
    onTestFinished(async () => {
      living.isOver = true;
      await beating;
      living.client.close();
    });
    return living;
  }

  get symbols(): readonly string[] {
    return [...this.prices.keys()];
  }

  /** A beat is a tick and fresh prices. On a busy machine the venue's time goes slower than ours. */
  private async beat(): Promise<void> {
    const { at, prices } = this;
    while (!this.isOver) {
      if (!this.isPaused) {
        await at.advance(200);
        for (const [symbol, price] of prices) await at.setIndex(symbol, price);
      }
      await breath(2 * BEAT_MS);
    }
  }
}

/** Asks until the answer is no longer undefined. The test's own time-out ends a vain wait. */
export async function eventually<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await breath(BEAT_MS);
  }
}

function breath(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
