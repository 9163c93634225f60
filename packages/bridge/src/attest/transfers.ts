/**
 * What a transaction's logs pay into the vault: one credit per matching Transfer log of any
 * configured token, or the reason why there is none.
 *
 * A log counts if a token's exact contract emitted it, with the three topics and 32 bytes of data
 * of an ERC-20 Transfer, to the vault. The sender is the log's `from`. Not counted: transfers of
 * nothing, of less than the smallest deposit (each would cost the venue more than it brings), of the
 * vault to itself (no new money) and out of the zero address (a mint has no owner to credit).
 */

import { keccak_256 } from "@noble/hashes/sha3.js";
import { hexFromBytes, type Token } from "@perpgate/protocol";
import type { Receipt, TransactionLog } from "../chain/receipt.js";
import type { ChainConfig } from "../config/chain-config.js";
import type { VoteCredit } from "../vote.js";

export type NoCreditReason =
  | "transaction_failed"
  | "before_start_block"
  | "amount_too_large"
  | "amount_below_micro"
  | "below_min_deposit"
  | "zero_amount"
  | "no_sender"
  | "not_to_vault"
  | "wrong_contract"
  | "no_transfer";

/** Nearest miss first: with no log that counts, the first of these that occurred is the reason. */
const MISSES: readonly NoCreditReason[] = [
  "below_min_deposit",
  "amount_below_micro",
  "zero_amount",
  "no_sender",
  "not_to_vault",
  "wrong_contract",
  "no_transfer",
];

export interface Dust {
  readonly logIndex: number;
  /** What the floor to a micro-dollar left out, in the token's smallest unit. */
  readonly units: bigint;
}

export type Transfers =
  | { readonly credits: readonly VoteCredit[]; readonly dust: readonly Dust[] }
  | { readonly credits: null; readonly reason: NoCreditReason };

/** A log's first topic is the hash of its event's signature. */
const TRANSFER = hexFromBytes(keccak_256(Buffer.from("Transfer(address,address,uint256)")));
const TOKENS: readonly Token[] = ["USDC", "USDT"];
const MICRO_DECIMALS = 6;
const NOBODY = "0".repeat(40);

export function transfersIn(receipt: Receipt, config: ChainConfig): Transfers {
  const refuse = (reason: NoCreditReason): Transfers => ({ credits: null, reason });
  if (receipt.blockNumber < config.startBlock) return refuse("before_start_block");
  if (!receipt.succeeded) return refuse("transaction_failed");
  const credits: VoteCredit[] = [];
  const dust: Dust[] = [];
  const misses = new Set<NoCreditReason>(["no_transfer"]);
  for (const log of receipt.logs) {
    const transfer = readTransfer(log);
    if (transfer === undefined) continue;
    const paid = TOKENS.find((token) => config.tokens[token]?.contract === log.address);
    const miss = missOf(paid, transfer, config);
    if (miss !== undefined || paid === undefined) {
      misses.add(miss ?? "no_transfer");
      continue;
    }
    const { micros, rest } = toMicros(transfer.amount, config.tokens[paid]?.decimals ?? 0);
    if (rest > 0n) dust.push({ logIndex: log.logIndex, units: rest });
    if (micros === 0n) {
      misses.add("amount_below_micro");
      continue;
    }
    if (micros < BigInt(config.minDepositMicros)) {
      misses.add("below_min_deposit");
      continue;
    }
    // No figure of the venue can hold it; half a transaction is never credited.
    if (micros > BigInt(Number.MAX_SAFE_INTEGER)) return refuse("amount_too_large");
    credits.push({
      logIndex: log.logIndex,
      token: paid,
      address: transfer.from,
      amountMicros: Number(micros),
    });
  }
  if (credits.length > 0) return { credits, dust };
  return refuse(MISSES.find((reason) => misses.has(reason)) ?? "no_transfer");
}

interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

function readTransfer({ topics, data }: TransactionLog): Transfer | undefined {
  const [event, from, to] = topics;
  if (event !== TRANSFER || topics.length !== 3 || data.length !== 64) return undefined;
  const sender = addressIn(from);
  const receiver = addressIn(to);
  if (sender === undefined || receiver === undefined) return undefined;
  return { from: sender, to: receiver, amount: BigInt(`0x${data}`) };
}

/** The 20 bytes at the end of a topic, if nothing stands before them. */
function addressIn(topic: string | undefined): string | undefined {
  return topic?.startsWith("0".repeat(24)) ? topic.slice(24) : undefined;
}

function missOf(
  paid: Token | undefined,
  { from, to, amount }: Transfer,
  { vault }: ChainConfig,
): NoCreditReason | undefined {
  if (paid === undefined) return to === vault ? "wrong_contract" : "no_transfer";
  if (to !== vault) return "not_to_vault";
  if (amount === 0n) return "zero_amount";
  if (from === NOBODY || from === vault) return "no_sender";
  return undefined;
}

/** Rounds down, against the depositor, and says what was left out. */
function toMicros(amount: bigint, decimals: number): { micros: bigint; rest: bigint } {
  if (decimals <= MICRO_DECIMALS) {
    return { micros: amount * 10n ** BigInt(MICRO_DECIMALS - decimals), rest: 0n };
  }
  const unit = 10n ** BigInt(decimals - MICRO_DECIMALS);
  return { micros: amount / unit, rest: amount % unit };
}
