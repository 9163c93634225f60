/**
 * What an attestor says that a vault holds of a token at a finalized block, as ASCII lines, signed with its Ed25519
 * key. Each statement has exactly one text: `parseHoldings` returns undefined for any other.
 */

import { CHAINS, TOKENS } from "../markets/wire-names.js";
import { isCount } from "../numbers/integers.js";
import type { Chain, Token } from "./deposit.js";
import type { VoteBlock } from "./vote.js";
import { isAddress, isHash, wordOf } from "./vote-fields.js";

export interface Holdings {
  /** SHA-256 of the record that holds Genesis, 64 lower-case hex digits. */
  readonly venue: string;
  readonly attestor: number;
  readonly chain: Chain;
  readonly chainId: number;
  /** Addresses: 40 lower-case hex digits. */
  readonly vault: string;
  readonly token: Token;
  readonly contract: string;
  readonly decimals: number;
  /** In the token's smallest units. */
  readonly amount: bigint;
  /** Finalized. */
  readonly block: VoteBlock;
  /** Unix milliseconds by the attestor's clock. */
  readonly statedAtMs: number;
}

export const HOLDINGS_FORMAT = "perpgate vault holdings v1";
const MAX_DECIMALS = 24;

/** @throws RangeError for a malformed statement. */
export function holdingsText(stated: Holdings): string {
  if (!isWellFormed(stated)) throw new RangeError("malformed statement of holdings");
  const { block } = stated;
  const lines = [
    HOLDINGS_FORMAT,
    `venue ${stated.venue}`,
    `attestor ${stated.attestor}`,
    `vault ${stated.chain} ${stated.chainId} ${stated.vault}`,
    `token ${stated.token} ${stated.contract} ${stated.decimals}`,
    `amount ${stated.amount}`,
    `block ${block.number} ${block.hash}`,
    `time ${stated.statedAtMs}`,
  ];
  return `${lines.join("\n")}\n`;
}

const SHAPE = new RegExp(
  `^${HOLDINGS_FORMAT}\\nvenue ([0-9a-f]{64})\\nattestor (\\d{1,16})\\n` +
    "vault (ethereum|arbitrum|tron) (\\d{1,16}) ([0-9a-f]{40})\\n" +
    "token (USDC|USDT) ([0-9a-f]{40}) (\\d{1,2})\\namount (\\d{1,39})\\n" +
    "block (\\d{1,16}) ([0-9a-f]{64})\\ntime (\\d{1,16})\\n$",
);

/** The statement that has exactly this text, or undefined. */
export function parseHoldings(text: string): Holdings | undefined {
  const found = SHAPE.exec(text);
  if (found === null) return undefined;
  const [, venue = "", attestor, chain, chainId, vault = "", ...rest] = found;
  const [token, contract = "", decimals, amount = "", number, hash = "", time] = rest;
  const stated: Holdings = {
    venue,
    attestor: Number(attestor),
    chain: wordOf(CHAINS, chain),
    chainId: Number(chainId),
    vault,
    token: wordOf(TOKENS, token),
    contract,
    decimals: Number(decimals),
    amount: BigInt(amount),
    block: { number: Number(number), hash },
    statedAtMs: Number(time),
  };
  // Rejects leading zeros and numbers beyond 2^53.
  return isWellFormed(stated) && holdingsText(stated) === text ? stated : undefined;
}

/** Whole micro-dollars of an amount in smallest units; undefined for a token without micro-dollars. */
export function microsOfUnits(amount: bigint, decimals: number): number | undefined {
  if (decimals < 6 || decimals > MAX_DECIMALS) return undefined;
  const micros = Number(amount / 10n ** BigInt(decimals - 6));
  return Number.isSafeInteger(micros) ? micros : undefined;
}

function isWellFormed(stated: Holdings): boolean {
  const { block, decimals, amount } = stated;
  const counts = [stated.attestor, stated.chainId, decimals, block.number, stated.statedAtMs];
  return (
    counts.every(isCount) &&
    decimals <= MAX_DECIMALS &&
    [stated.vault, stated.contract].every(isAddress) &&
    [stated.venue, block.hash].every(isHash) &&
    amount >= 0n &&
    amount >> 128n === 0n
  );
}
