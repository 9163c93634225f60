/** `perpgate serve`: runs the server until SIGTERM or SIGINT, and drains it then. */

import { availableParallelism } from "node:os";
import {
  getHealth,
  getMarkets,
  getOpenApi,
  getReadiness,
  SOCKET_PATH,
} from "@perpgate/protocol/operations";
import { readVersion } from "../version.js";
import { readConfiguration } from "./configuration.js";
import { flagSettings, type ServeOptions } from "./options.js";
import { forkVenue } from "./processes/forked.js";
import type { RunningPerpgate } from "./serve.js";
import type { Settings } from "./settings.js";

const MOST_EDGES = 8;

export async function runServer(options: ServeOptions): Promise<void> {
  const settings = readConfiguration(flagSettings(options), process.env);
  const attestorKey = process.env.PERPGATE_ATTESTOR_KEY;
  // No other process needs it in its environment.
  delete process.env.PERPGATE_ATTESTOR_KEY;
  const forked = forkVenue(edgesOf(settings));
  const { serve } = await import("./serve.js");
  const version = readVersion();
  const accepted = { loss: options.acceptLoss === true, clock: options.acceptClock === true };
  const perpgate = await serve(forked, settings, version, accepted, attestorKey);
  process.stdout.write(bannerText(perpgate, version));
}

/** By default one for each processor that the core leaves. */
export function edgesOf({ edges }: Settings): number {
  return edges ?? Math.min(MOST_EDGES, Math.max(1, availableParallelism() - 1));
}

/** The text after a start: addresses, what is simulated, the bots, and who may sign in. */
function bannerText(perpgate: RunningPerpgate, version: string): string {
  const { url, metricsUrl, hasPage, dataFolder, engineVersion, acceptsAnyDomain } = perpgate;
  const { index, bridge, bots, logKey } = perpgate;
  const prices = index.source === "simulated" ? "prices are simulated" : "prices come from feeds";
  return [
    `Perpgate ${version} — TESTNET: balances are not money, ${prices}.`,
    ...(hasPage ? [`  trade      ${url}/`] : []),
    `  interface  ${url}${getMarkets.path}`,
    `  stream     ${url.replace(/^http/, "ws")}${SOCKET_PATH}`,
    `  docs       ${url}/docs`,
    `  OpenAPI    ${url}${getOpenApi.path}`,
    `  health     ${url}${getHealth.path}  ${url}${getReadiness.path}`,
    ...(metricsUrl === undefined ? [] : [`  metrics    ${metricsUrl}`]),
    `  data       ${dataFolder}`,
    `  engine     version ${engineVersion} of the rules`,
    `  log key    ${logKey}`,
    `  index      ${indexText(index)}`,
    `  deposits   ${depositsText(bridge)}`,
    `  bots       ${BOTS_TEXT[bots]}`,
    ...(acceptsAnyDomain
      ? ["  sign-in    any domain, since only this machine can ask; others need auth.domains"]
      : []),
    "",
  ].join("\n");
}

const BOTS_TEXT: Readonly<Record<RunningPerpgate["bots"], string>> = {
  trading: "make and take on every market over this interface; --no-bots starts without them",
  elsewhere: "those of the gateway that joined first; here when the ones before this are gone",
  unwanted: "none, because of --no-bots or the configuration",
  unfunded: "none: they trade on the dev attestor's credit, and this venue has a chain",
};

function indexText({ source, seed, feeds }: RunningPerpgate["index"]): string {
  if (source === "simulated") return `SIMULATED: a random walk per market, seed ${seed}`;
  return `the median of ${feeds.map(({ name }) => name).join(", ")}`;
}

function depositsText(bridge: RunningPerpgate["bridge"]): string {
  if (bridge.kind === "dev") {
    return "DEV ATTESTOR: any hash is credited, nothing is checked on any chain";
  }
  const { chains, quorum, members, attestors } = bridge;
  const names = chains.map(({ chain }) => chain).join(", ");
  return `${names}; ${quorum} of ${members.length} attestors credit, ${attestors.length} run here`;
}
