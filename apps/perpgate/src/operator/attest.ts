/**
 * `perpgate attest --venue URL --config FILE`: attestors without a venue. They watch the chains of
 * the configuration through their own RPC addresses and hand their votes to a venue that runs
 * elsewhere. The process keeps nothing; it may be stopped and started at any moment.
 */

import {
  AttestorHealth,
  Bridge,
  type BridgeConfig,
  type BridgeEvent,
  observeBridge,
  publicKeyHex,
  RemoteVenue,
} from "@perpgate/bridge";
import { destination, pino } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { serveAttestorStatus } from "../bridge/attestor-status.js";
import { bridgeOf } from "../bridge/settings-bridge.js";
import type { Arguments, Command } from "../cli/command.js";
import { StartError } from "../cli/start-error.js";
import { readConfiguration } from "../serve/configuration.js";
import { ProcessExit } from "../serve/exit/process-exit.js";
import { onStopSignal } from "../serve/stop-signals.js";

export const ATTEST: Command = {
  usage: ["attest --venue URL --config FILE [--metrics-port PORT]"],
  about: `Runs the attestors of a configuration without a venue: they watch the chains through their own
RPC addresses and hand their votes to a venue elsewhere. The process keeps nothing. Metrics, health
and readiness are served on the loopback address.`,
  options: {
    venue: { kind: "text", value: "URL", help: "the gateway that takes the votes" },
    config: { kind: "text", value: "FILE", help: "JSON configuration file with a bridge" },
    "metrics-port": {
      kind: "text",
      value: "PORT",
      help: "of /metrics, /healthz and /readyz on 127.0.0.1 (9465, or a free one)",
    },
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
  const { url, config, port } = placesOf(args);
  const settings = readConfiguration(config === undefined ? {} : { config }, environment);
  const bridge = attestorsIn(bridgeOf(settings, environment.PERPGATE_ATTESTOR_KEY));
  const exit = ProcessExit.install();
  const log = pino({ level: settings.logLevel }, destination({ fd: 2, sync: true }));
  const clock = () => Date.now();
  const keys = new Map(bridge.attestors.map(({ index, privateKey }) => [index, privateKey]));
  const venue = new RemoteVenue({ url, keys, clock, timeoutMs: TIMEOUT_MS });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const chains = bridge.chains.map(({ chain }) => chain);
  const health = new AttestorHealth(chains, () => performance.now());
  const report = observeBridge(log, metrics);
  const observe = (event: BridgeEvent): void => {
    health.observe(event);
    report(event);
  };
  const status = await serveAttestorStatus(port, metrics, health);
  const running = new Bridge(bridge, venue, { clock, observe });
  onStopSignal(() => exit.stop(() => running.stop(), STOP_MS));
  running.start();
  for (const { index, privateKey } of bridge.attestors) {
    const names = chains.join(", ");
    process.stdout.write(
      `attestor ${index} (${publicKeyHex(privateKey)}) watches ${names} for ${url}\n`,
    );
  }
  process.stdout.write(`metrics ${status}/metrics\n`);
  return 0;
}

function attestorsIn(bridge: BridgeConfig): Extract<BridgeConfig, { kind: "chain" }> {
  if (bridge.kind === "chain" && bridge.attestors.length > 0) return bridge;
  throw new StartError(`"bridge" must configure a chain and the key of an attestor to run here`);
}

function placesOf(args: Arguments): {
  readonly url: string;
  readonly config: string | undefined;
  readonly port: number | undefined;
} {
  const url = args.text("venue");
  if (url === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw args.fail("--venue must be the gateway's http address");
  }
  const text = args.text("metrics-port");
  if (text !== undefined && (!/^[0-9]{1,5}$/.test(text) || Number(text) > 65_535)) {
    throw args.fail("--metrics-port must be a port");
  }
  return { url, config: args.text("config"), port: text === undefined ? undefined : Number(text) };
}
