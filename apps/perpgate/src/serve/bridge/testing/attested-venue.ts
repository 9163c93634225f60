/**
 * A real venue behind a real gateway with three attestors and a quorum of two. The test has their keys
 * and submits their votes with the requests of remote attestors.
 */

import {
  type ChainBridgeConfig,
  privateKeyFromSeed,
  publicKeyHex,
  resolveBridge,
  type SignedVote,
  signVote,
  type Vote,
  type VoteCredit,
  voteBytes,
} from "@perpgate/bridge";
import { type Answer, ask, type RunningVenue, runVenue, Trader } from "@perpgate/gateway/testing";
import { type AttestedDeposit, DEFAULT_MARKETS } from "@perpgate/protocol";
import {
  type CheckpointOptions,
  DEFAULT_PARAMETERS,
  type LogKey,
  newLogKey,
  venueConfigOf,
  type WithdrawalParameters,
  type WitnessSetting,
} from "@perpgate/venue";
import { recoverMessageAddress } from "viem";
import { scopeOf } from "../bridge-info.js";
import { attestationParameters, attestorKeysOf } from "../settings-bridge.js";
import { VenueDeposits } from "../venue-deposits.js";
import type { VoteBudget } from "../vote-budget.js";
import { VoteIntake } from "../vote-intake.js";

export const SEEDS = ["a1", "b2", "c3"].map((byte) => byte.repeat(32));
export const MEMBERS = SEEDS.map((seed) => publicKeyHex(privateKeyFromSeed(seed)));
/** Of a venue that takes withdrawals. */
export const { key: LOG_KEY } = newLogKey("venue.example/log");
export const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
export const VAULT = `0x${"11".repeat(20)}`;

export const BRIDGE: ChainBridgeConfig = chainBridge();

