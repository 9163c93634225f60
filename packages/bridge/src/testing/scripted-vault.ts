/** A JSON-RPC node with one vault, whose blocks, entries and events a test writes. */

import { createServer, type Server } from "node:http";
import { json } from "node:stream/consumers";
import {
  type Address,
  decodeFunctionData,
  encodeEventTopics,
  encodeFunctionResult,
  type Hex,
  isHex,
  numberToHex,
} from "viem";
import { domainSeparatorOf, type VaultDomain, type VaultWithdrawal } from "../vault/typed-data.js";
import { VAULT_ABI } from "../vault/vault-artifact.js";
import { ENTRY_STATUS, type VaultAction } from "../withdraw/vault-view.js";
import { type Call, isCall, listOf } from "./rpc-proxy.js";

const BLOCK_SECONDS = 12;
const FINAL_BLOCKS = 3;

interface Entry extends VaultWithdrawal {
  readonly status: number;
  readonly requestedAt: number;
}

interface Event {
  readonly name: "Requested" | "Paid" | VaultAction;
  /** 0 for actions. */
  readonly id: bigint;
  readonly number: number;
}

/** What nodes of one chain have in common. */
export class ScriptedChain {
  readonly entries = new Map<bigint, Entry>();
  readonly events: Event[] = [];

  constructor(
    readonly domain: VaultDomain,
    readonly attestors: readonly Address[],
    /** Of block 0. */
    readonly startMs: number,
    public head = 20_000,
  ) {}

  secondsAt(number: number): number {
    return Math.floor(this.startMs / 1_000) + (number - 20_000) * BLOCK_SECONDS;
  }

  mine(blocks = 1): void {
    this.head += blocks;
  }

  request(payment: VaultWithdrawal): void {
    this.mine();
    const requestedAt = this.secondsAt(this.head);
    this.entries.set(payment.id, { ...payment, status: ENTRY_STATUS.PENDING, requestedAt });
    this.events.push({ name: "Requested", id: payment.id, number: this.head });
  }

  act(name: VaultAction): void {
    this.mine();
    this.events.push({ name, id: 0n, number: this.head });
  }

  pay(id: bigint): void {
    this.mine();
    this.entries.set(id, { ...this.entries.get(id)!, status: ENTRY_STATUS.PAID });
    this.events.push({ name: "Paid", id, number: this.head });
  }
}

/** One endpoint. */
export class ScriptedVault {
  readonly calls: Call[] = [];
  /** A search for logs over more blocks is refused. */
  maxBlocks = Number.POSITIVE_INFINITY;
  /** What it says it has under an id, instead of the chain's. */
  readonly lies = new Map<bigint, Partial<Entry>>();
  url = "";
  private readonly server: Server;

  private constructor(private readonly chain: ScriptedChain) {
    this.server = createServer((request, response) => {
      void json(request).then((body) => {
        const calls = listOf(body, isCall);
        this.calls.push(...calls);
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(calls.map((call) => this.answer(call))));
      });
    });
  }

  static async start(chain: ScriptedChain): Promise<ScriptedVault> {
    const node = new ScriptedVault(chain);
    await new Promise<void>((resolve) => node.server.listen(0, "127.0.0.1", resolve));
    const address = node.server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    node.url = `http://127.0.0.1:${address.port}`;
    return node;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  count(method: string): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  private answer({ id, method, params }: Call): object {
    const result = this.resultOf(method, params);
    return result === undefined
      ? { id, error: { code: -32_005, message: "range too large" } }
      : { id, result };
  }

  private resultOf(method: string, params: readonly unknown[]): unknown {
    const { chain } = this;
    switch (method) {
      case "eth_chainId":
        return numberToHex(chain.domain.chainId);
      case "eth_getBlockByNumber":
        return this.block(String(params[0]));
      case "eth_call":
        return this.read(Object(params[0]));
      case "eth_getLogs":
        return this.logs(Object(params[0]));
      default:
        throw new Error(`no ${method} here`);
    }
  }

  private block(tag: string): object | null {
    const { head } = this.chain;
    const named = tag === "latest" ? head : tag === "finalized" ? head - FINAL_BLOCKS : Number(tag);
    if (named > head) return null;
    const timestamp = numberToHex(this.chain.secondsAt(named));
    return { number: numberToHex(named), hash: hashOf(named), timestamp };
  }

  private read({ to, data }: { readonly to?: unknown; readonly data?: unknown }): Hex {
    const { domain, attestors, entries } = this.chain;
    // A token: the vault's balance.
    if (to !== domain.vault) return numberToHex(0, { size: 32 });
    if (!isHex(data)) throw new TypeError("no data");
    const called = decodeFunctionData({ abi: VAULT_ABI, data });
    const abi = VAULT_ABI;
    switch (called.functionName) {
      case "isLocked":
        return encodeFunctionResult({ abi, functionName: "isLocked", result: false });
      case "venue":
        return encodeFunctionResult({ abi, functionName: "venue", result: domain.venueId });
      case "domainSeparator": {
        const result = domainSeparatorOf(domain);
        return encodeFunctionResult({ abi, functionName: "domainSeparator", result });
      }
      case "attestorGroup":
        return encodeFunctionResult({
          abi,
          functionName: "attestorGroup",
          result: [attestors, 2n],
        });
      case "capsOf":
        return encodeFunctionResult({
          abi,
          functionName: "capsOf",
          result: [10n ** 12n, 0n, 10n ** 12n, 0n],
        });
      case "withdrawal": {
        const [id] = called.args;
        const entry = { ...NOTHING, ...entries.get(id), ...this.lies.get(id) };
        return encodeFunctionResult({ abi, functionName: "withdrawal", result: entry });
      }
      default:
        throw new Error(`no ${called.functionName} here`);
    }
  }

  private logs(filter: {
    readonly fromBlock: string;
    readonly toBlock: string;
    readonly topics: readonly unknown[];
  }): object[] | undefined {
    const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
    if (to - from >= this.maxBlocks) return undefined;
    return this.chain.events.flatMap(({ name, id, number }) => {
      const topics =
        name === "Requested" || name === "Paid"
          ? encodeEventTopics({ abi: VAULT_ABI, eventName: name, args: { id } })
          : encodeEventTopics({ abi: VAULT_ABI, eventName: name });
      const isMatch = filter.topics.every(
        (wanted, i) => wanted === null || [wanted].flat().some((each) => each === topics[i]),
      );
      if (!isMatch || number < from || number > to) return [];
      const place = { blockNumber: numberToHex(number), blockHash: hashOf(number) };
      return [{ ...place, topics, transactionHash: hashOf(number), removed: false }];
    });
  }
}

const ZERO: Address = `0x${"0".repeat(40)}`;
const NOTHING = {
  status: ENTRY_STATUS.UNKNOWN,
  token: ZERO,
  account: ZERO,
  amount: 0n,
  deadline: 0n,
  requestedAt: 0,
  requestedBlock: 0,
};

function hashOf(number: number): Hex {
  return `0x${number.toString(16).padStart(64, "0")}`;
}
