/** The composition root: settings in; a supervisor with a core, edges, bots, the archive's indexer and metrics out. */

import type { BotLog } from "@perpgate/bots/settings";
import type { BridgeConfig } from "@perpgate/bridge";
import type { Logger } from "pino";
import { VenueArchive } from "../archive/venue-archive.js";
import { StartError } from "../cli/start-error.js";
import { bridgeOf } from "./bridge/settings-bridge.js";
import { refuseMissingFeeds } from "./index-source.js";
import { otherCoresOf } from "./link-settings.js";
import { listenForMetrics } from "./metrics-listener.js";
import type { Accepted } from "./options.js";
import { pageFolderOf } from "./page-folder.js";
import { refuseTakenPorts } from "./ports.js";
import { openProcess } from "./process-metrics.js";
import { endForked, type ForkedVenue } from "./processes/forked.js";
import { type Started, Supervisor } from "./processes/supervisor.js";
import type { Settings } from "./settings.js";
import { nonceKeyOf, signInRulesOf } from "./sign-in-settings.js";
import { onStopSignal } from "./stop-signals.js";
import { type BotsState, VenueBots } from "./venue-bots.js";

export interface RunningPerpgate extends Started {
  /** Where Prometheus reads; undefined without a separate listener. */
  readonly metricsUrl: string | undefined;
  /** Whether the trading page is served at `/`. */
  readonly hasPage: boolean;
  /** Whether pages of any domain may sign in, as on a testnet of one machine. */
  readonly acceptsAnyDomain: boolean;
  readonly index: Settings["index"];
  readonly bridge: BridgeConfig;
  readonly bots: BotsState;
}

/** Resolves once it serves. From then on the process ends with its core, or after a signal. */
export async function serve(
  forked: ForkedVenue,
  settings: Settings,
  version: string,
  accepted: Accepted,
  attestorKey?: string,
): Promise<RunningPerpgate> {
  const { bridging, signIn, page } = await checkedStart(settings, attestorKey).catch((error) => {
    endForked(forked);
    throw error;
  });
  // Standard output is for the banner.
  const own = openProcess("supervisor", settings.logLevel);
  const edgeCores = { cores: otherCoresOf(settings), hasOwnCore: true };
  const beginnings = {
    core: { settings, accepted, attestorKey },
    edge: { settings, version, signIn, nonceKey: nonceKeyOf(settings), page, ...edgeCores },
  };
  const supervisor = new Supervisor(forked, beginnings, own);
  onStopSignal(() => supervisor.stop());
  const started = await supervisor.started();
  const place = { url: started.url, isOurs: () => supervisor.isFirst };
  const bots = VenueBots.start(settings, bridging, place, botLogOf(own.log));
  const postgres = settings.archive?.postgres;
  const archive =
    postgres === undefined
      ? undefined
      : VenueArchive.start({ directory: started.dataFolder, postgres, isNoted: true }, own.log);
  supervisor.stopFirst(async (withinMs) => {
    await Promise.all([bots.stop(withinMs), archive?.stop(withinMs)]);
  });
  const metricsServer = await listenForMetrics(settings, supervisor.metricsText, own.log).catch(
    (error: unknown) => {
      if (!(error instanceof StartError)) throw error;
      supervisor.fail(error.text, error.exitCode);
      return undefined;
    },
  );
  return {
    ...started,
    metricsUrl: metricsServer?.url,
    hasPage: page !== undefined,
    acceptsAnyDomain: signIn.domains === "any",
    index: settings.index,
    bridge: bridging,
    bots: bots.state,
  };
}

/** @throws {StartError} for settings that cannot be served; nothing is made before. */
async function checkedStart(settings: Settings, attestorKey: string | undefined) {
  const bridging = bridgeOf(settings, attestorKey);
  const signIn = signInRulesOf(settings, bridging.kind);
  const page = pageFolderOf(settings);
  refuseMissingFeeds(settings);
  await refuseTakenPorts(settings);
  return { bridging, signIn, page };
}

function botLogOf(log: Logger): BotLog {
  return {
    info: (message, fields) => log.info({ ...fields }, message),
    warn: (message, fields) => log.warn({ ...fields }, message),
  };
}
