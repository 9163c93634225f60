/**
 * A venue that pays out through a vault on a real local chain: three attestors, each with two endpoints of its
 * own, and a witness. Time is in the test's hands, on both sides.
 */

import { join } from "node:path";
import {
  type BridgeEvent,
  type ChainBridgeConfig,
  privateKeyFromSeed,
  RemoteVenue,
  RequestWatch,
  resolveBridge,
  SigningRecord,
  WithdrawalAttestor,
  type WithdrawalPort,
} from "@perpgate/bridge";
import { ATTESTORS, type EvmNode, RpcProxy, VaultChain } from "@perpgate/bridge/testing";
import { ask } from "@perpgate/gateway/testing";
import {
  type AttestedWithdrawal,
  DEFAULT_MARKETS,
  type OpenWithdrawal,
  type OpenWithdrawals,
  type Reserves,
} from "@perpgate/protocol";
import { noteKeyText, type ProofKeys } from "@perpgate/protocol/receipts";
import { DEFAULT_PARAMETERS, venueConfigOf } from "@perpgate/venue";
import { StubWitness } from "@perpgate/venue/testing";
import { type Address, getContractAddress } from "viem";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../../testing/perpgate-process.js";
import { attestationParameters, attestorKeysOf } from "../settings-bridge.js";
import {
  AttestedVenue,
  LOG_KEY,
  MEMBERS,
  SEEDS,
  WITHDRAWALS,
  type WithdrawingVenue,
  withdrawing,
} from "./attested-venue.js";

/** Sends the transactions of a VaultChain. */
const DEPLOYER = 2;
const FINAL_BLOCKS = 3;

export interface PayingAttestor {
  readonly attestor: WithdrawalAttestor;
  readonly watch: RequestWatch;
  readonly proxies: readonly [RpcProxy, RpcProxy];
  readonly record: SigningRecord;
  readonly recordPath: string;
}

export class PayingVenue {
  readonly events: BridgeEvent[] = [];

  private constructor(
    readonly node: EvmNode,
    readonly chain: VaultChain,
    readonly at: WithdrawingVenue,
    readonly witness: StubWitness,
    readonly bridge: ChainBridgeConfig,
  ) {}

  /** The trader has 400 dollars in the venue, and the vault has them. */
  static async start(node: EvmNode): Promise<PayingVenue> {
    const token = await node.token("USDC", 6);
    const from = node.account(DEPLOYER);
    const nonce = BigInt(String(await node.rpc("eth_getTransactionCount", [from, "latest"])));
    const vault = getContractAddress({ from, nonce });
    const witness = await StubWitness.start("witness.example/w1");
    onTestFinished(() => witness.close());
    const bridge = bridgeAt([node.url], vault, token);
    const setting = { url: witness.url, key: witness.key };
    const startMs = await node.timeMs();
    const at = await withdrawing({}, undefined, 400, [setting], { bridge, startMs });
    const chain = new VaultChain(node, token, `0x${at.venue.venueId}`);
    const deployed = await chain.deploy();
    if (deployed.result !== "ok" || chain.vault !== vault) throw new Error(deployed.result);
    await node.mint(token, vault, 400_000_000n);
    return new PayingVenue(node, chain, at, witness, bridge);
  }

  get proofKeys(): ProofKeys {
    return { logKey: LOG_KEY.text, witnessKeys: [noteKeyText(this.witness.key)] };
  }

  /**
   * An attestor with endpoints and a record of its own; with another's record it is that one, started again.
   * `between` stands between it and the venue.
   */
  async attestor(
    index: number,
    {
      proofKeys = this.proofKeys,
      recordPath = join(temporaryFolder(), "signed.jsonl"),
      seed = SEEDS[index]!,
      account = ATTESTORS[index]!,
      url = this.at.venue.at.url,
      between = (venue: WithdrawalPort): WithdrawalPort => venue,
    } = {},
  ): Promise<PayingAttestor> {
    const proxies = [
      await RpcProxy.start(this.node.url),
      await RpcProxy.start(this.node.url),
    ] as const;
    for (const proxy of proxies) onTestFinished(() => proxy.stop());
    const urls = proxies.map(({ url }) => url);
    const chain = bridgeAt(urls, this.chain.vault, this.chain.token).chains[0]!;
    const record = new SigningRecord(recordPath);
    onTestFinished(() => record.close());
    const privateKey = privateKeyFromSeed(seed);
    const clock = () => this.at.venue.at.nowMs();
    const venue = new RemoteVenue({
      urls: [url],
      keys: new Map([[index, privateKey]]),
      clock,
      timeoutMs: 60_000,
    });
    const parts: ConstructorParameters<typeof WithdrawalAttestor>[0] = {
      attestor: { index, privateKey },
      chain,
      port: between(venue),
      signing: { account, record, proofKeys },
      clock,
      uniform: () => 0.5,
      observe: (event) => this.events.push(event),
    };
    const [attestor, watch] = [new WithdrawalAttestor(parts), new RequestWatch(parts)];
    return { attestor, watch, proxies, record, recordPath };
  }