function chainBridge(members = MEMBERS, vault = VAULT, quorum = 2): ChainBridgeConfig {
  const bridge = resolveBridge({
    venue: "test-venue",
    members,
    quorum,
    chains: {
      ethereum: {
        rpc: ["http://127.0.0.1:1"],
        vault,
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
  intake!: VoteIntake;
  private signed = 0;

  private constructor(
    readonly at: RunningVenue,
    readonly bridge: ChainBridgeConfig,
  ) {}

  static async run(
    directory?: string,
    startMs?: number,
    budget?: VoteBudget,
    limits: NonNullable<Parameters<typeof runVenue>[0]>["limits"] = {},
    withdrawals?: WithdrawalParameters,
    witnesses: readonly WitnessSetting[] = [],
    bridge = BRIDGE,
    checkpoints?: CheckpointOptions,
    logKey = LOG_KEY,
  ): Promise<AttestedVenue> {
    let deposits: VenueDeposits | undefined;
    let intake: VoteIntake | undefined;
    const keys = attestorKeysOf(bridge);
    const at = await runVenue({
      ...(directory === undefined ? {} : { directory }),
      ...(startMs === undefined ? {} : { startMs }),
      parameters: { ...attestationParameters(bridge), withdrawals },
      ...(keys === null ? {} : { attestors: keys }),
      limits,
      ...(withdrawals === undefined
        ? {}
        : { promises: { logKey, witnesses, checkpointMs: 60_000 } }),
      ...(checkpoints === undefined ? {} : { checkpoints }),
      attestation: (venue) => {
        deposits = new VenueDeposits(venue, bridge);
        intake = new VoteIntake(venue, deposits, budget);
        return intake;
      },
    });
    const attested = new AttestedVenue(at, bridge);
    if (deposits !== undefined) attested.deposits = deposits;
    if (intake !== undefined) attested.intake = intake;
    return attested;
  }

  /** Stops this one and opens its folder again, at the same time or later. */
  async restart({
    afterMs = 1,
    checkpoints,
    logKey,
  }: {
    readonly afterMs?: number;
    readonly checkpoints?: CheckpointOptions;
    readonly logKey?: LogKey;
  } = {}): Promise<AttestedVenue> {
    await this.at.stop();
    const { directory } = this.at;
    return AttestedVenue.run(
      directory,
      this.at.nowMs() + afterMs,
      undefined,
      {},
      WITHDRAWALS,
      [],
      BRIDGE,
      checkpoints,
      logKey,
    );
  }

  /** Appends a configuration with other attestors, another vault or another quorum to the log. */
  configure(members: string[], vault?: string, quorum?: number): Promise<void> {
    const bridge = chainBridge(members, vault, quorum);
    const parameters = { ...DEFAULT_PARAMETERS, ...attestationParameters(bridge) };
    return this.at.venue.configure({
      config: venueConfigOf(DEFAULT_MARKETS, parameters),
      listing: DEFAULT_MARKETS,
      attestors: attestorKeysOf(bridge),
    });
  }

  get venueId(): string {
    return this.deposits.history.venueId;
  }

  register(trader: Trader, txHash = "ab".repeat(32), token = "USDC"): Promise<Answer> {
    return trader.send("/v1/bridge/deposit", { chain: "ethereum", txHash, token });
  }

  /** By default a vote of attestor 0 to credit 25 dollars to a fixed address. */
  async vote(changes: Partial<Vote>, seed = SEEDS[changes.attestor ?? 0]!): Promise<SignedVote> {
    this.signed++;
    const verdict = changes.verdict ?? "credit";
    const credit = {
      logIndex: 0,
      token: "USDC",
      address: "77".repeat(20),
      amountMicros: 25_000_000,
    } as const;
    return signVote(
      {
        venue: this.venueId,
        attestor: 0,
        depositId: 0,
        ...scopeOf(this.bridge.chains[0]!),
        txHash: "ab".repeat(32),
        verdict,
        confirmations: 64,
        required: 64,
        block: { number: 7, hash: "cd".repeat(32) },
        credits: verdict === "credit" ? [credit] : [],
        reason: verdict === "reject" || verdict === "reorged" ? "transaction_gone" : "",
        part: 1,
        parts: 1,
        votedAtMs: this.at.nowMs() + this.signed,
        ...changes,
      },
      privateKeyFromSeed(seed),
    );
  }

  /** Submits votes over HTTP. */
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

/** A venue with a trader who registered a deposit. */
export async function registered(
  budget?: VoteBudget,
  limits?: Parameters<typeof AttestedVenue.run>[3],
) {
  const venue = await AttestedVenue.run(undefined, undefined, budget, limits);
  const trader = await Trader.enter(venue.at);
  const answer = await venue.register(trader);
  if (answer.status !== 202) throw new Error(`not registered: ${answer.text}`);
  const depositId = Number(answer.body.depositId);
  const address = trader.wallet.address.slice(2).toLowerCase();
  const credits: VoteCredit[] = [{ logIndex: 3, token: "USDC", address, amountMicros: 40_000_000 }];
  const read = async (): Promise<AttestedDeposit> =>
    JSON.parse((await trader.get(`/v1/bridge/deposits/${depositId}`)).text);
  const balance = async () => (await trader.get("/v1/account")).body.balance;
  return { venue, trader, depositId, credits, read, balance };
}

export const WITHDRAWALS: WithdrawalParameters = {
  minWithdrawal: 10,
  fee: 0.5,
  accountPerDay: 1_000,
  venuePerHour: 1_000,
  venuePerDay: 1_000,
  lifeSeconds: 3_600,
  chains: [{ chain: "ethereum", chainId: 1, tokens: ["USDC"], maxUnpaid: 1_000 }],
};

/** A venue that pays out, with a trader who has deposited 40 dollars; `ask` requests a withdrawal. */
export async function withdrawing(
  terms: Partial<WithdrawalParameters> = {},
  budget?: VoteBudget,
  deposited = 40,
  witnesses: readonly WitnessSetting[] = [],
  {
    bridge,
    startMs,
    checkpoints,
  }: {
    readonly bridge?: ChainBridgeConfig;
    readonly startMs?: number;
    readonly checkpoints?: CheckpointOptions;
  } = {},
) {
  const withdrawals = { ...WITHDRAWALS, ...terms };
  const venue = await AttestedVenue.run(
    undefined,
    startMs,
    budget,
    {},
    withdrawals,
    witnesses,
    bridge,
    checkpoints,
  );
  const trader = await Trader.enter(venue.at);
  const depositId = Number((await venue.register(trader)).body.depositId);
  const address = trader.wallet.address.slice(2).toLowerCase();
  const amountMicros = deposited * 1e6;
  const credits = [{ logIndex: 3, token: "USDC", address, amountMicros } as const];
  for (const attestor of [0, 1]) {
    await venue.submit(await venue.vote({ depositId, attestor, credits }));
  }
  const ask = (body: object) =>
    trader.signed("/v1/bridge/withdrawals", { chain: "ethereum", token: "USDC", ...body });
  return { venue, trader, depositId, address, ask };
}

export type WithdrawingVenue = Awaited<ReturnType<typeof withdrawing>>;

/** What a client that checks votes knows about the venue. */
export const trustedBy = ({ venueId }: AttestedVenue) => ({ venueId, members: MEMBERS, quorum: 2 });
/** The wallet that signed a message. */
export const recoverWallet = async (message: Uint8Array, signature: Uint8Array) => {
  const address = await recoverMessageAddress({ message: { raw: message }, signature });
  return address.slice(2).toLowerCase();
};
