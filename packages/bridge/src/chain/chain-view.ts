/**
 * One endpoint's view of a chain: receipts first, then the head and the canonical block of each
 * receipt. The order matters: a block that is canonical in the second reading was canonical after the
 * receipt was read, and the head is not older.
 */

import { setImmediate } from "node:timers/promises";
import type { ChainConfig } from "../config/chain-config.js";
import {
  type ChainBlock,
  type ChainReceipt,
  readBlock,
  readQuantity,
  readReceipt,
} from "./receipt.js";
import { EndpointFailure, type RpcEndpoint, type RpcResult } from "./rpc-endpoint.js";

export interface ChainView {
  readonly endpoint: string;
  readonly head: ChainBlock;
  /** The chain's finalized block; null if not requested. */
  readonly finalized: ChainBlock | null;
  /** By transaction: null is "in no block", missing is "no response". */
  readonly receipts: ReadonlyMap<string, ChainReceipt | null>;
  /** Canonical hash by block number; missing if the node does not have the block. */
  readonly canonical: ReadonlyMap<number, string>;
}

const RECEIPTS_PER_TURN = 32;

export async function readChain(
  endpoint: RpcEndpoint,
  name: string,
  { dialect, chainId, finality }: Pick<ChainConfig, "dialect" | "chainId" | "finality">,
  txHashes: readonly string[],
): Promise<ChainView> {
  const [chain, ...answers] = await endpoint.call([
    { method: "eth_chainId", params: [] },
    ...txHashes.map((txHash) => ({
      method: "eth_getTransactionReceipt",
      params: [dialect.requestHash(txHash)],
    })),
  ]);
  // Every time: the node behind a URL can change.
  const served = readQuantity(resultOf(chain));
  if (served !== chainId) throw new EndpointFailure(`serves chain ${String(served)}`);
  const receipts = new Map<string, ChainReceipt | null>();
  for (const [i, txHash] of txHashes.entries()) {
    // Yields, so that a thousand receipts do not block the event loop.
    if (i % RECEIPTS_PER_TURN === 0) await setImmediate();
    const answer = answers[i];
    if (answer?.isAnswered !== true) continue;
    const receipt = readReceipt(answer.result, txHash, dialect);
    // A malformed receipt counts as no response; the other transactions are not affected.
    if (receipt !== undefined) receipts.set(txHash, receipt);
  }
  const { unread, ...blocks } = await readBlocks(endpoint, receipts, finality === "finalized");
  // Whether the receipt's block is canonical is not known: no response, not a reorganisation.
  for (const [txHash, receipt] of receipts) {
    if (receipt !== null && unread.has(receipt.blockNumber)) receipts.delete(txHash);
  }
  return { endpoint: name, receipts, ...blocks };
}

interface Blocks extends Pick<ChainView, "head" | "finalized" | "canonical"> {
  /** Numbers of blocks that the node gave no answer for, or a malformed one. */
  readonly unread: ReadonlySet<number>;
}

async function readBlocks(
  endpoint: RpcEndpoint,
  receipts: ReadonlyMap<string, ChainReceipt | null>,
  needsFinalized: boolean,
): Promise<Blocks> {
  const named = [...receipts.values()].flatMap((receipt) => receipt?.blockNumber ?? []);
  const numbers = [...new Set(named)];
  const tags = needsFinalized ? ["latest", "finalized"] : ["latest"];
  const answers = await endpoint.call(
    [...tags, ...numbers.map((number) => `0x${number.toString(16)}`)].map((block) => ({
      method: "eth_getBlockByNumber",
      params: [block, false],
    })),
  );
  const head = readBlock(resultOf(answers[0]));
  if (!head) throw new EndpointFailure("malformed head");
  const finalized = needsFinalized ? readBlock(resultOf(answers[1])) : null;
  // For nodes without the tag, `confirmations` must be configured.
  if (needsFinalized && !finalized) throw new EndpointFailure("no finalized block");
  const canonical = new Map<number, string>();
  const unread = new Set<number>();
  numbers.forEach((number, i) => {
    const answer = answers[tags.length + i];
    const block = answer?.isAnswered === true ? readBlock(answer.result) : undefined;
    if (block === undefined) unread.add(number);
    else if (block?.number === number) canonical.set(number, block.hash);
  });
  return { head, finalized: finalized ?? null, canonical, unread };
}

function resultOf(answer: RpcResult | undefined): unknown {
  if (answer?.isAnswered !== true) throw new EndpointFailure(answer?.reason ?? "no response");
  return answer.result;
}
