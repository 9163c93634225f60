/**
 * Parses responses to `eth_getTransactionReceipt` and `eth_getBlockByNumber`. Responses of another
 * shape or about another transaction are rejected.
 */

import { type Dialect, hashDigits } from "./dialect.js";

export interface TransactionLog {
  /** 40 hex digits. */
  readonly address: string;
  /** 64 hex digits each. */
  readonly topics: readonly string[];
  /** Hex digits without `0x`. */
  readonly data: string;
  readonly logIndex: number;
}

export interface ChainReceipt {
  readonly succeeded: boolean;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** In order of their index; logs marked as removed are left out. */
  readonly logs: readonly TransactionLog[];
}

export interface ChainBlock {
  readonly number: number;
  readonly hash: string;
  readonly timeMs: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** The receipt, null for a transaction in no block, undefined for a malformed response. */
export function readReceipt(
  value: unknown,
  txHash: string,
  dialect: Dialect,
): ChainReceipt | null | undefined {
  if (value === null) return null;
  if (!isJsonObject(value) || hashDigits(value.transactionHash) !== txHash) return undefined;
  // Some nodes return receipts of pending transactions.
  if (value.blockHash === null) return null;
  const blockHash = hashDigits(value.blockHash);
  const blockNumber = readQuantity(value.blockNumber);
  if (blockHash === undefined || blockNumber === undefined) return undefined;
  if (!Array.isArray(value.logs)) return undefined;
  const logs: TransactionLog[] = [];
  for (const entry of value.logs) {
    if (!isJsonObject(entry)) return undefined;
    if (entry.removed === true) continue;
    const log = readLog(entry, txHash, blockHash, dialect);
    if (log === undefined) return undefined;
    logs.push(log);
  }
  logs.sort((a, b) => a.logIndex - b.logIndex);
  if (logs.some((log, i) => i > 0 && log.logIndex === logs[i - 1]?.logIndex)) return undefined;
  // Ethereum's oldest receipts have no status and count as failed.
  return { succeeded: readQuantity(value.status) === 1, blockNumber, blockHash, logs };
}

/** The header, null for an unknown block, undefined for a malformed response. */
export function readBlock(value: unknown): ChainBlock | null | undefined {
  if (value === null) return null;
  if (!isJsonObject(value)) return undefined;
  const number = readQuantity(value.number);
  const hash = hashDigits(value.hash);
  const seconds = readQuantity(value.timestamp);
  if (number === undefined || hash === undefined || seconds === undefined) return undefined;
  return { number, hash, timeMs: seconds * 1_000 };
}

/** A hex quantity that is a safe integer, or undefined. */
export function readQuantity(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]+$/.test(value)) return undefined;
  const number = Number(BigInt(value));
  return Number.isSafeInteger(number) ? number : undefined;
}

export function isSameReceipt(a: ChainReceipt, b: ChainReceipt): boolean {
  return JSON.stringify(comparable(a)) === JSON.stringify(comparable(b));
}

function comparable({ succeeded, blockNumber, blockHash, logs }: ChainReceipt): unknown {
  const rows = logs.map(({ logIndex, address, topics, data }) => [logIndex, address, topics, data]);
  return [succeeded, blockNumber, blockHash, rows];
}

function readLog(
  entry: Fields,
  txHash: string,
  blockHash: string,
  dialect: Dialect,
): TransactionLog | undefined {
  if (hashDigits(entry.transactionHash) !== txHash) return undefined;
  if (hashDigits(entry.blockHash) !== blockHash) return undefined;
  const logIndex = readQuantity(entry.logIndex);
  const address = typeof entry.address === "string" ? dialect.responseAddress(entry.address) : "";
  const data = readData(entry.data);
  if (logIndex === undefined || !address || data === undefined) return undefined;
  if (!Array.isArray(entry.topics)) return undefined;
  const topics: string[] = [];
  for (const topic of entry.topics) {
    const digits = hashDigits(topic);
    if (digits === undefined) return undefined;
    topics.push(digits);
  }
  return { address, topics, data, logIndex };
}

function readData(value: unknown): string | undefined {
  if (typeof value !== "string" || !/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return undefined;
  return value.slice(2).toLowerCase();
}

export function isJsonObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
