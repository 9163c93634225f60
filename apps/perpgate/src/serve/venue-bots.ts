/**
 * The bots of this venue: a process that trades over the public address. They need the dev
 * attestor, which credits them; a venue with real chains has no bots.
 */

import { BotsProcess } from "@perpgate/bots/process";
import type { BotLog, BotVenue } from "@perpgate/bots/settings";
import type { BridgeConfig } from "@perpgate/bridge";
import type { Settings } from "./settings.js";

/** `unwanted`: turned off by a setting; `unfunded`: there is no dev attestor. */
export type BotsState = "trading" | "elsewhere" | "unwanted" | "unfunded";

/** For canceling their orders and signing out; the cancel timer cancels what is left then. */
const STOP_WITHIN_MS = 3_000;
/** How often a gateway looks whether the bots are its own. */
const LOOK_EVERY_MS = 500;

interface BotsPlace {
  readonly url: string;
  /** Whether the bots trade here: on one gateway of a cluster, and on the next one once it is gone. */
  readonly isOurs: () => boolean;
}

export class VenueBots {
  private process: BotsProcess | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  private constructor(
    private readonly absence: "unwanted" | "unfunded" | undefined,
    private readonly isOurs: () => boolean,
    private readonly newProcess: () => BotsProcess,
  ) {}

  static start(settings: Settings, bridge: BridgeConfig, place: BotsPlace, log: BotLog): VenueBots {
    const { areWanted, ...bots } = settings.bots;
    const absence = !areWanted ? "unwanted" : bridge.kind === "dev" ? undefined : "unfunded";
    const venue = botVenueOf(settings, place.url);
    const started = new VenueBots(absence, place.isOurs, () => new BotsProcess(venue, bots, log));
    if (absence === undefined) started.look();
    return started;
  }

  get state(): BotsState {
    return this.absence ?? (this.process === undefined ? "elsewhere" : "trading");
  }

  async stop(graceMs: number): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.process?.stop(Math.min(STOP_WITHIN_MS, graceMs));
  }

  /** Starts the bots when they come here, and ends them when another gateway has them. */
  private look(): void {
    const { process } = this;
    if (this.isOurs() && process === undefined) {
      this.process = this.newProcess();
      this.process.start();
    } else if (!this.isOurs() && process !== undefined) {
      void process.stop(STOP_WITHIN_MS).finally(() => this.goOn(undefined));
      return;
    }
    this.goOn(this.process);
  }

  private goOn(process: BotsProcess | undefined): void {
    this.process = process;
    if (this.isStopped) return;
    this.timer = setTimeout(() => this.look(), LOOK_EVERY_MS);
    this.timer.unref();
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
