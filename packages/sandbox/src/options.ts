/** What a caller gives a sandbox, and gets of it. */

import type { MarketDefinition } from "@perpgate/protocol";
import type { Session } from "@perpgate/sdk";
import type { VenueParameters } from "@perpgate/venue";
import type { Duration } from "./durations.js";
import type { LiquidityOptions } from "./liquidity.js";

/**
 * `manual`: time moves by `advance` alone. `real`: with the machine's clock. A speed: as many times
 * faster.
 */
export type SandboxTime = "manual" | "real" | { readonly speed: number };

export interface SandboxOptions {
  /** Of everything random. Default: 1. */
  readonly seed?: number;
  /** Symbols of the default markets, or definitions of your own. Default: BTCUSD. */
  readonly markets?: readonly (string | MarketDefinition)[];
  /** Default: `manual`. */
  readonly time?: SandboxTime;
  /** When it begins. Default: 2026-01-01T00:00:00Z in manual time, now otherwise. */
  readonly start?: Date | number;
  /** Quotes around the index, in every market; false: an empty book. */
  readonly liquidity?: LiquidityOptions | false;
  /** Dollars for each account that signs in without `trader`. Default: 0. */
  readonly grant?: number;
  /** Parameters of the venue, as in its configuration file. */
  readonly parameters?: Partial<VenueParameters>;
  /** Whether clients have a venue's request limits, by the machine's clock. Default: false. */
  readonly limits?: boolean;
  /**
   * A new or empty folder for the venue's data, which stay after `stop`: `perpgate verify` and `export`
   * read them. Default: in memory where there is such a folder, and removed.
   */
  readonly folder?: string;
  /** 0, the default: any free one. */
  readonly port?: number;
  /** Port of the control API, for other programs and the page; 0: any free one. Default: none. */
  readonly control?: number;
  /** Folder of a built trading page, served at `/`. */
  readonly page?: string | undefined;
  /**
   * Is given what stops the venue, such as `onTestFinished` of vitest, `t.after` of node:test.
   */
  readonly until?: (stop: () => Promise<void>) => unknown;
}

export interface TraderOptions {
  /** Dollars. Default: 10,000; 0 for none. */
  readonly funds?: number;
}

export interface KeyedTrader {
  readonly session: Session;
  /** Resolves with `X-Service-Sig` for a body. */
  sign(body: string): Promise<string>;
}

export interface PlayOptions {
  /** Of the bot's turns. Default: a second. */
  readonly every?: Duration;
  /** The bot's turn, with the venue's time; in manual time only. */
  readonly each?: (nowMs: number) => unknown;
}

/** A copy of the venue at one moment, on disk until `discard`, or until the sandbox stops. */
export interface SavedVenue {
  readonly nowMs: number;
  discard(): void;
}
