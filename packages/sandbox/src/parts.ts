/** The parts of a running sandbox: the same venue, core, link and gateway as those of `perpgate serve`. */

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
import { CHAIN, TOKEN } from "./accounts.js";
import {
  limitsOf,
  openGateway,
  type SandboxGateway,
  type SandboxGatewayOptions,
} from "./gateway.js";
import { seedOf } from "./seed.js";

interface PartsOptions
  extends Pick<
    SandboxGatewayOptions,
    | "seed"
    | "nowMs"
    | "hasLimits"
    | "faults"
    | "recorder"
    | "granted"
    | "page"
    | "control"
    | "onFault"
  > {
  readonly directory: string;
  readonly markets: readonly MarketDefinition[];
  readonly parameters: Partial<VenueParameters>;
}

export interface Parts {
  readonly venue: Venue;
  readonly gateway: SandboxGateway;
  /** Gives the recorder the errors that the gateway has sent to clients. */
  countRefusals(): Promise<void>;
  /** 0: any free port. */
  openGateway(port: number): Promise<void>;
  /** As one that stops: answers what it has begun and closes its sockets. The venue goes on. */
  closeGateway(): Promise<void>;
  close(): Promise<void>;
}

/** Checkpoints are signed by the machine's clock, which a sandbox does not use. */
const NEVER_MS = 2 ** 31 - 1;
const NAME = "sandbox";
const ATTESTED: Partial<VenueParameters> = {
  attestorKind: "chain",
  attestors: 1,
  attestorQuorum: 1,
  devCredit: 0,
};
const VAULT = `0x${"5a".repeat(20)}`;
const SEGMENT_BYTES = 2 ** 20;

export async function openParts(options: PartsOptions): Promise<Parts> {
  const { directory, seed, markets, nowMs, onFault } = options;
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
  const attestation = attestationOf(member);
  const core = new Core({ venue, limits: limitsOf(options), attestation, onFault });
  let gateway: SandboxGateway | undefined;
  const parts: Parts = {
    venue,
    get gateway() {
      if (gateway === undefined) throw new RangeError("the gateway is down");
      return gateway;
    },
    countRefusals: async () => {
      if (gateway !== undefined) options.recorder.noteRefusals(gateway, await gateway.refusals());
    },
    openGateway: async (port) => {
      gateway = await openGateway({ ...options, port, core, seq: () => venue.seq });
    },
    closeGateway: async () => {
      await parts.countRefusals();
      await gateway?.close();
      gateway = undefined;
    },
    close: async () => {
      await parts.closeGateway();
      core.stop();
      await venue.close();
    },
  };
  return parts;
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
    holdings: () => [],
    accept: async (votes) => votes.map(() => "sandbox"),
    queue: async () => ({ deposits: [], next: null }),
  };
}
