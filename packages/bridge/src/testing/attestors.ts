/** A venue with its attestors on given chains. */

import type { Chain } from "@perpgate/protocol";
import { ChainAttestor } from "../attest/chain-attestor.js";
import type { ChainSettings } from "../config/bridge-settings.js";
import {
  type BridgeEvent,
  type ChainConfig,
  type DepositPort,
  privateKeyFromSeed,
  publicKeyHex,
  resolveBridge,
  termsOf,
} from "../index.js";
import { EngineVenue } from "./engine-venue.js";

export const SEEDS = ["a1", "b2", "c3"].map((byte) => byte.repeat(32));

export class Attestors {
  readonly venue: EngineVenue;
  readonly events: BridgeEvent[] = [];
  /** The attestors' clock. */
  nowMs: number;

  constructor(
    nowMs: number,
    readonly members = 1,
    quorum = 1,
  ) {
    this.nowMs = nowMs;
    const keys = this.bridge({}).members;
    this.venue = new EngineVenue(keys, quorum, nowMs);
  }

  /** A configured chain; the venue gets the same configuration. */
  /** Waits longer for a node than in operation: on a busy machine the test's own node took ten seconds. */
  chain(chain: Chain, settings: ChainSettings): ChainConfig {
    const config = this.bridge({ [chain]: { timeoutMs: 60_000, ...settings } }).chains[0]!;
    this.venue.chains.set(chain, termsOf(config));
    return config;
  }

  attestor(chain: ChainConfig, index = 0, port: DepositPort = this.venue): ChainAttestor {
    return new ChainAttestor({
      attestor: { index, privateKey: privateKeyFromSeed(SEEDS[index]!) },
      chain,
      port,
      clock: () => this.nowMs,
      uniform: () => 0.5,
      observe: (event) => this.events.push(event),
    });
  }

  /** The venue as a port with some methods replaced. */
  portWith(changes: Partial<DepositPort>): DepositPort {
    const { venue } = this;
    return {
      terms: () => venue.terms(),
      pending: venue.pending.bind(venue),
      credited: venue.credited.bind(venue),
      submit: venue.submit.bind(venue),
      ...changes,
    };
  }

  happened<K extends BridgeEvent["kind"]>(kind: K): BridgeEvent[] {
    return this.events.filter((event) => event.kind === kind);
  }

  private bridge(chains: Partial<Record<Chain, ChainSettings>>) {
    const unused = {
      rpc: ["http://127.0.0.1:1"],
      vault: `0x${"11".repeat(20)}`,
      tokens: { USDC: { contract: `0x${"22".repeat(20)}` } },
    };
    const config = resolveBridge({
      members: SEEDS.slice(0, this.members).map((seed) => publicKeyHex(privateKeyFromSeed(seed))),
      chains: Object.keys(chains).length > 0 ? chains : { ethereum: unused },
    });
    if (config.kind !== "chain") throw new Error("no chain");
    return config;
  }
}
