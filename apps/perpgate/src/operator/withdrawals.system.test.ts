/**
 * Deposits, trades and withdrawals through processes alone: a venue, three attestors with a quorum of two and
 * endpoints of their own, a relayer for each of two local chains, and a witness. In each round traders deposit, open,
 * close and withdraw, and one of the processes is killed with SIGKILL at one of the steps and started again: each
 * process at each step in 48 rounds. After a round every account holds what follows from its transfers, requests and
 * fills, and the vaults what the venue owes. PERPGATE_PAYOUT_ROUNDS=n and PERPGATE_PAYOUT_SEED=n choose how many
 * rounds, and the order of the kills.
 */

import { join } from "node:path";
import { VAULT_ABI } from "@perpgate/bridge";
import { EvmNode, RpcProxy, VaultChain } from "@perpgate/bridge/testing";
import { freePort } from "@perpgate/journal/testing";
import type { AttestedWithdrawal } from "@perpgate/protocol";
import { Random } from "@perpgate/protocol/random";
import { StubWitness } from "@perpgate/venue/testing";
import { type Address, encodeEventTopics, getContractAddress, keccak256, toHex } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { chainWallet, newKeyFile, until } from "../serve/bridge/testing/chain-process.js";
import { ProcessClient } from "../testing/client.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
  UNLIMITED,
} from "../testing/perpgate-process.js";
import { createPrivateFile } from "../trader/private-file.js";

const ROUNDS = Number(process.env.PERPGATE_PAYOUT_ROUNDS ?? 4);
const SEED = Number(process.env.PERPGATE_PAYOUT_SEED ?? Date.now() % 1e6);
const CHAINS = [
  { chain: "ethereum", chainId: 1 },
  { chain: "arbitrum", chainId: 42_161 },
] as const;
const DEPLOYER = 2;
const STATUSES: readonly string[] = ["queued", "attested", "pending", "paid"];
/** Where a process is killed: while these requests are sent, or once a withdrawal is so far. */
const STEPS: readonly string[] = ["deposit", "open", "close", "request", ...STATUSES];
const FEE = 0.5;
const DEPOSIT = 500;

interface PayingChain {
  readonly chain: (typeof CHAINS)[number]["chain"];
  readonly node: EvmNode;
  readonly usdc: Address;
  readonly vault: Address;
}

async function startChain({ chain, chainId }: (typeof CHAINS)[number]): Promise<PayingChain> {
  const node = await EvmNode.start(chainId, onTestFinished);
  const usdc = await node.token("USDC", 6);
  const from = node.account(DEPLOYER);
  const nonce = BigInt(String(await node.rpc("eth_getTransactionCount", [from, "latest"])));
  return { chain, node, usdc, vault: getContractAddress({ from, nonce }) };
}

/** A command that can be killed and started again. */
class Service {
  private process: PerpgateProcess;

  constructor(
    readonly name: string,
    private readonly args: readonly string[],
    private readonly environment: NodeJS.ProcessEnv,
    private readonly line: RegExp,
  ) {
    this.process = new PerpgateProcess(args, environment);
  }

  async ready(): Promise<string> {
    const [, found = ""] = await this.process.line(this.line);
    return found;
  }

  /** SIGKILL, and another start. */
  async strike(): Promise<void> {
    this.process.signal("SIGKILL");
    await this.process.ended;
    this.process = new PerpgateProcess(this.args, this.environment);
    await this.ready();
  }

  async stop(): Promise<void> {
    this.process.signal("SIGTERM");
    await this.process.ended;
  }
}

const microsOf = (dollars: unknown): number => Math.round(Number(dollars) * 1e6);

/** The first answer: a process that was killed answers once it runs again. */
async function sure<T>(send: () => Promise<T>): Promise<T> {
  const sent = () => send().catch(() => undefined);
  const answer = await until(sent, (each) => each !== undefined);
  if (answer === undefined) throw new Error("no answer");
  return answer;
}

async function jsonOf<T>(url: string): Promise<T> {
  return JSON.parse(await (await fetch(url)).text());
}

