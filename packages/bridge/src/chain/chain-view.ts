/**
 * What one endpoint says of a chain at one moment: receipts first, then the head and the canonical
 * block at each number a receipt named. The order matters: a receipt whose block is canonical in
 * the second reading was canonical after the receipt was read, and the head is no older.
 */

import { setImmediate } from "node:timers/promises";
import type { ChainConfig } from "../config/chain-config.js";
import { type BlockHeader, type Receipt, readBlock, readQuantity, readReceipt } from "./receipt.js";
import { EndpointFailure, type RpcAnswer, type RpcEndpoint } from "./rpc-endpoint.js";

export interface ChainView {
  readonly endpoint: string;
  readonly head: BlockHeader;
  /** The chain's finalized block; null where it was not asked for. */
  readonly finalized: BlockHeader | null;
  /** By transaction; null is "in no block"; missing is "no answer". */
  readonly receipts: ReadonlyMap<string, Receipt | null>;
  /** Canonical hash by block number; missing where the node has no such block. */
  readonly canonical: ReadonlyMap<number, string>;
}

const RECEIPTS_AT_A_TIME = 32;

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
      params: [dialect.askedHash(txHash)],
    })),
  ]);
  // Asked each time: what stands behind an address can change.
  const served = readQuantity(resultOf(chain));
  if (served !== chainId) throw new EndpointFailure(`serves chain ${String(served)}`);
  const receipts = new Map<string, Receipt | null>();
  for (const [i, txHash] of txHashes.entries()) {
    // A thousand receipts at once would hold up the orders on this thread.
    if (i % RECEIPTS_AT_A_TIME === 0) await setImmediate();
    const answer = answers[i];
    if (answer?.isAnswered !== true) continue;
    const receipt = readReceipt(answer.result, txHash, dialect);
    // Nonsense about one transaction is no answer about it; the others are not made to wait.
    if (receipt !== undefined) receipts.set(txHash, receipt);
  }
  const blocks = await readBlocks(endpoint, receipts, finality === "finalized");
  return { endpoint: name, receipts, ...blocks };
}

async function readBlocks(
  endpoint: RpcEndpoint,
  receipts: ReadonlyMap<string, Receipt | null>,
  needsFinalized: boolean,
): Promise<Pick<ChainView, "head" | "finalized" | "canonical">> {
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
  // A node that does not know the tag says nothing about finality; the count must be configured.
  if (needsFinalized && !finalized) throw new EndpointFailure("no finalized block");
  const blocks = answers.slice(tags.length);
  const canonical = new Map<number, string>();
  blocks.forEach((answer, i) => {
    if (!answer.isAnswered) return;
    const block = readBlock(answer.result);
    if (block && block.number === numbers[i]) canonical.set(block.number, block.hash);
  });
  return { head, finalized: finalized ?? null, canonical };
}

function resultOf(answer: RpcAnswer | undefined): unknown {
  if (answer?.isAnswered !== true) throw new EndpointFailure(answer?.reason ?? "no answer");
  return answer.result;
}
