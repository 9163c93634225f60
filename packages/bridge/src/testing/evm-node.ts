/** A Hardhat node with the operations that the tests need. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  isHex,
  parseAbi,
} from "viem";
import { BYTECODE } from "./contracts/bytecode.js";

const TOKEN_ABI = parseAbi([
  "constructor(string symbol, uint8 decimals)",
  "function mint(address to, uint256 value)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function balanceOf(address owner) view returns (uint256)",
]);
const SPLITTER_ABI = parseAbi(["function pay(address[] tokens, address[] to, uint256[] values)"]);
const ODD_ABI = parseAbi(["function shout(address to, uint256 value)"]);
const NO_ARGUMENTS_ABI = parseAbi(["constructor()"]);

type AtEnd = (stop: () => Promise<void>) => void;

export class EvmNode {
  private accounts: readonly Address[] = [];

  private constructor(
    readonly url: string,
    private readonly process: ChildProcess,
  ) {}

  /** `atEnd` is when it stops: `afterAll` for a node that all tests of a file share. */
  static async start(chainId: number, atEnd: AtEnd): Promise<EvmNode> {
    const script = fileURLToPath(new URL("./hardhat-node.mjs", import.meta.url));
    const env = { ...process.env, CHAIN_ID: String(chainId) };
    const child = fork(script, { env, execArgv: [], stdio: "inherit" });
    const ended = once(child, "exit").then(() => {
      throw new Error("the node exited before it listened");
    });
    const [port] = await Promise.race([once(child, "message"), ended]);
    const node = new EvmNode(`http://127.0.0.1:${String(port)}`, child);
    atEnd(() => node.stop());
    const accounts = await node.rpc("eth_accounts", []);
    if (!Array.isArray(accounts)) throw new Error("no accounts");
    node.accounts = accounts.map((account) => getAddress(String(account)));
    return node;
  }

  private async stop(): Promise<void> {
    const ended = once(this.process, "exit");
    this.process.disconnect();
    await ended;
  }

  account(number: number): Address {
    return this.accounts[number]!;
  }

  token(symbol: string, decimals: number): Promise<Address> {
    const args = [symbol, decimals] as const;
    return this.deploy(encodeDeployData({ abi: TOKEN_ABI, bytecode: BYTECODE.Token, args }));
  }

  contract(name: Exclude<keyof typeof BYTECODE, "Token">): Promise<Address> {
    const bytecode = BYTECODE[name];
    return this.deploy(encodeDeployData({ abi: NO_ARGUMENTS_ABI, bytecode }));
  }

  mint(token: Address, to: Address, units: bigint): Promise<string> {
    const args = [to, units] as const;
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "mint", args });
    return this.send(this.account(0), token, data);
  }

  transfer(token: Address, from: Address, to: Address, units: bigint): Promise<string> {
    const args = [to, units] as const;
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args });
    return this.send(from, token, data);
  }

  /** Several transfers from a Splitter's balance in one transaction. */
  pay(
    splitter: Address,
    payments: readonly (readonly [token: Address, to: Address, units: bigint])[],
  ): Promise<string> {
    const args = [
      payments.map(([token]) => token),
      payments.map(([, to]) => to),
      payments.map(([, , units]) => units),
    ] as const;
    const data = encodeFunctionData({ abi: SPLITTER_ABI, functionName: "pay", args });
    return this.send(this.account(0), splitter, data);
  }

  shout(contract: Address, to: Address, units: bigint): Promise<string> {
    const args = [to, units] as const;
    const data = encodeFunctionData({ abi: ODD_ABI, functionName: "shout", args });
    return this.send(this.account(0), contract, data);
  }

  async send(from: Address, to: Address | undefined, data: Hex): Promise<string> {
    return (await this.trySend(from, to, data)).hash;
  }

  /** Sends with a fixed gas limit, so that a failing transaction is mined too. */
  async trySend(from: Address, to: Address | undefined, data: Hex): Promise<Sent> {
    const transaction = { from, to, data, gas: "0x7a1200", gasPrice: "0x3b9aca00" };
    const { result, error } = await this.request("eth_sendTransaction", [transaction]);
    if (typeof result === "string" && isHex(result)) return { hash: result };
    // The node mines a failing transaction and returns an error with its hash.
    const hash = error?.data?.txHash;
    if (hash === undefined) throw new Error(error?.message ?? "not sent");
    return { hash, revertData: error?.data?.data ?? "0x" };
  }

  async balance(token: Address, owner: Address): Promise<bigint> {
    const call = { abi: TOKEN_ABI, functionName: "balanceOf", args: [owner] } as const;
    const data = encodeFunctionData(call);
    return BigInt(String(await this.rpc("eth_call", [{ to: token, data }, "latest"])));
  }

  async mine(blocks: number): Promise<void> {
    await this.rpc("hardhat_mine", [`0x${blocks.toString(16)}`]);
  }

  /** A state of the chain; `revert` returns to it, which starts a fork. */
  async snapshot(): Promise<string> {
    return String(await this.rpc("evm_snapshot", []));
  }

  async revert(snapshot: string): Promise<void> {
    await this.rpc("evm_revert", [snapshot]);
  }

  async letTimePass(seconds: number): Promise<void> {
    await this.rpc("evm_increaseTime", [seconds]);
    await this.mine(1);
  }

  async height(): Promise<number> {
    return Number(await this.rpc("eth_blockNumber", []));
  }

  /** The time of the chain's head. */
  async timeMs(): Promise<number> {
    const block = await this.rpc("eth_getBlockByNumber", ["latest", false]);
    return Number(field(block, "timestamp")) * 1_000;
  }

  private async deploy(data: Hex): Promise<Address> {
    const hash = await this.send(this.account(0), undefined, data);
    const receipt = await this.rpc("eth_getTransactionReceipt", [hash]);
    return getAddress(field(receipt, "contractAddress"));
  }

  async rpc(method: string, params: readonly unknown[]): Promise<unknown> {
    const { result, error } = await this.request(method, params);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  private async request(method: string, params: readonly unknown[]): Promise<NodeAnswer> {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer: NodeAnswer = JSON.parse(
      await (await fetch(this.url, { method: "POST", headers, body })).text(),
    );
    return answer;
  }
}

/** A mined transaction; `revertData` if it failed. */
interface Sent {
  readonly hash: Hex;
  readonly revertData?: Hex;
}

interface NodeAnswer {
  readonly result?: unknown;
  readonly error?: {
    readonly message: string;
    readonly data?: { readonly txHash?: Hex; readonly data?: Hex };
  };
}

function field(value: unknown, name: string): string {
  if (typeof value !== "object" || value === null) throw new Error(`no ${name}`);
  return String(Reflect.get(value, name));
}

export const DOLLAR = 1_000_000n;

export interface EvmChain {
  readonly node: EvmNode;
  readonly usdc: Address;
  /** Has a million dollars of USDC. */
  readonly alice: Address;
  readonly vault: Address;
}

/** A node of Ethereum's chain id with one token. */
export async function startEvmChain(atEnd: AtEnd): Promise<EvmChain> {
  const node = await EvmNode.start(1, atEnd);
  const alice = node.account(1);
  const usdc = await node.token("USDC", 6);
  await node.mint(usdc, alice, 1_000_000n * DOLLAR);
  return { node, usdc, alice, vault: node.account(9) };
}
