/**
 * `perpgate attest --venue URL --config FILE`: attestors without a venue. They watch the chains of
 * the configuration through their own RPC addresses and hand their votes to a venue that runs
 * elsewhere. The process keeps nothing; it may be stopped and started at any moment.
 */

import { parseArgs } from "node:util";
import { Bridge, observeBridge, publicKeyHex, RemoteVenue } from "@perpgate/bridge";
import { destination, pino } from "pino";
import { Registry } from "prom-client";
import { readConfiguration } from "../configuration.js";
import { StartError } from "../start-error.js";
import { bridgeOf } from "./settings-bridge.js";

export const ATTEST_USAGE = "perpgate attest --venue URL --config FILE";
const TIMEOUT_MS = 10_000;

export async function attestCommand(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const { venue: url, config } = readArguments(args);
  const settings = readConfiguration(config === undefined ? {} : { config }, environment);
  const bridge = bridgeOf(settings, environment.PERPGATE_ATTESTOR_KEY);
  if (bridge.kind === "dev" || bridge.attestors.length === 0) {
    throw new StartError(`"bridge" must configure a chain and the key of an attestor to run here`);
  }
  const log = pino({ level: settings.logLevel }, destination({ fd: 2, sync: true }));
  const clock = () => Date.now();
  const keys = new Map(bridge.attestors.map(({ index, privateKey }) => [index, privateKey]));
  const { venue } = bridge;
  const port = new RemoteVenue({ url, venue, keys, clock, timeoutMs: TIMEOUT_MS });
  const running = new Bridge(bridge, port, {
    clock,
    observe: observeBridge(log, new Registry()),
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => {
      void running.stop().then(() => process.exit(0));
    });
  }
  running.start();
  for (const { index, privateKey } of bridge.attestors) {
    const chains = bridge.chains.map(({ chain }) => chain).join(", ");
    process.stdout.write(
      `attestor ${index} (${publicKeyHex(privateKey)}) watches ${chains} for ${venue} at ${url}\n`,
    );
  }
}

function readArguments(args: readonly string[]): { venue: string; config: string | undefined } {
  let values: { venue?: string; config?: string };
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: { venue: { type: "string" }, config: { type: "string" } },
    }));
  } catch (error) {
    const problem = error instanceof Error ? error.message.split(". ", 1)[0] : String(error);
    throw new StartError(`${problem}; usage: ${ATTEST_USAGE}`);
  }
  const { venue, config } = values;
  if (venue === undefined || !/^https?:\/\//.test(venue) || !URL.canParse(venue)) {
    throw new StartError(`--venue must be the gateway's http address; usage: ${ATTEST_USAGE}`);
  }
  return { venue, config };
}
