/**
 * One endpoint's view of a vault at its newest block: whether it is locked, its signers and caps, and what it
 * knows of some withdrawals. And the search for the event that a request or a payment left.
 */

import {
  type Address,
  decodeFunctionResult,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  isHex,
  numberToHex,
} from "viem";
import { hashDigits } from "../chain/dialect.js";
import { type ChainBlock, isJsonObject, readBlock, readQuantity } from "../chain/receipt.js";
import { EndpointFailure, type RpcEndpoint, type RpcResult } from "../chain/rpc-endpoint.js";
import type { ChainConfig } from "../config/chain-config.js";
import { VAULT_ABI } from "../vault/vault-artifact.js";

export const ENTRY_STATUS = { UNKNOWN: 0, PENDING: 1, PAID: 2, INVALID: 3 } as const;

/** What the vault has under an id. */
export interface VaultEntry {
  readonly status: number;
  /** Lower-case hex with 0x. */
  readonly token: string;
  readonly account: string;
  readonly amount: bigint;
  readonly deadline: bigint;
  /** Unix seconds. */
  readonly requestedAt: number;
}

interface TokenCaps {
  readonly hourCap: bigint;
  readonly dayCap: bigint;
}

export interface VaultView {
  readonly endpoint: string;
  readonly head: ChainBlock;
  readonly finalized: ChainBlock;
  readonly isLocked: boolean;
  readonly domainSeparator: Hex;
  /** Lower-case hex with 0x. */
  readonly attestors: readonly string[];
  /** By contract, 40 hex digits. */
  readonly caps: ReadonlyMap<string, TokenCaps>;
  readonly entries: ReadonlyMap<bigint, VaultEntry>;
  /** Where its events are read. */
  readonly source: RpcEndpoint;
}

interface VaultLog {
  readonly txHash: string;
  readonly block: ChainBlock;
}

/** Blocks of one search: endpoints refuse wide ones. */
const BLOCKS_PER_SEARCH = 2_000;

export async function readVault(
  source: RpcEndpoint,
  endpoint: string,
  { chainId, vault, tokens }: Pick<ChainConfig, "chainId" | "vault" | "tokens">,
  ids: readonly bigint[],
): Promise<VaultView> {
  const { head, finalized } = await readHeads(source, chainId);
  const contracts = Object.values(tokens).map(({ contract }) => contract);
  const calls = [
    encodeFunctionData({ abi: VAULT_ABI, functionName: "isLocked" }),
    encodeFunctionData({ abi: VAULT_ABI, functionName: "domainSeparator" }),
    encodeFunctionData({ abi: VAULT_ABI, functionName: "attestorGroup" }),
    ...contracts.map((contract) =>
      encodeFunctionData({ abi: VAULT_ABI, functionName: "capsOf", args: [`0x${contract}`] }),
    ),
    ...ids.map((id) =>
      encodeFunctionData({ abi: VAULT_ABI, functionName: "withdrawal", args: [id] }),
    ),
  ];
  const block = numberToHex(head.number);
  const answers = await source.call(
    calls.map((data) => ({ method: "eth_call", params: [{ to: `0x${vault}`, data }, block] })),
  );
  const [locked = "0x", separator = "0x", group = "0x", ...rest] = answers.map(bytesOf);
  return {
    endpoint,
    source,
    head,
    finalized,
    ...readable(() => ({
      isLocked: decodeFunctionResult({ ...ABI, functionName: "isLocked", data: locked }),
      domainSeparator: decodeFunctionResult({
        ...ABI,
        functionName: "domainSeparator",
        data: separator,
      }),
      attestors: decodeFunctionResult({
        ...ABI,
        functionName: "attestorGroup",
        data: group,
      })[0].map(lowerCase),
      caps: new Map(contracts.map((contract, i) => [contract, capsIn(rest[i] ?? "0x")])),
      entries: new Map(ids.map((id, i) => [id, entryIn(rest[contracts.length + i] ?? "0x")])),
    })),
  };
}

async function readHeads(source: RpcEndpoint, chainId: number) {
  const [served, latest, final] = await source.call([
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    { method: "eth_getBlockByNumber", params: ["finalized", false] },
  ]);
  const at = readQuantity(resultOf(served));
  if (at !== chainId) throw new EndpointFailure(`serves chain ${String(at)}`);
  const [newest, finalized] = [readBlock(resultOf(latest)), readBlock(resultOf(final))];
  if (!newest || !finalized) throw new EndpointFailure("no head, or no finalized block");
  // Endpoints that are several nodes: the one that knows the head may be behind the one that knows what is final.
  return { head: newest.number < finalized.number ? finalized : newest, finalized };
}

export interface RequestsView {
  readonly endpoint: string;
  readonly head: ChainBlock;
  /** Ids that anyone has requested, whatever became of them. */
  readonly ids: readonly bigint[];
}

