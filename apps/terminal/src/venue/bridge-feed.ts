/**
 * How money comes into this venue: where tokens go on each chain, or that the dev attestor credits
 * any hash. Asked for until the answer is there, and again after every reconnection, since the venue
 * may be another by then.
 */

import type { BridgeInfo } from "@perpgate/protocol";
import type { PerpgateClient } from "@perpgate/sdk";
import { Store } from "../state/store.js";
import { Refresher } from "./refresher.js";

/** Asked again by the refresher. */
const ONCE = { retries: 0 };

export class BridgeFeed {
  /** Undefined until the venue has told. */
  readonly info = new Store<BridgeInfo | undefined>(undefined);
  private readonly refresher: Refresher;

  constructor(client: PerpgateClient) {
    this.refresher = new Refresher(async () => this.info.set(await client.bridge(ONCE)));
  }

  load(): void {
    this.refresher.soon();
  }
}
