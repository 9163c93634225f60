/**
 * The bots of this process: a worker thread that trades over the public address. They need the dev
 * attestor, which credits them; a venue with real chains has no bots.
 */

import type { BotLog, BotVenue } from "@perpgate/bots/settings";
import { BotsThread } from "@perpgate/bots/thread";
import type { BridgeConfig } from "@perpgate/bridge";
import type { Settings } from "./settings.js";

/** `unwanted`: turned off by a setting; `unfunded`: there is no dev attestor. */
export type BotsState = "trading" | "unwanted" | "unfunded";

/** For canceling their orders and signing out; the cancel timer cancels what is left then. */
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

/** A gateway that listens on all addresses is reached through loopback. */
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
