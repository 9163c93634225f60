/**
 * How this venue takes deposits: vault and tokens of each chain, or the dev attestor. Loaded again
 * after every reconnection, because the venue may have been restarted with another configuration.
 */

import type { BridgeInfo } from "@perpgate/protocol";
import type { PerpgateClient } from "@perpgate/sdk";
import { Store } from "../state/store.js";
import { ONCE, Refresher } from "./refresher.js";

export class BridgeFeed {
  /** Undefined until loaded. */
  readonly info = new Store<BridgeInfo | undefined>(undefined);
  private readonly refresher: Refresher;

  constructor(client: PerpgateClient) {
    this.refresher = new Refresher(async () => this.info.set(await client.bridge(ONCE)));
  }

  load(): void {
    this.refresher.soon();
  }
}
