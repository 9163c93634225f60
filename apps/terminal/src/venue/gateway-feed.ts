/**
 * The venue's gateways: the one that served the page, and those that it names in the page. The client
 * uses the nearest, and the next one when it is lost.
 */

import type { GatewayState, PerpgateClient } from "@perpgate/sdk";
import { Store } from "../state/store.js";

const ROUND_TRIP_EVERY_MS = 5_000;

/** The addresses that the gateway has written into the page. */
export function gatewaysInPage(): readonly string[] {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="perpgate-gateways"]');
  return meta?.content.split(" ").filter((url) => URL.canParse(url)) ?? [];
}

export class GatewayFeed {
  /** The gateway in use; undefined if there is only one. */
  readonly inUse = new Store<GatewayState | undefined>(undefined);

  constructor(private readonly client: PerpgateClient) {}

  start(): void {
    if (this.client.gateways.length < 2) return;
    this.client.onGateway(() => this.read());
    setInterval(() => this.read(), ROUND_TRIP_EVERY_MS);
    this.read();
  }

  private read(): void {
    this.inUse.set(this.client.gateways.find(({ isInUse }) => isInUse));
  }
}
