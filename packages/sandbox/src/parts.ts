/** The parts of a running sandbox: the same venue, core, link and gateway as those of `perpgate serve`. */

import {
  AddressLimits,
  buildGateway,
  Edge,
  NonceIssuer,
  proofsInThisThread,
  StreamServer,
  UNLIMITED,
} from "@perpgate/gateway";
import { DEFAULT_BOUND_SESSION_MS, DEFAULT_HTTP_LIMITS } from "@perpgate/gateway/limits";
import { EdgeLink, memoryTransport } from "@perpgate/link";
import type { MarketDefinition } from "@perpgate/protocol";
import {
  type Attestation,
  Core,
  DEFAULT_PARAMETERS,
  ed25519Key,
  newLogKey,
  Venue,
  type VenueParameters,
  venueConfigOf,
} from "@perpgate/venue";
import { pino } from "pino";
import { Registry } from "prom-client";
import { CHAIN, TOKEN } from "./accounts.js";
import { Seed } from "./seed.js";

export interface PartsOptions {
  readonly directory: string;
  readonly seed: Seed;
  readonly markets: readonly MarketDefinition[];
  readonly parameters: Partial<VenueParameters>;
  readonly nowMs: () => number;
  /** 0: any free one. */
  readonly port: number;
  /** What failed inside; a fault of the sandbox, since refusals are no failures. */
  readonly onFault: (error: unknown) => void;
}

export interface Parts {
  readonly venue: Venue;
  readonly streams: StreamServer;
  readonly url: string;
  close(): Promise<void>;
}

/** Checkpoints are signed by the machine's clock, which a sandbox does not use. */
const NEVER_MS = 2 ** 31 - 1;
const VERSION = "0.3.0-sandbox";
const NAME = "sandbox";
const ATTESTED: Partial<VenueParameters> = {
  attestorKind: "chain",
  attestors: 1,
  attestorQuorum: 1,
  devCredit: 0,
};
const VAULT = `0x${"5a".repeat(20)}`;
const DRAIN_MS = 50;
const SEGMENT_BYTES = 2 ** 20;

export async function openParts(options: PartsOptions): Promise<Parts> {
  const { directory, seed, markets, nowMs, port, onFault } = options;
  const attestorKey = ed25519Key(seedOf(seed, "attestor"));
  const member = attestorKey.publicKey.toString("hex");
  const parameters = { ...DEFAULT_PARAMETERS, ...ATTESTED, ...options.parameters };
  const { key: logKey } = newLogKey(NAME, () => seedOf(seed, "log-key"));
  const venue = await Venue.open({
    directory,
    config: venueConfigOf(markets, parameters),
    listing: markets,
    cohort: "open",
    attestors: { venue: NAME, members: [member] },
    clock: nowMs,
    monotonic: nowMs,
    random: (bytes) => seed.bytes("venue", bytes),
    checkpoints: null,
    ticks: false,
    promises: { logKey, checkpointMs: NEVER_MS },
    commit: "inline",
    segmentBytes: SEGMENT_BYTES,
  });
  const nonces = new NonceIssuer(seedOf(seed, "nonce-key"), (bytes) => seed.bytes("nonce", bytes));
  const transport = memoryTransport();
  const attestation = attestationOf(member);
  const core = new Core({ venue, limits: UNLIMITED, attestation, onFault });
  core.connect(transport.connectCore);
  const link = new EdgeLink(transport.connectEdge);
  const edge = new Edge({
    link,
    limits: UNLIMITED,
    signIn: {
      domains: "any",
      chainIds: undefined,
      nonce: "any",
      requireKeyBinding: false,
      maxBoundSessionMs: DEFAULT_BOUND_SESSION_MS,
    },
    services: {
      nonces,
      proofs: proofsInThisThread(),
      random: (bytes) => seed.bytes("token", bytes),
    },
  });
  await link.ready;
  const log = pino({ level: "silent" });
  const streams = await StreamServer.open({
    edge,
    seq: () => venue.seq,
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
    addressLimits: new AddressLimits(UNLIMITED),
    clientLimits: UNLIMITED,
    readiness: [],
    metrics: new Registry(),
    trustProxy: false,
    origins: "*",
    log,
    limits: DEFAULT_HTTP_LIMITS,
  });
  const url = await gateway.listen({ host: "127.0.0.1", port });
  return {
    venue,
    streams,
    url,
    close: async () => {
      await gateway.drain(DRAIN_MS);
      core.stop();
      await venue.close();
    },
  };
}

/** A key that every start of a sandbox has. */
function seedOf(seed: Seed, name: string): Buffer {
  return new Seed(seed.number).bytes(name, 32);
}

/** The sandbox attests what clients register itself; nobody else votes. */
function attestationOf(member: string): Attestation {
  return {
    info: () => ({
      attestor: "chain",
      venue: NAME,
      venueId: null,
      members: [member],
      quorum: 1,
      keys: [],
      paused: [],
      chains: [
        {
          chain: CHAIN,
          chainId: 1,
          vault: VAULT,
          confirmations: 1,
          finality: "confirmations",
          minDeposit: 1,
          tokens: [{ token: TOKEN, contract: VAULT, decimals: 6 }],
        },
      ],
    }),
    accept: async (votes) => votes.map(() => "sandbox"),
    queue: async () => ({ deposits: [], next: null }),
  };
}
