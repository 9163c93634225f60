/**
 * A node with Tron's JSON-RPC dialect and a chain written by the tests.
 *
 * Modelled after the public documentation (developers.tron.network, "JSON-RPC API overview" and
 * "eth_getTransactionReceipt"; tronprotocol.github.io/documentation-en, `eth_getTransactionReceipt`
 * and `eth_getBlockByNumber`) and the behaviour of java-tron 4.8:
 * - Transaction ids are accepted with or without `0x`; anything but 64 hex digits is -32602.
 * - A receipt that does not exist is null. `from` and `to` are 20 bytes with `0x`, `logsBloom` is
 *   zeros, `type` is 0x0, `status` is 0x1 or 0x0, each log has `removed`, and since 4.8.2
 *   `blockTimestamp`.
 * - A block's hash is its number in the first eight bytes; times are in seconds; the tags are
 *   `latest`, `earliest` and `finalized`, while `pending` is -32602.
 * - `eth_call` takes the tag `latest` alone; numbers and other tags are -32602.
 * - Every response has status 200, errors too. A batch above the limit gets one error object with id
 *   null instead of a list.
 */

import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import { json } from "node:stream/consumers";
import { type Call, isCall, listOf } from "./rpc-proxy.js";

export interface TronLog {
  /** 40 hex digits each. */
  readonly contract: string;
  readonly from: string;
  readonly to: string;
  readonly units: bigint;
}

interface Transaction {
  readonly id: string;
  readonly status: "0x1" | "0x0";
  readonly logs: readonly TronLog[];
}

interface Block {
  readonly number: number;
  readonly hash: string;
  readonly seconds: number;
  readonly transactions: readonly Transaction[];
}

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TRON_MAINNET = 728_126_428;

export class TronNode {
  batchLimit = 100;
  /** What any account has of any token. */
  balance = 0n;
  readonly asked: Call[] = [];
  url = "";
  private readonly blocks: Block[] = [];
  private readonly server: Server;
  private salt = 0;

  private constructor(private readonly startSeconds: number) {
    this.mine([]);
    this.server = createServer((request, response) => {
      void json(request).then((body) => {
        response.setHeader("content-type", "application/json; charset=utf-8");
        response.end(JSON.stringify(this.answer(listOf(body, isCall))));
      });
    });
  }

  static async start(startSeconds: number): Promise<TronNode> {
    const node = new TronNode(startSeconds);
    await new Promise<void>((resolve) => node.server.listen(0, "127.0.0.1", resolve));
    const address = node.server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    node.url = `http://127.0.0.1:${address.port}/jsonrpc`;
    return node;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Mines a block with one transaction; returns its id without 0x. */
  transact(logs: readonly TronLog[], status: "0x1" | "0x0" = "0x1"): string {
    const id = this.digest("transaction");
    this.mine([{ id, status, logs }]);
    return id;
  }

  mine(transactions: readonly Transaction[] = []): void {
    const number = this.blocks.length;
    const hash = number.toString(16).padStart(16, "0") + this.digest("block").slice(16);
    const seconds = this.startSeconds + 3 * number;
    this.blocks.push({ number, hash, seconds, transactions });
  }

  /** Drops the last blocks, as a switch of forks does. */
  drop(blocks: number): void {
    this.blocks.length -= blocks;
  }

  private digest(what: string): string {
    return createHash("sha256")
      .update(`${what} ${this.salt++}`)
      .digest("hex");
  }

  private answer(calls: readonly Call[]): unknown {
    if (calls.length > this.batchLimit) {
      const message = `Batch size ${calls.length} exceeds the limit of ${this.batchLimit}`;
      return { jsonrpc: "2.0", error: { code: -32_005, message }, id: null };
    }
    this.asked.push(...calls);
    return calls.map(({ id, method, params }) => {
      const outcome = this.perform(method, params);
      return { jsonrpc: "2.0", id, ...outcome };
    });
  }

  private perform(method: string, params: readonly unknown[]): object {
    const refuse = (code: number, message: string) => ({ error: { code, message, data: "{}" } });
    switch (method) {
      case "eth_chainId":
        return { result: `0x${TRON_MAINNET.toString(16)}` };
      case "eth_getTransactionReceipt": {
        const [hash] = params;
        const digits = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(String(hash))?.[1];
        if (digits === undefined) return refuse(-32_602, "invalid hash value");
        return { result: this.receipt(digits.toLowerCase()) };
      }
      case "eth_getBlockByNumber": {
        const [tag, isFull] = params;
        if (tag === "pending") return refuse(-32_602, "TAG pending not supported");
        if (typeof isFull !== "boolean") return refuse(-32_602, "invalid parameters");
        return { result: this.block(String(tag)) };
      }
      case "eth_call":
        if (params[1] !== "latest") return refuse(-32_602, "just support TAG as latest");
        return { result: `0x${this.balance.toString(16).padStart(64, "0")}` };
      default:
        return refuse(-32_601, "method not found");
    }
  }

  private block(tag: string): object | null {
    const last = this.blocks.length - 1;
    const tags: Record<string, number> = { latest: last, earliest: 0, finalized: last - 19 };
    const block = this.blocks[tags[tag] ?? Number(tag)];
    if (block === undefined) return null;
    return {
      number: `0x${block.number.toString(16)}`,
      hash: `0x${block.hash}`,
      timestamp: `0x${block.seconds.toString(16)}`,
      difficulty: "0x0",
      nonce: "0x0000000000000000",
      transactions: block.transactions.map(({ id }) => `0x${id}`),
    };
  }

  private receipt(id: string): object | null {
    for (const block of this.blocks) {
      const transaction = block.transactions.find((each) => each.id === id);
      if (transaction === undefined) continue;
      const place = {
        blockHash: `0x${block.hash}`,
        blockNumber: `0x${block.number.toString(16)}`,
        transactionHash: `0x${id}`,
        transactionIndex: "0x0",
      };
      return {
        ...place,
        contractAddress: null,
        from: `0x${"ab".repeat(20)}`,
        to: `0x${"cd".repeat(20)}`,
        logsBloom: `0x${"0".repeat(512)}`,
        status: transaction.status,
        type: "0x0",
        logs: transaction.logs.map(({ contract, from, to, units }, logIndex) => ({
          ...place,
          address: `0x${contract}`,
          data: `0x${units.toString(16).padStart(64, "0")}`,
          logIndex: `0x${logIndex.toString(16)}`,
          removed: false,
          topics: [TRANSFER, `0x${from.padStart(64, "0")}`, `0x${to.padStart(64, "0")}`],
          blockTimestamp: `0x${block.seconds.toString(16)}`,
        })),
      };
    }
    return null;
  }
}
