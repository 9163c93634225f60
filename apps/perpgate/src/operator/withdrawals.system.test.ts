/**
 * Deposits, trades and withdrawals through processes alone: a venue, three attestors with a quorum of two and
 * endpoints of their own, a relayer for each of two local chains, and a witness. Each round kills one of the
 * processes with SIGKILL at a random step of a withdrawal and starts it again; nothing may be paid twice or be lost.
 * PERPGATE_PAYOUT_ROUNDS=n and PERPGATE_PAYOUT_SEED=n choose how often, and which steps.
 */

import { join } from "node:path";
import { VAULT_ABI } from "@perpgate/bridge";
import { EvmNode, RpcProxy, VaultChain } from "@perpgate/bridge/testing";
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

const ROUNDS = Number(process.env.PERPGATE_PAYOUT_ROUNDS ?? 6);
const SEED = Number(process.env.PERPGATE_PAYOUT_SEED ?? Date.now() % 1e6);
const CHAINS = [
  { chain: "ethereum", chainId: 1 },
  { chain: "arbitrum", chainId: 42_161 },
] as const;
const DEPLOYER = 2;
const STEPS: readonly string[] = ["queued", "attested", "pending", "paid"];
const FEE = 0.5;
const DEPOSIT = 500;

interface PayingChain {
  readonly chain: (typeof CHAINS)[number]["chain"];
  readonly node: EvmNode;
  readonly usdc: Address;
  readonly vault: Address;
}

async function startChain({ chain, chainId }: (typeof CHAINS)[number]): Promise<PayingChain> {
  const node = await EvmNode.start(chainId);
  onTestFinished(() => node.stop());
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

  async kill(): Promise<void> {
    this.process.signal("SIGKILL");
    await this.process.ended;
  }

  async restart(): Promise<void> {
    this.process = new PerpgateProcess(this.args, this.environment);
    await this.ready();
  }

  async stop(): Promise<void> {
    this.process.signal("SIGTERM");
    await this.process.ended;
  }
}

async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function jsonOf<T>(url: string): Promise<T> {
  return JSON.parse(await (await fetch(url)).text());
}

