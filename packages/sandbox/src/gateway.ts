/** The gateway of a sandbox, behind the network that a test may slow down or cut. */

import {
  AddressLimits,
  buildGateway,
  Edge,
  type LimitSettings,
  NonceIssuer,
  RpcContractWallets,
  StreamServer,
  UNLIMITED,
} from "@perpgate/gateway";
import {
  DEFAULT_BOUND_SESSION_MS,
  DEFAULT_HTTP_LIMITS,
  DEFAULT_LIMITS,
} from "@perpgate/gateway/limits";
import { memoryTransport, RequestClock } from "@perpgate/link";
import type { Core } from "@perpgate/venue";
import { pino } from "pino";
import { Registry } from "prom-client";
import { FaultyLink, type PlannedFaults } from "./faults.js";
import type { RunRecorder } from "./report/run-recorder.js";
import { type Seed, seedOf } from "./seed.js";
import { Wire } from "./wire.js";

export interface SandboxGatewayOptions {
  readonly seed: Seed;
  readonly nowMs: () => number;
  /** Whether clients have a venue's request limits, by the machine's clock. */
  readonly hasLimits: boolean;
  readonly faults: PlannedFaults;
  /** Folder of a built trading page. */
  readonly page: string | undefined;
  /** Address of the control API. */
  readonly control: string | undefined;
  /** What failed inside; a fault of the sandbox, since refusals are no failures. */
  readonly onFault: (error: unknown) => void;
  readonly core: Core;
  readonly seq: () => number;
  readonly recorder: RunRecorder;
  /** Resolves once the account that signed in has its dollars. */
  readonly granted: () => Promise<void>;
  /** 0: any free one. */
  readonly port: number;
}

export interface SandboxGateway {
  readonly url: string;
  readonly port: number;
  readonly streams: StreamServer;
  /** Errors that it has sent to clients, by code. */
  refusals(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

const VERSION = "0.3.0-sandbox";
const DRAIN_MS = 50;
const REFUSALS = "perpgate_refusals_total";

export function limitsOf({ hasLimits }: Pick<SandboxGatewayOptions, "hasLimits">): LimitSettings {
  return hasLimits ? DEFAULT_LIMITS : UNLIMITED;
}

export async function openGateway(options: SandboxGatewayOptions): Promise<SandboxGateway> {
  const { core, seed, nowMs, faults, onFault, seq } = options;
  const limits = limitsOf(options);
  const nonces = new NonceIssuer(seedOf(seed, "nonce-key"), (bytes) => seed.bytes("nonce", bytes));
  const transport = memoryTransport();
  core.connect(transport.connectCore);
  // Ids and times of requests are in the log: of the seed, and of the sandbox's time.
  const run = seed.hex("request", 8);
  const clock = new RequestClock(nowMs, run);
  const link = new FaultyLink(
    transport.connectEdge,
    faults,
    options.recorder,
    options.granted,
    clock,
  );
  const edge = new Edge({
    link,
    limits,
    signIn: {
      domains: "any",
      chainIds: undefined,
      nonce: "any",
      requireKeyBinding: false,
      maxBoundSessionMs: DEFAULT_BOUND_SESSION_MS,
    },
    services: {
      nonces,
      contracts: new RpcContractWallets(new Map()),
      random: (bytes) => seed.bytes("token", bytes),
    },
  });
  await link.ready;
  const log = pino({ level: "silent" });
  const metrics = new Registry();
  const streams = await StreamServer.open({
    edge,
    seq,
    log: { info: () => undefined, error: onFault },
    limits: {},
    release: VERSION,
  });
  const gateway = await buildGateway({
    version: VERSION,
    clock: nowMs,
    nonces,
    edge,
    streams,
    addressLimits: new AddressLimits(limits),
    clientLimits: limits,
    readiness: [],
    metrics,
    trustProxy: false,
    origins: "*",
    page: options.page,
    pageSandbox: { control: options.control },
    log,
    limits: DEFAULT_HTTP_LIMITS,
  });
  const inner = await gateway.listen({ host: "127.0.0.1", port: 0 });
  const wire = await Wire.open(
    options.port,
    Number(new URL(inner).port),
    () => faults.latency,
    () => seed.fraction("jitter"),
  ).catch(async (error: unknown) => {
    await gateway.drain(0);
    throw error;
  });
  return {
    url: `http://127.0.0.1:${wire.port}`,
    port: wire.port,
    streams,
    refusals: () => refusalsIn(metrics),
    close: async () => {
      await gateway.drain(DRAIN_MS);
      link.close();
      await wire.close();
    },
  };
}

async function refusalsIn(metrics: Registry): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const metric = await metrics.getSingleMetric(REFUSALS)?.get();
  for (const { labels, value } of metric?.values ?? []) {
    const code = String(labels.code);
    if (value > 0) counts.set(code, (counts.get(code) ?? 0) + value);
  }
  return counts;
}