/** The vault's requests after block `after`, in the newest blocks of one search at least. */
export async function readRequests(
  source: RpcEndpoint,
  endpoint: string,
  { chainId, vault }: Pick<ChainConfig, "chainId" | "vault">,
  after: number | undefined,
): Promise<RequestsView> {
  const { head } = await readHeads(source, chainId);
  const topics = encodeEventTopics({ abi: VAULT_ABI, eventName: "Requested" });
  const newest = Math.max(0, head.number - BLOCKS_PER_SEARCH + 1);
  const ids: bigint[] = [];
  for (let from = Math.min(after ?? newest, newest); from <= head.number; ) {
    const to = Math.min(head.number, from + BLOCKS_PER_SEARCH - 1);
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
    const params = [{ address: `0x${vault}`, topics, ...range }];
    const [logs] = await source.call([{ method: "eth_getLogs", params }]);
    for (const { id } of readLogs(resultOf(logs))) ids.push(id);
    from = to + 1;
  }
  return { endpoint, head, ids };
}

const ABI = { abi: VAULT_ABI } as const;

function capsIn(data: Hex): TokenCaps {
  const [hourCap, , dayCap] = decodeFunctionResult({ ...ABI, functionName: "capsOf", data });
  return { hourCap, dayCap };
}

function entryIn(data: Hex): VaultEntry {
  const found = decodeFunctionResult({ ...ABI, functionName: "withdrawal", data });
  const { status, token, account, amount, deadline, requestedAt } = found;
  const addresses = { token: lowerCase(token), account: lowerCase(account) };
  return { status, ...addresses, amount, deadline, requestedAt };
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new EndpointFailure("it has no vault there");
  }
}

/**
 * The event of a request, or of a payment, not before `sinceMs`; searched backwards from the view's head.
 * Undefined: there is none in the canonical blocks.
 */
export async function findLog(
  { source, head }: VaultView,
  vault: string,
  eventName: "Requested" | "Paid",
  id: number,
  sinceMs: number,
): Promise<VaultLog | undefined> {
  const topics = encodeEventTopics({ abi: VAULT_ABI, eventName, args: { id: BigInt(id) } });
  for (let to = head.number; to >= 0; to -= BLOCKS_PER_SEARCH) {
    const from = Math.max(0, to - BLOCKS_PER_SEARCH + 1);
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
    const [logs, first] = await source.call([
      { method: "eth_getLogs", params: [{ address: `0x${vault}`, topics, ...range }] },
      { method: "eth_getBlockByNumber", params: [numberToHex(from), false] },
    ]);
    const found = readLogs(resultOf(logs));
    const log = found.at(-1);
    if (log !== undefined) return await canonical(source, log);
    const begin = readBlock(resultOf(first));
    if (!begin) throw new EndpointFailure("a block is missing");
    if (begin.timeMs < sinceMs) return undefined;
  }
  return undefined;
}

interface FoundLog {
  readonly id: bigint;
  readonly txHash: string;
  readonly number: number;
  readonly hash: string;
}

function readLogs(value: unknown): readonly FoundLog[] {
  if (!Array.isArray(value)) throw new EndpointFailure("no list of logs");
  return value.flatMap((entry) => {
    const { transactionHash, blockNumber, blockHash, removed, topics } = isJsonObject(entry)
      ? entry
      : {};
    if (removed === true) return [];
    const [txHash, hash] = [hashDigits(transactionHash), hashDigits(blockHash)];
    const number = readQuantity(blockNumber);
    const id = hashDigits(Array.isArray(topics) ? topics[1] : undefined);
    if (txHash === undefined || hash === undefined || number === undefined || id === undefined) {
      throw new EndpointFailure("a log cannot be read");
    }
    return [{ id: BigInt(`0x${id}`), txHash, number, hash }];
  });
}

/** The log's block, if it is the one that the chain has at its number. */
async function canonical(
  source: RpcEndpoint,
  { txHash, number, hash }: FoundLog,
): Promise<VaultLog | undefined> {
  const params = [numberToHex(number), false];
  const [answer] = await source.call([{ method: "eth_getBlockByNumber", params }]);
  const block = readBlock(resultOf(answer));
  return block && block.hash === hash ? { txHash, block } : undefined;
}

function bytesOf(answer: RpcResult): Hex {
  const result = resultOf(answer);
  if (!isHex(result)) throw new EndpointFailure("a call returned no bytes");
  return result;
}

function resultOf(answer: RpcResult | undefined): unknown {
  if (answer?.isAnswered !== true) throw new EndpointFailure(answer?.reason ?? "no response");
  return answer.result;
}

function lowerCase(address: Address): string {
  return address.toLowerCase();
}
