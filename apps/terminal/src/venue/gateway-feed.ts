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

interface GatewayInUse extends GatewayState {
  /** As it calls itself; undefined if it does not, or has not been asked yet. */
  readonly region: string | undefined;
}

export class GatewayFeed {
  /** The gateway in use; undefined if there is only one. */
  readonly inUse = new Store<GatewayInUse | undefined>(undefined);
  private readonly regions = new Map<string, string | undefined>();

  constructor(private readonly client: PerpgateClient) {}

  /** Returns how to stop. */
  start(): () => void {
    if (this.client.gateways.length < 2) return () => undefined;
    const forget = this.client.onGateway(() => this.read());
    const timer = setInterval(() => this.read(), ROUND_TRIP_EVERY_MS);
    this.read();
    return () => {
      forget();
      clearInterval(timer);
    };
  }

  private read(): void {
    const state = this.client.gateways.find(({ isInUse }) => isInUse);
    if (state === undefined) {
      this.inUse.set(undefined);
      return;
    }
    this.inUse.set({ ...state, region: this.regions.get(state.url) });
    if (!this.regions.has(state.url)) void this.askRegion(state.url);
  }

  private async askRegion(url: string): Promise<void> {
    const status = await this.client.status().catch(() => undefined);
    // Another may have been used since, and have answered.
    if (status === undefined || this.inUse.get()?.url !== url) return;
    this.regions.set(url, status.region);
    if (status.region !== undefined) this.read();
  }
}