test(`kills at any step, seed ${SEED}: everything asked for is paid once, and all sums agree`, async () => {
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
    accountPerDay: 1_000,
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

  const clients = [1, 3].map((number) => ({
    number,
    client: new ProcessClient(url, chainWallet(number)),
    nonce: 0,
    asked: 0,
  }));
  const balanceOf = async ({ client }: { readonly client: ProcessClient }): Promise<number> =>
    Number((await client.request("GET", "/v1/account")).body.balance);
  for (const trader of clients) {
    expect((await trader.client.signIn()).status).toBe(200);
    for (const { chain, node, usdc, vault } of chains) {
      const units = BigInt(DEPOSIT) * 1_000_000n;
      const txHash = await node.transfer(usdc, node.account(trader.number), vault, units);
      const body = { chain, txHash, token: "USDC" };
      const answer = await trader.client.request("POST", "/v1/bridge/deposit", body);
      expect(answer.status).toBe(202);
    }
    await until(
      () => balanceOf(trader),
      (dollars) => dollars === 2 * DEPOSIT,
    );
  }

  // They trade with each other; both close again.
  const ticker = await jsonOf<{ index: number }>(`${url}/v1/markets/BTCUSD/ticker`);
  const price = Math.round(ticker.index);
  for (const isOpening of [true, false]) {
    for (const [i, trader] of clients.entries()) {
      const side = (i === 0) === isOpening ? "long" : "short";
      const terms = { symbol: "BTCUSD", side, type: "limit", price, size: 0.001, leverage: 5 };
      const order = { ...terms, nonce: ++trader.nonce, reduceOnly: !isOpening };
      expect((await trader.client.place(order)).status).toBe(200);
    }
  }

  const services = [venue, ...attestors, ...relayers];
  const ids = new Map<
    number,
    { readonly trader: (typeof clients)[number]; readonly chain: PayingChain }
  >();
  const read = async (id: number): Promise<AttestedWithdrawal> => {
    const { client } = ids.get(id)!.trader;
    const headers = { authorization: `Bearer ${client.token}` };
    const answer = await fetch(`${url}/v1/bridge/withdrawals/${id}`, { headers });
    return JSON.parse(await answer.text());
  };
  /** Deposits, withdrawals, fees and profit are what each account holds; and the vaults hold what is owed. */
  const sumsAgree = async (rounds: number): Promise<void> => {
    for (const trader of clients) {
      const entries = await trader.client.request("GET", "/v1/ledger?limit=1000");
      const ledger = Object.values(entries.body).map((entry) =>
        Math.round(Number(Object(entry).amount) * 1e6),
      );
      const balance = Math.round((await balanceOf(trader)) * 1e6);
      expect(ledger.reduce((total, micros) => total + micros, 0)).toBe(balance);
      const withdrawn = Math.round((trader.asked + rounds * FEE) * 1e6);
      // Nothing but the fees of two orders is missing.
      expect(2 * DEPOSIT * 1e6 - withdrawn - balance).toBeLessThan(1_000_000);
    }
    let [held, owed] = [0, 0];
    for (const { node, usdc, vault } of chains) held += Number(await node.balance(usdc, vault));
    for (const trader of clients) owed += Math.round((await balanceOf(trader)) * 1e6);
    expect(held).toBeGreaterThanOrEqual(owed);
  };
  for (let round = 0; round < ROUNDS; round++) {
    for (const trader of clients) {
      const chain = random.pick(chains);
      const amount = 1 + random.below(20);
      const body = { chain: chain.chain, token: "USDC", amount, nonce: ++trader.nonce };
      const send = () =>
        trader.client.request(
          "POST",
          "/v1/bridge/withdrawals",
          body,
          trader.client.signatureOf(body),
        );
      const first = await send();
      expect(first.status).toBe(202);
      // The same bytes again ask for nothing more.
      expect((await send()).body.withdrawalId).toBe(first.body.withdrawalId);
      ids.set(Number(first.body.withdrawalId), { trader, chain });
      trader.asked += amount;
    }
    const victim = services[round % services.length]!;
    const step = random.below(STEPS.length);
    const last = [...ids.keys()].at(-1)!;
    await until(
      () => read(last),
      ({ status }) => STEPS.indexOf(status) >= step,
    );
    await victim.kill();
    await victim.restart();
    await sumsAgree(round + 1);
  }
  for (const id of ids.keys()) {
    await until(
      () => read(id).catch(() => undefined),
      (withdrawal) => withdrawal?.status === "paid",
    );
  }

  for (const { node, vault, usdc, chain } of chains) {
    const topics = encodeEventTopics({ abi: VAULT_ABI, eventName: "Paid" });
    const logs = await node.rpc("eth_getLogs", [{ address: vault, topics, fromBlock: "0x0" }]);
    const paid = (Array.isArray(logs) ? logs : []).map((log) =>
      Number(BigInt(Object(log).topics[1])),
    );
    const asked = [...ids].filter(([, each]) => each.chain.chain === chain).map(([id]) => id);
    expect(paid.sort((a, b) => a - b)).toEqual(asked.sort((a, b) => a - b));
    const amounts = await Promise.all(asked.map(async (id) => (await read(id)).amount));
    const sum = amounts.reduce((total, amount) => total + amount, 0);
    expect(await node.balance(usdc, vault)).toBe(BigInt((2 * DEPOSIT - sum) * 1e6));
  }
  await sumsAgree(ROUNDS);
  for (const service of [...attestors, ...relayers, venue]) await service.stop();
  const verified = await new PerpgateProcess(["verify", "--data", data, "--signatures"]).ended;
  expect(verified).toMatchObject({ code: 0 });
}, 900_000);
