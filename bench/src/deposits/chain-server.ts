/**
 * A chain's node in a process of its own, as fast as one can be: every receipt is made up from the
 * hash that asks for it. The chain grows by eight blocks at each poll, so that each of them has news
 * about every deposit: the most that an attestor ever has to say.
 *
 *   f00d<address>…  a deep transfer of a million dollars by that address
 *   anything else   three transfers of a dollar, in the block that is newest when it is first asked
 *
 * Says its port; answers any message with what it has been asked so far.
 */
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
export const VAULT = `0x${"11".repeat(20)}`;
export const USDC = `0x${"22".repeat(20)}`;
/** Blocks per poll; a vote's progress is told in steps of an eighth of the confirmations. */
const BLOCKS_PER_POLL = 8;
export const CONFIRMATIONS = 8 * BLOCKS_PER_POLL;
const BLOCK_HASH = `0x${"33".repeat(32)}`;
const MILLION = 10n ** 12n;
const DOLLAR = 10n ** 6n;

export interface ChainCounts {
  readonly polls: number;
  readonly requests: number;
  readonly receipts: number;
  /** The most receipts that one poll asked for, and the most for one hash within a poll. */
  readonly receiptsOfOnePoll: number;
  readonly repeatsWithinOnePoll: number;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

class Chain {
  private head = 1_000;
  private readonly blockOf = new Map<string, number>();
  private polls = 0;
  private requests = 0;
  private receipts = 0;
  private receiptsOfOnePoll = 0;
  private repeatsWithinOnePoll = 0;
  private asked = new Map<string, number>();

  counts(): ChainCounts {
    const { polls, requests, receipts, receiptsOfOnePoll, repeatsWithinOnePoll } = this;
    return { polls, requests, receipts, receiptsOfOnePoll, repeatsWithinOnePoll };
  }

  answer(calls: readonly Call[]): object[] {
    this.requests++;
    return calls.map(({ id, method, params: [subject] }) => {
      return { jsonrpc: "2.0", id, result: this.result(method, String(subject)) };
    });
  }

  private result(method: string, subject: string): unknown {
    if (method === "eth_chainId") {
      this.polls++;
      this.head += BLOCKS_PER_POLL;
      this.asked = new Map();
      return "0x1";
    }
    if (method === "eth_getTransactionReceipt") return this.receipt(subject);
    const number = subject === "latest" ? quantity(this.head) : subject;
    const timestamp = quantity(Math.floor(Date.now() / 1_000));
    return { number, hash: BLOCK_HASH, timestamp, transactions: [] };
  }

  private receipt(hash: string): object {
    this.receipts++;
    const times = (this.asked.get(hash) ?? 0) + 1;
    this.asked.set(hash, times);
    this.receiptsOfOnePoll = Math.max(this.receiptsOfOnePoll, this.asked.size);
    this.repeatsWithinOnePoll = Math.max(this.repeatsWithinOnePoll, times);
    const funded = /^0xf00d([0-9a-f]{40})/.exec(hash)?.[1];
    const block = funded === undefined ? (this.blockOf.get(hash) ?? this.head) : 1;
    this.blockOf.set(hash, block);
    const place = { blockHash: BLOCK_HASH, blockNumber: quantity(block), transactionHash: hash };
    const transfers = funded === undefined ? [0, 1, 2] : [0];
    const from = funded ?? "44".repeat(20);
    const amount = funded === undefined ? DOLLAR : MILLION;
    return {
      ...place,
      status: "0x1",
      logsBloom: `0x${"0".repeat(512)}`,
      logs: transfers.map((logIndex) => ({
        ...place,
        address: USDC,
        topics: [TRANSFER, word(from), word(VAULT.slice(2))],
        data: word(amount.toString(16)),
        logIndex: quantity(logIndex),
        removed: false,
      })),
    };
  }
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

function word(hex: string): string {
  return `0x${hex.padStart(64, "0")}`;
}

function isCalls(value: unknown): value is readonly Call[] {
  return Array.isArray(value);
}

if (process.send !== undefined) {
  const chain = new Chain();
  const server = createServer(async (request, response) => {
    const calls: unknown = await json(request);
    if (!isCalls(calls)) throw new TypeError("not a batch");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(chain.answer(calls)));
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    process.send?.(typeof address === "object" && address !== null ? address.port : 0);
  });
  process.on("message", () => process.send?.(chain.counts()));
}
