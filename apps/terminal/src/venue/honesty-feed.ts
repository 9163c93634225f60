/** How the venue has kept its promises (`GET /v1/honesty`), requested now and then. */

import type { Honesty } from "@perpgate/protocol";
import type { PerpgateClient } from "@perpgate/sdk";
import { Store } from "../state/store.js";
import { ONCE, Refresher } from "./refresher.js";

const EVERY_MS = 15_000;

export class HonestyFeed {
  /** Undefined until loaded, and for a venue without a transparency log. */
  readonly record = new Store<Honesty | undefined>(undefined);
  private readonly refresher: Refresher;

  constructor(client: PerpgateClient) {
    this.refresher = new Refresher(async () => this.record.set(await client.honesty(ONCE)), {
      longestWaitMs: EVERY_MS,
    });
  }

  start(): void {
    this.refresher.soon();
    setInterval(() => {
      if (!document.hidden) this.refresher.soon();
    }, EVERY_MS);
  }
}
