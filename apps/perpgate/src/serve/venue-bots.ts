/**
 * The bots of this process, if it has any: they trade over the public address like anyone, from a
 * thread of their own. Only where the dev attestor credits them: a venue with a chain has no money
 * for bots to play with.
 */

import type { BotLog, BotVenue } from "@perpgate/bots";
import { BotsThread } from "@perpgate/bots/thread";
import type { BridgeConfig } from "@perpgate/bridge";
import type { Settings } from "./settings.js";

/** `unwanted` by a setting, `unfunded` for want of the dev attestor. */
export type BotsState = "trading" | "unwanted" | "unfunded";

/** How long their goodbye may take; what is left then is canceled by their own switch. */
const STOP_WITHIN_MS = 3_000;

export class VenueBots {
  private constructor(
    readonly state: BotsState,
    private readonly thread?: BotsThread,
  ) {}

  static start(settings: Settings, bridge: BridgeConfig, url: string, log: BotLog): VenueBots {
    const { areWanted, ...bots } = settings.bots;
    if (!areWanted) return new VenueBots("unwanted");
    if (bridge.kind !== "dev") return new VenueBots("unfunded");
    const thread = new BotsThread(botVenueOf(settings, url), bots, log);
    thread.start();
    return new VenueBots("trading", thread);
  }

  async stop(graceMs: number): Promise<void> {
    await this.thread?.stop(Math.min(STOP_WITHIN_MS, graceMs));
  }
}

/** A gateway on all addresses is also on this machine's own; its domains are what it is told. */
function botVenueOf({ auth }: Settings, url: string): BotVenue {
  const address = new URL(url);
  if (address.hostname === "0.0.0.0") address.hostname = "127.0.0.1";
  if (address.hostname === "[::]") address.hostname = "[::1]";
  const [domain] = auth.domains ?? [];
  const [chainId] = auth.chainIds ?? [];
  return {
    url: address.origin,
    ...(domain === undefined ? {} : { domain }),
    ...(chainId === undefined ? {} : { chainId }),
  };
}
