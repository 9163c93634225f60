/**
 * `perpgate attest --venue URL --config FILE`: attestors without a venue. They watch the chains of
 * the configuration through their own RPC addresses and hand their votes to a venue that runs
 * elsewhere. The process keeps nothing; it may be stopped and started at any moment.
 */

import { Bridge, observeBridge, publicKeyHex, RemoteVenue } from "@perpgate/bridge";
import { destination, pino } from "pino";
import { Registry } from "prom-client";
import { bridgeOf } from "../bridge/settings-bridge.js";
import { readConfiguration } from "../configuration.js";
import { ProcessExit } from "../exit/process-exit.js";
import { StartError } from "../start-error.js";
import { onStopSignal } from "../stop-signals.js";
import type { Arguments, Command } from "./command.js";

export const ATTEST: Command = {
  usage: ["attest --venue URL --config FILE"],
  about: `Runs the attestors of a configuration without a venue: they watch the chains through their own
RPC addresses and hand their votes to a venue elsewhere. The process keeps nothing.`,
  options: {
    venue: { kind: "text", value: "URL", help: "the gateway that takes the votes" },
    config: { kind: "text", value: "FILE", help: "JSON configuration file with a bridge" },
  },
  examples: [["attest --venue https://gateway.example --config attestor.json", "until stopped"]],
  run: attest,
};

const TIMEOUT_MS = 10_000;
/** For requests in flight, each of which ends after its own time-out. */
const STOP_MS = TIMEOUT_MS + 5_000;

/** Does not end by itself. */
async function attest(args: Arguments): Promise<number> {
  args.atMost(0);
  const environment = process.env;
  const { url, config } = placesOf(args);
  const settings = readConfiguration(config === undefined ? {} : { config }, environment);
  const bridge = bridgeOf(settings, environment.PERPGATE_ATTESTOR_KEY);
  if (bridge.kind === "dev" || bridge.attestors.length === 0) {
    throw new StartError(`"bridge" must configure a chain and the key of an attestor to run here`);
  }
  const exit = ProcessExit.install();
  const log = pino({ level: settings.logLevel }, destination({ fd: 2, sync: true }));
  const clock = () => Date.now();
  const keys = new Map(bridge.attestors.map(({ index, privateKey }) => [index, privateKey]));
  const { venue } = bridge;
  const port = new RemoteVenue({ url, venue, keys, clock, timeoutMs: TIMEOUT_MS });
  const running = new Bridge(bridge, port, {
    clock,
    observe: observeBridge(log, new Registry()),
  });
  onStopSignal(() => exit.stop(() => running.stop(), STOP_MS));
  running.start();
  for (const { index, privateKey } of bridge.attestors) {
    const chains = bridge.chains.map(({ chain }) => chain).join(", ");
    process.stdout.write(
      `attestor ${index} (${publicKeyHex(privateKey)}) watches ${chains} for ${venue} at ${url}\n`,
    );
  }
  return 0;
}

function placesOf(args: Arguments): { readonly url: string; readonly config: string | undefined } {
  const url = args.text("venue");
  if (url === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw args.fail("--venue must be the gateway's http address");
  }
  return { url, config: args.text("config") };
}