test(
  `kills at any step, seed ${SEED}: everything asked for is paid once, and all sums agree`,
  async () => {
    const random = new Random(SEED);
    const chains = await Promise.all(CHAINS.map(startChain));
    const witness = await StubWitness.start("witness.example/w1");
    onTestFinished(() => witness.close());
    const keys = [0, 1, 2].map(newKeyFile);
    const members = keys.map(({ publicKey }) => publicKey);
    const settingsOf = (rpcOf: (chain: PayingChain) => readonly string[], bridge: object) => ({
      logLevel: "warn",
      auth: { domains: ["localhost"] },
      limits: UNLIMITED,
      receipts: { witnesses: [witness.setting], checkpointMs: 200 },
      bridge: {
        members,
        quorum: 2,
        chains: Object.fromEntries(
          chains.map((each) => [
            each.chain,
            {
              rpc: rpcOf(each),
              vault: each.vault,
              tokens: { USDC: { contract: each.usdc } },
              pollIntervalMs: 200,
              timeoutMs: 20_000,
              // The local chain's time does not stand still, but its blocks do.
              maxHeadAgeMs: 86_400_000,
            },
          ]),
        ),
        ...bridge,
      },
    });
    const withdrawals = {
      minWithdrawal: 1,
      fee: FEE,
      accountPerDay: 10_000,
      venuePerHour: 10_000,
      venuePerDay: 10_000,
      lifeSeconds: 3_600,
      maxUnpaid: { ethereum: 1_000, arbitrum: 1_000 },
    };
    const data = join(temporaryFolder(), "data");
    const port = await freePort();
    const venueFile = configurationFile(settingsOf(({ node }) => [node.url], { withdrawals }));
    const venueArgs = ["--port", String(port), "--data", data, "--config", venueFile];
    const venue = new Service("venue", venueArgs, {}, /interface {2}(http:\S+)\/v1\/markets/);
    const url = await venue.ready();

    const { venueId } = await jsonOf<{ venueId: string }>(`${url}/v1/bridge`);
    const { logKey } = await jsonOf<{ logKey: string }>(`${url}/v1/honesty`);
    for (const { node, usdc, vault } of chains) {
      const contract = new VaultChain(node, usdc, `0x${venueId}`);
      const deployed = await contract.deploy({ disputeSeconds: 1, disputeBlocks: 1 });
      expect(deployed.result).toBe("ok");
      expect(contract.vault).toBe(vault);
      for (const owner of [1, 3]) await node.mint(usdc, node.account(owner), 10_000_000_000n);
    }

    const folder = temporaryFolder();
    const attestors: Service[] = [];
    for (const [index, { path }] of keys.entries()) {
      const keyFile = join(folder, `vault-${index}.key`);
      createPrivateFile(keyFile, `${keccak256(toHex(`attestor ${index}`))}\n`);
      const proxies = new Map<string, readonly string[]>();
      for (const { chain, node } of chains) {
        const both = [await RpcProxy.start(node.url), await RpcProxy.start(node.url)];
        for (const proxy of both) onTestFinished(() => proxy.stop());
        proxies.set(
          chain,
          both.map((proxy) => proxy.url),
        );
      }
      const signing = {
        keyFile,
        record: join(folder, `signed-${index}.jsonl`),
        logKey,
        witnessKeys: [witness.setting.key],
      };
      const file = configurationFile(
        settingsOf(({ chain }) => proxies.get(chain) ?? [], { keyFiles: [path], signing }),
      );
      const args = ["attest", "--venue", url, "--config", file, "--metrics-port", "0"];
      attestors.push(new Service(`attestor ${index}`, args, {}, /^(metrics) http/m));
    }
    const relayers = chains.map(({ chain, node }, i) => {
      const keyFile = join(folder, `gas-${i}.key`);
      // A funded account of the local chain.
      const { privateKey } = chainWallet(5 + i).getHdKey();
      createPrivateFile(keyFile, `0x${Buffer.from(privateKey ?? []).toString("hex")}\n`);
      const from = ["relay", "--venue", url, "--chain", chain, "--rpc", node.url];
      const args = [...from, "--key-file", keyFile, "--every", "1s", "--metrics-port", "0"];
      return new Service(`relayer of ${chain}`, args, {}, /^(metrics) http/m);
    });
    for (const service of [...attestors, ...relayers]) await service.ready();

    // Blocks come also while nobody sends anything.
    const miner = setInterval(() => {
      for (const { node } of chains) void node.mine(1).catch(() => undefined);
    }, 300);
    onTestFinished(() => clearInterval(miner));

    const traders = [1, 3].map((number) => ({
      number,
      client: new ProcessClient(url, chainWallet(number)),
      nonce: 0,
      /** What this test has sent to the vaults and asked for, in micro-dollars. */
      deposited: 0,
      withdrawn: 0,
    }));
    type TestTrader = (typeof traders)[number];
    const balanceOf = async ({ client }: TestTrader): Promise<number> =>
      microsOf((await sure(() => client.request("GET", "/v1/account"))).body.balance);

    const deposit = async (
      trader: TestTrader,
      { chain, node, usdc, vault }: PayingChain,
      dollars: number,
    ) => {
      const units = BigInt(dollars) * 1_000_000n;
      const txHash = await node.transfer(usdc, node.account(trader.number), vault, units);
      trader.deposited += dollars * 1e6;
      const body = { chain, txHash, token: "USDC" };
      const { client } = trader;
      const answer = await sure(() => client.request("POST", "/v1/bridge/deposit", body));
      expect(answer.status).toBe(202);
      const path = `/v1/bridge/deposits/${answer.body.depositId}`;
      await until(
        () => sure(() => client.request("GET", path)),
        ({ body: { status } }) => status === "credited",
      );
    };

    /** The traders trade with each other: a new order while there is no index, the same bytes until they are answered. */
    const trade = async (isOpening: boolean, price: number) => {
      for (const [i, trader] of traders.entries()) {
        const side = (i === 0) === isOpening ? "long" : "short";
        const terms = { symbol: "BTCUSD", side, type: "limit", price, size: 0.001, leverage: 5 };
        const place = () => {
          const order = { ...terms, nonce: ++trader.nonce, reduceOnly: !isOpening };
          return sure(() => trader.client.place(order));
        };
        const answer = await until(
          place,
          ({ body }) => !/^(stale_index|index_held)$/.test(String(body.code)),
        );
        expect(answer).toMatchObject({ status: 200 });
      }
    };

    for (const trader of traders) {
      expect((await trader.client.signIn()).status).toBe(200);
      for (const chain of chains) await deposit(trader, chain, DEPOSIT);
    }

    const services = [venue, ...attestors, ...relayers];
    interface Asked {
      readonly trader: TestTrader;
      readonly chain: PayingChain;
      readonly micros: number;
    }
    const ids = new Map<number, Asked>();
    const read = async (id: number): Promise<AttestedWithdrawal> => {
      const { client } = ids.get(id)!.trader;
      const headers = { authorization: `Bearer ${client.token}` };
      const answer = await sure(() => fetch(`${url}/v1/bridge/withdrawals/${id}`, { headers }));
      return JSON.parse(await answer.text());
    };
    const request = async (trader: TestTrader, chain: PayingChain, amount: number) => {
      const { client } = trader;
      const body = { chain: chain.chain, token: "USDC", amount, nonce: ++trader.nonce };
      const send = () =>
        client.request("POST", "/v1/bridge/withdrawals", body, client.signatureOf(body));
      const first = await sure(send);
      expect(first).toMatchObject({ status: 202 });
      // The same bytes again ask for nothing more.
      expect((await sure(send)).body.withdrawalId).toBe(first.body.withdrawalId);
      const id = Number(first.body.withdrawalId);
      ids.set(id, { trader, chain, micros: amount * 1e6 });
      trader.withdrawn += amount * 1e6;
      return id;
    };
    const paidOn = async ({ node, vault }: PayingChain): Promise<number[]> => {
      const topics = encodeEventTopics({ abi: VAULT_ABI, eventName: "Paid" });
      const logs = await node.rpc("eth_getLogs", [{ address: vault, topics, fromBlock: "0x0" }]);
      return (Array.isArray(logs) ? logs : []).map((log) => Number(BigInt(Object(log).topics[1])));
    };

    /** What each account holds follows from what it sent, asked for and traded; and the vaults hold what is owed. */
    const sumsAgree = async (): Promise<void> => {
      let owed = 0;
      let tradingFees = 0;
      for (const trader of traders) {
        const { body } = await trader.client.request("GET", "/v1/fills?limit=1000");
        let traded = 0;
        for (const fill of Object.values(body).map(Object)) {
          const value = Math.round(fill.price * fill.size * 1e6);
          const fee = microsOf(fill.fee);
          traded += (fill.side === "long" ? -value : value) - fee;
          tradingFees += fee;
        }
        const asked = [...ids.values()].filter((each) => each.trader === trader).length;
        const balance = await balanceOf(trader);
        expect(balance).toBe(trader.deposited - trader.withdrawn - asked * FEE * 1e6 + traded);
        owed += balance;
      }
      // Nothing moves in the venue now; a payment on a chain changes both sides.
      let [held, paid] = [0, 0];
      for (const chain of chains) {
        const { node, usdc, vault } = chain;
        let ends: number[];
        let units: bigint;
        do {
          ends = await paidOn(chain);
          units = await node.balance(usdc, vault);
        } while ((await paidOn(chain)).length !== ends.length);
        expect(new Set(ends).size).toBe(ends.length);
        held += Number(units);
        paid += ends.length;
        for (const [id, { chain: of, micros }] of ids) {
          if (of === chain && !ends.includes(id)) owed += micros + FEE * 1e6;
        }
      }
      expect(held - owed).toBe(tradingFees + paid * FEE * 1e6);
    };

    const kills = services
      .flatMap((victim) => STEPS.map((step) => ({ victim, step, order: random.next() })))
      .sort((a, b) => a.order - b.order);
    for (let round = 0; round < ROUNDS; round++) {
      const { victim, step } = kills[round % kills.length]!;
      const label = `round ${round}: ${victim.name} killed at ${step}`;
      let struck: Promise<void> | undefined;
      const reach = (reached: string) => {
        // What is sent next is on its way when the process dies.
        if (reached === step) struck = victim.strike();
      };
      reach("deposit");
      await deposit(random.pick(traders), random.pick(chains), 1 + random.below(20));
      const { index } = await until(
        () => sure(() => jsonOf<{ index: unknown }>(`${url}/v1/markets/BTCUSD/ticker`)),
        (ticker) => typeof ticker.index === "number",
      );
      const price = Math.round(Number(index));
      reach("open");
      await trade(true, price);
      reach("close");
      await trade(false, price + random.below(200) - 100);
      reach("request");
      let last = 0;
      for (const trader of traders)
        last = await request(trader, random.pick(chains), 1 + random.below(8));
      const status = STATUSES.indexOf(step);
      if (status >= 0) {
        await until(
          () => read(last),
          (withdrawal) => STATUSES.indexOf(withdrawal.status) >= status,
        );
        reach(step);
      }
      await struck;
      await sumsAgree().catch((error: unknown) => {
        throw new Error(label, { cause: error });
      });
    }
    for (const id of ids.keys()) {
      await until(
        () => read(id),
        ({ status }) => status === "paid",
      );
    }

    for (const chain of chains) {
      const asked = [...ids].filter(([, each]) => each.chain === chain).map(([id]) => id);
      const paid = await paidOn(chain);
      expect(paid.sort((a, b) => a - b)).toEqual(asked.sort((a, b) => a - b));
    }
    await sumsAgree();
    for (const service of [...attestors, ...relayers, venue]) await service.stop();
    const verified = await new PerpgateProcess(["verify", "--data", data, "--signatures"]).ended;
    expect(verified).toMatchObject({ code: 0 });
  },
  120_000 + ROUNDS * 60_000,
);
