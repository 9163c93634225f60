/**
 * An Ethereum node whose receipts are computed from the requested hash. The chain grows by eight
 * blocks at each poll, so that every poll changes every deposit: the most that an attestor has to do.
 *
 *   f00d<address>…  a confirmed transfer of a million dollars by that address
 *   anything else   three transfers of a dollar, in the newest block at the first request
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { serve } from "../harness/child.js";

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
export const VAULT = `0x${"11".repeat(20)}`;
export const USDC = `0x${"22".repeat(20)}`;
/** An attestor votes on progress in steps of an eighth of the confirmations. */
const BLOCKS_PER_POLL = 8;
export const CONFIRMATIONS = 8 * BLOCKS_PER_POLL;
const BLOCK_HASH = `0x${"33".repeat(32)}`;

interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

class Chain {
  readonly counts = {
    polls: 0,
    requests: 0,
    receiptsOfOnePoll: 0,
    /** The most requests for one hash within a poll. */
    repeatsWithinOnePoll: 0,
  };
  private head = 1_000;
  private readonly blockOf = new Map<string, number>();
  private asked = new Map<string, number>();

  answer(calls: readonly RpcCall[]): object[] {
    this.counts.requests++;
    return calls.map(({ id, method, params: [subject] }) => {
      return { jsonrpc: "2.0", id, result: this.result(method, String(subject)) };
    });
  }

  private result(method: string, subject: string): unknown {
    if (method === "eth_chainId") {
      this.counts.polls++;
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
    const { counts } = this;
    const times = (this.asked.get(hash) ?? 0) + 1;
    this.asked.set(hash, times);
    counts.receiptsOfOnePoll = Math.max(counts.receiptsOfOnePoll, this.asked.size);
    counts.repeatsWithinOnePoll = Math.max(counts.repeatsWithinOnePoll, times);
    const funded = /^0xf00d([0-9a-f]{40})/.exec(hash)?.[1];
    const block = funded === undefined ? (this.blockOf.get(hash) ?? this.head) : 1;
    this.blockOf.set(hash, block);
    const place = { blockHash: BLOCK_HASH, blockNumber: quantity(block), transactionHash: hash };
    const [transfers, from, micros] =
      funded === undefined ? [[0, 1, 2], "44".repeat(20), 1e6] : [[0], funded, 1e12];
    return {
      ...place,
      status: "0x1",
      logsBloom: `0x${"0".repeat(512)}`,
      logs: transfers.map((logIndex) => ({
        ...place,
        address: USDC,
        topics: [TRANSFER, word(from), word(VAULT.slice(2))],
        data: word(micros.toString(16)),
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

const chain = new Chain();
const server = createServer(async (request, response) => {
  const calls: unknown = await json(request);
  if (!Array.isArray(calls)) throw new TypeError("not a batch");
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(chain.answer(calls)));
});
const handlers = {
  port: async (): Promise<number> => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  },
  counts: () => chain.counts,
};
export type ChainHandlers = typeof handlers;

if (process.argv[2] === "serve") serve(handlers);
