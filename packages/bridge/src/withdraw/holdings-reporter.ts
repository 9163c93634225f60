/**
 * One attestor's statements of what a vault holds: the balance of each token at the newest block that is finalized
 * for all its endpoints that answer, stated only if at least `minAgreeing` of them have the same block and balances.
 *
 * A chain that counts confirmations, such as Tron, answers calls at its newest block alone. There the balances must
 * be the same, and the block is the oldest of those.
 */

import { type KeyObject, sign } from "node:crypto";
import { type Holdings, hexFromBytes, holdingsText } from "@perpgate/protocol/core";
import { encodeFunctionData, erc20Abi, hexToBigInt, isHex, numberToHex, size } from "viem";
import type { EndpointPool } from "../chain/endpoint-pool.js";
import { type ChainBlock, readBlock, readQuantity } from "../chain/receipt.js";
import { EndpointFailure, type RpcEndpoint, type RpcResult } from "../chain/rpc-endpoint.js";
import type { ChainConfig } from "../config/chain-config.js";
import type { WithdrawalPort } from "./withdrawal-port.js";

const EVERY_MS = 60_000;
const WORD_BYTES = 32;

interface FinalView {
  readonly endpoint: string;
  readonly head: ChainBlock;
}

interface BalanceView extends FinalView {
  readonly amounts: readonly bigint[];
}

interface Parts {
  readonly attestor: { readonly index: number; readonly privateKey: KeyObject };
  readonly chain: ChainConfig;
  readonly port: Pick<WithdrawalPort, "submitHoldings">;
  readonly clock: () => number;
}

export class HoldingsReporter {
  private statedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly parts: Parts,
    private readonly pool: EndpointPool,
  ) {}

  /** Once a minute. Returns why nothing was stated; null if it was, or was not due. */
  async report(venue: string): Promise<string | null> {
    const { chain, port, clock } = this.parts;
    if (clock() < this.statedAtMs + EVERY_MS) return null;
    const agreed = await this.agreed();
    if (typeof agreed === "string") return agreed;
    const { head, amounts } = agreed;
    const block = { number: head.number, hash: head.hash };
    const statedAtMs = clock();
    const { chainId, vault, tokens } = chain;
    const statements = Object.entries(tokens).flatMap(([name, { contract, decimals }], i) => {
      const amount = amounts[i];
      if (amount === undefined || (name !== "USDC" && name !== "USDT")) return [];
      const of = { venue, attestor: this.parts.attestor.index, chain: chain.chain, chainId, vault };
      return [this.signed({ ...of, token: name, contract, decimals, amount, block, statedAtMs })];
    });
    const refusals = await port.submitHoldings(statements);
    this.statedAtMs = statedAtMs;
    return refusals.find((refusal) => refusal !== null) ?? null;
  }

  private async agreed(): Promise<BalanceView | string> {
    const { chain } = this.parts;
    const few = (count: number) =>
      `${count} endpoints know the block of the balances, and ${chain.minAgreeing} must agree`;
    if (chain.finality === "confirmations") {
      const views = await this.pool.ask((source, name) => readBalances(source, name, chain, null));
      const [first] = views;
      if (first === undefined || views.length < chain.minAgreeing) return few(views.length);
      if (!views.every((view) => hasSameAmounts(view, first))) return DIFFERING;
      return views.reduce((oldest, view) =>
        view.head.number < oldest.head.number ? view : oldest,
      );
    }
    const finals = await this.pool.ask((source, name) => readFinal(source, name, chain));
    if (finals.length < chain.minAgreeing) return few(finals.length);
    const lowest = Math.min(...finals.map(({ head }) => head.number));
    const views = await this.pool.ask((source, name) => readBalances(source, name, chain, lowest));
    const [first] = views;
    if (first === undefined || views.length < chain.minAgreeing) return few(views.length);
    const isSame = ({ head, amounts }: BalanceView): boolean =>
      head.hash === first.head.hash && hasSameAmounts({ amounts }, first);
    return views.every(isSame) ? first : DIFFERING;
  }

  private signed(stated: Holdings): { readonly text: string; readonly signature: string } {
    const text = holdingsText(stated);
    const signature = sign(null, Buffer.from(text, "latin1"), this.parts.attestor.privateKey);
    return { text, signature: hexFromBytes(signature) };
  }
}

const DIFFERING = "endpoints differ on what the vault holds";

function hasSameAmounts(
  { amounts }: Pick<BalanceView, "amounts">,
  other: Pick<BalanceView, "amounts">,
): boolean {
  return amounts.every((each, i) => each === other.amounts[i]);
}

async function readFinal(
  source: RpcEndpoint,
  endpoint: string,
  { chainId }: ChainConfig,
): Promise<FinalView> {
  const [served, final] = await source.call([
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockByNumber", params: ["finalized", false] },
  ]);
  const at = readQuantity(resultOf(served));
  if (at !== chainId) throw new EndpointFailure(`serves chain ${String(at)}`);
  const head = readBlock(resultOf(final));
  if (!head) throw new EndpointFailure("no finalized block");
  return { endpoint, head };
}

/** `number` null: at the newest block. */
async function readBalances(
  source: RpcEndpoint,
  endpoint: string,
  { chainId, vault, tokens }: ChainConfig,
  number: number | null,
): Promise<BalanceView> {
  const block = number === null ? "latest" : numberToHex(number);
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [`0x${vault}`],
  });
  const [served, at, ...answers] = await source.call([
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockByNumber", params: [block, false] },
    ...Object.values(tokens).map(({ contract }) => ({
      method: "eth_call",
      params: [{ to: `0x${contract}`, data }, block],
    })),
  ]);
  const serves = readQuantity(resultOf(served));
  if (serves !== chainId) throw new EndpointFailure(`serves chain ${String(serves)}`);
  const head = readBlock(resultOf(at));
  if (!head) throw new EndpointFailure("the block of the balances is missing");
  return { endpoint, head, amounts: answers.map(amountIn) };
}

function amountIn(answer: RpcResult): bigint {
  const result = resultOf(answer);
  if (!isHex(result) || size(result) !== WORD_BYTES) {
    throw new EndpointFailure("a token has no balance there");
  }
  return hexToBigInt(result);
}

function resultOf(answer: RpcResult | undefined): unknown {
  if (answer?.isAnswered !== true) throw new EndpointFailure(answer?.reason ?? "no response");
  return answer.result;
}
