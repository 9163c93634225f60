/**
 * A real venue behind a real gateway whose deposits three attestors vote on, two of whom must agree.
 * The test holds their keys and says what each says, through the same door as attestors elsewhere.
 */

import {
  type ChainBridgeConfig,
  privateKeyFromSeed,
  publicKeyHex,
  resolveBridge,
  type SignedVote,
  signVote,
  type Vote,
  voteBytes,
} from "@perpgate/bridge";
import {
  type Answer,
  ask,
  type RunningVenue,
  runVenue,
  type Trader,
} from "@perpgate/gateway/testing";
import { attestationParameters, attestorKeysOf } from "../settings-bridge.js";
import { VenueDeposits } from "../venue-deposits.js";
import type { VoteBudget } from "../vote-budget.js";
import { VotesDesk } from "../votes-desk.js";

export const SEEDS = ["a1", "b2", "c3"].map((byte) => byte.repeat(32));
export const MEMBERS = SEEDS.map((seed) => publicKeyHex(privateKeyFromSeed(seed)));
export const VENUE = "test-venue";
export const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
export const VAULT = `0x${"11".repeat(20)}`;

export const BRIDGE: ChainBridgeConfig = chainBridge();

function chainBridge(): ChainBridgeConfig {
  const bridge = resolveBridge({
    venue: VENUE,
    members: MEMBERS,
    quorum: 2,
    chains: {
      ethereum: {
        rpc: ["http://127.0.0.1:1"],
        vault: VAULT,
        tokens: {
          USDC: { contract: USDC },
          USDT: { contract: "0xdAC17F958D2ee523a2206206994597C13D831ec7" },
        },
      },
    },
  });
  if (bridge.kind !== "chain") throw new Error("no chain");
  return bridge;
}

export class AttestedVenue {
  deposits!: VenueDeposits;
  private signed = 0;

  private constructor(readonly at: RunningVenue) {}

  static async run(
    directory?: string,
    startMs?: number,
    budget?: VoteBudget,
  ): Promise<AttestedVenue> {
    let deposits: VenueDeposits | undefined;
    const keys = attestorKeysOf(BRIDGE);
    const at = await runVenue({
      ...(directory === undefined ? {} : { directory }),
      ...(startMs === undefined ? {} : { startMs }),
      parameters: attestationParameters(BRIDGE),
      ...(keys === null ? {} : { attestors: keys }),
      attestation: (venue) => {
        deposits = new VenueDeposits(venue, BRIDGE);
        return new VotesDesk(venue, deposits, BRIDGE, budget);
      },
    });
    const attested = new AttestedVenue(at);
    if (deposits !== undefined) attested.deposits = deposits;
    return attested;
  }

  /** Stops this one and opens its folder again, as much later as time has passed. */
  async restart(): Promise<AttestedVenue> {
    await this.at.stop();
    return AttestedVenue.run(this.at.directory, this.at.nowMs() + 1);
  }

  register(trader: Trader, txHash = "ab".repeat(32), token = "USDC"): Promise<Answer> {
    return trader.send("/v1/bridge/deposit", { chain: "ethereum", txHash, token });
  }

  /** A vote of attestor 0 to credit 25 dollars to nobody in particular, with these changes. */
  async vote(changes: Partial<Vote>, seed = SEEDS[changes.attestor ?? 0]!): Promise<SignedVote> {
    this.signed++;
    const verdict = changes.verdict ?? "credit";
    const credit = { logIndex: 0, address: "77".repeat(20), amountMicros: 25_000_000 };
    return signVote(
      {
        venue: VENUE,
        attestor: 0,
        depositId: 0,
        chain: "ethereum",
        txHash: "ab".repeat(32),
        token: "USDC",
        verdict,
        confirmations: 64,
        required: 64,
        block: { number: 7, hash: "cd".repeat(32) },
        credits: verdict === "credit" ? [credit] : [],
        reason: verdict === "reject" || verdict === "reorged" ? "transaction_gone" : "",
        votedAtMs: this.at.nowMs() + this.signed,
        ...changes,
      },
      privateKeyFromSeed(seed),
    );
  }

  /** Hands votes in over HTTP, as anyone may. */
  submit(...votes: readonly SignedVote[]): Promise<Answer> {
    const body = votes.map(({ vote, signature }) => ({
      text: Buffer.from(voteBytes(vote)).toString("latin1"),
      signature,
    }));
    return this.post("/v1/bridge/votes", JSON.stringify({ votes: body }));
  }

  post(path: string, body: string, headers: Readonly<Record<string, string>> = {}) {
    return ask(this.at.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
  }
}
