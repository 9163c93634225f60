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
  /** The hash of the venue's Genesis. */
  readonly venue: Hex;
  readonly domainSeparator: Hex;
  /** Lower-case hex with 0x. */
  readonly attestors: readonly string[];
  /** By contract, 40 hex digits. */
  readonly caps: ReadonlyMap<string, TokenCaps>;
  readonly entries: ReadonlyMap<bigint, VaultEntry>;
  /** Where its events are read. */
  readonly source: RpcEndpoint;
}

export interface VaultLog {
  readonly txHash: string;
  readonly block: ChainBlock;
}

/** In which the first search looks for requests. */
const FIRST_BLOCKS = 2_000;
/** Read again at least, because a reorganisation may have moved a request. */
const OVERLAP_BLOCKS = 100;

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
    encodeFunctionData({ abi: VAULT_ABI, functionName: "venue" }),
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
  const [locked = "0x", venue = "0x", separator = "0x", group = "0x", ...rest] =
    answers.map(bytesOf);
  return {
    endpoint,
    source,
    head,
    finalized,
    ...readable(() => ({
      isLocked: decodeFunctionResult({ ...ABI, functionName: "isLocked", data: locked }),
      venue: decodeFunctionResult({ ...ABI, functionName: "venue", data: venue }),
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

/** A request that anyone has made, whatever became of it. */
interface VaultRequest {
  readonly id: bigint;
  /** Of its block, 64 hex digits. */
  readonly blockHash: string;
}

/** What guardians and cold keys do that people should look at. */
const VAULT_ACTIONS = [
  "Locked",
  "UnlockProposed",
  "AttestorsProposed",
  "GuardiansProposed",
  "CapsProposed",
] as const;
export type VaultAction = (typeof VAULT_ACTIONS)[number];

interface SeenAction {
  readonly action: VaultAction;
  /** 64 hex digits. */
  readonly txHash: string;
}

export interface RequestsView {
  readonly endpoint: string;
  readonly head: ChainBlock;
  readonly requests: readonly VaultRequest[];
  readonly actions: readonly SeenAction[];
}

/** The vault's requests after block `after`, and of some blocks before it. */
export async function readRequests(
  source: RpcEndpoint,
  endpoint: string,
  { chainId, vault }: Pick<ChainConfig, "chainId" | "vault">,
  after: number | undefined,
): Promise<RequestsView> {
  const { head } = await readHeads(source, chainId);
  const topics = [[REQUESTED, ...ACTION_OF.keys()]];
  const again =
    after === undefined ? FIRST_BLOCKS : Math.max(source.blocksPerSearch, OVERLAP_BLOCKS);
  const newest = Math.max(0, head.number - again + 1);
  const requests: VaultRequest[] = [];
  const actions: SeenAction[] = [];
  for (let from = Math.min(after ?? newest, newest); from <= head.number; ) {
    const begin = from;
    from = await source.search(async (blocks) => {
      const to = Math.min(head.number, begin + blocks - 1);
      const found = await logsIn(source, { vault, topics }, begin, to);
      for (const { topic, id, txHash, hash } of found ?? []) {
        const action = ACTION_OF.get(topic);
        if (action !== undefined) actions.push({ action, txHash });
        else requests.push({ id: idOf(id), blockHash: hash });
      }
      return found && to + 1;
    });
  }
  return { endpoint, head, requests, actions };
}

const topicOf = (eventName: "Requested" | VaultAction): string =>
  String(encodeEventTopics({ abi: VAULT_ABI, eventName })[0]);
const REQUESTED = topicOf("Requested");
const ACTION_OF = new Map(VAULT_ACTIONS.map((action) => [topicOf(action), action] as const));

interface LogFilter {
  readonly vault: string;
  readonly topics: readonly unknown[];
}

/** Null if the endpoint refuses the search, which may be too wide. */
async function logsIn(
  source: RpcEndpoint,
  { vault, topics }: LogFilter,
  from: number,
  to: number,
): Promise<readonly FoundLog[] | null> {
  const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
  const params = [{ address: `0x${vault}`, topics, ...range }];
  const [logs] = await source.call([{ method: "eth_getLogs", params }]);
  return logs?.isAnswered === true ? readLogs(logs.result) : null;
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
  for (let to = head.number; to >= 0; ) {
    const end = to;
    const { from, log } = await source.search(async (blocks) => {
      const begin = Math.max(0, end - blocks + 1);
      const found = await logsIn(source, { vault, topics }, begin, end);
      return found && { from: begin, log: found.at(-1) };
    });
    if (log !== undefined) return await canonical(source, log);
    const begin = await blockAt(source, from);
    if (!begin) throw new EndpointFailure("a block is missing");
    if (begin.timeMs < sinceMs) return undefined;
    to = from - 1;
  }
  return undefined;
}

/** Whether the log's block is still the one that the chain has at its number. */
export async function isCanonical({ source }: VaultView, { block }: VaultLog): Promise<boolean> {
  return (await blockAt(source, block.number))?.hash === block.hash;
}

async function blockAt(source: RpcEndpoint, number: number): Promise<ChainBlock | undefined> {
  const params = [numberToHex(number), false];
  const [answer] = await source.call([{ method: "eth_getBlockByNumber", params }]);
  return readBlock(resultOf(answer)) ?? undefined;
}

interface FoundLog {
  /** Of the event, and of its id, if it has one. */
  readonly topic: string;
  readonly id: unknown;
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
    const [topic, id] = Array.isArray(topics) ? topics : [];
    if (txHash === undefined || hash === undefined || number === undefined) {
      throw new EndpointFailure("a log cannot be read");
    }
    return [{ topic: String(topic), id, txHash, number, hash }];
  });
}

function idOf(topic: unknown): bigint {
  const digits = hashDigits(topic);
  if (digits === undefined) throw new EndpointFailure("a log cannot be read");
  return BigInt(`0x${digits}`);
}

/** The log's block, if it is the one that the chain has at its number. */
async function canonical(
  source: RpcEndpoint,
  { txHash, number, hash }: FoundLog,
): Promise<VaultLog | undefined> {
  const block = await blockAt(source, number);
  return block?.hash === hash ? { txHash, block } : undefined;
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