  async ask(amount: number, nonce = 1): Promise<number> {
    const { status, body, text } = await this.at.ask({ amount, nonce });
    if (status !== 202) throw new Error(text);
    return Number(body.withdrawalId);
  }

  /** Seals the block and publishes a checkpoint. */
  async seal(): Promise<void> {
    await this.at.venue.at.advance(200);
    await this.at.venue.at.venue.promises?.log.advance();
  }

  async read(id: number): Promise<AttestedWithdrawal> {
    return JSON.parse((await this.at.trader.get(`/v1/bridge/withdrawals/${id}`)).text);
  }

  open(): Promise<readonly OpenWithdrawal[]> {
    return openAt(this.at.venue.at.url);
  }

  /** Another history, on a copy of this one's folder and with its log key, which asks no witness. */
  async fork(directory: string) {
    const venue = await AttestedVenue.run(
      directory,
      this.at.venue.at.nowMs(),
      undefined,
      {},
      WITHDRAWALS,
      [],
      this.bridge,
    );
    const trader = this.at.trader.movedTo(venue.at);
    return {
      url: venue.at.url,
      open: () => openAt(venue.at.url),
      /** It is sealed, too, and under a checkpoint. */
      ask: async (amount: number) => {
        const body = { chain: "ethereum", token: "USDC", amount, nonce: 1 };
        await trader.signed("/v1/bridge/withdrawals", body);
        await venue.at.advance(200);
        await venue.at.venue.promises?.log.advance();
      },
    };
  }

  /** Other keys for the votes; the chains stay. */
  replaceMembers(members: readonly string[]): Promise<void> {
    const { venue } = this.at;
    const bridge = bridgeAt([this.node.url], this.chain.vault, this.chain.token, members);
    const parameters = {
      ...DEFAULT_PARAMETERS,
      ...attestationParameters(bridge),
      withdrawals: WITHDRAWALS,
    };
    return venue.at.venue.configure({
      config: venueConfigOf(DEFAULT_MARKETS, parameters),
      listing: DEFAULT_MARKETS,
      attestors: attestorKeysOf(bridge),
    });
  }

  /** What attestors have stated about the vault. */
  async holdings(): Promise<Reserves["vaults"][number] | undefined> {
    const reserves: Reserves = JSON.parse((await this.at.trader.get("/v1/bridge/reserves")).text);
    return reserves.vaults.find(({ token }) => token === "USDC");
  }

  async balance(): Promise<unknown> {
    return (await this.at.trader.get("/v1/account")).body.balance;
  }

  /** Lets venue and chain pass the dispute period together. */
  async passDispute(): Promise<void> {
    await this.chain.passDispute();
    await this.follow();
  }

  /** Moves the venue's time to the chain's. */
  async follow(): Promise<void> {
    const { at } = this.at.venue;
    const aheadMs = (await this.node.timeMs()) - at.nowMs();
    if (aheadMs > 0) await at.advance(aheadMs);
    await this.node.mine(FINAL_BLOCKS);
  }

  failures(): string[] {
    return this.events.flatMap((event) =>
      event.kind === "WithdrawalFailed" ? [event.reason] : [],
    );
  }
}

async function openAt(url: string): Promise<readonly OpenWithdrawal[]> {
  const answer = await ask(`${url}/v1/bridge/withdrawals/open?chain=ethereum`);
  const { withdrawals }: OpenWithdrawals = JSON.parse(answer.text);
  return withdrawals;
}

function bridgeAt(
  rpc: string[],
  vault: Address,
  token: Address,
  members: readonly string[] = MEMBERS,
): ChainBridgeConfig {
  const bridge = resolveBridge({
    venue: "test-venue",
    members,
    quorum: 2,
    chains: {
      ethereum: {
        rpc,
        vault,
        tokens: { USDC: { contract: token } },
        timeoutMs: 60_000,
        minAgreeing: rpc.length,
      },
    },
  });
  if (bridge.kind !== "chain") throw new Error("no chain");
  return bridge;
}
