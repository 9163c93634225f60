/**
 * A transaction's transfers to the vault: one credit per matching Transfer log of any configured
 * token, or the reason why there is none.
 *
 * A log matches if the configured contract emitted it, with the three topics and 32 bytes of data of
 * an ERC-20 Transfer, to the vault. The sender is the log's `from`. Not credited: zero amounts,
 * amounts below the minimum deposit, transfers of the vault to itself, and mints (from the zero
 * address, which has no owner).
 */

import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Token } from "@perpgate/protocol";
import { hexFromBytes, TOKENS } from "@perpgate/protocol/core";
import type { ChainReceipt, TransactionLog } from "../chain/receipt.js";
import type { ChainConfig } from "../config/chain-config.js";
import type { VoteCredit } from "../vote.js";

type NoCreditReason =
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

/** By precedence: without a matching log, the first of these that occurred is the reason. */
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
  /** The remainder below a micro-dollar, in the token's smallest unit. */
  readonly units: bigint;
}

export type Transfers =
  | { readonly credits: readonly VoteCredit[]; readonly dust: readonly Dust[] }
  | { readonly credits: null; readonly reason: NoCreditReason };

/** The first topic of a log is the hash of the event signature. */
const TRANSFER = hexFromBytes(keccak_256(Buffer.from("Transfer(address,address,uint256)")));
const MICRO_DECIMALS = 6;
const ZERO_ADDRESS = "0".repeat(40);

export function transfersIn(receipt: ChainReceipt, config: ChainConfig): Transfers {
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
    // Too large for the engine; a transaction is never credited in part.
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

/**
 * Whether the transaction has a Transfer of the credited sender at each credited log index, whatever
 * vault and contracts are configured now.
 */
export function hasSameLogs(
  { succeeded, logs }: ChainReceipt,
  credited: readonly { readonly address: string; readonly logIndex: number }[],
): boolean {
  if (!succeeded) return false;
  return credited.every(({ address, logIndex }) => {
    const log = logs.find((each) => each.logIndex === logIndex);
    return log !== undefined && readTransfer(log)?.from === address;
  });
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

/** The last 20 bytes of a topic, if the bytes before them are zero. */
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
  if (from === ZERO_ADDRESS || from === vault) return "no_sender";
  return undefined;
}

/** Rounds down; `rest` is the remainder. */
function toMicros(amount: bigint, decimals: number): { micros: bigint; rest: bigint } {
  if (decimals <= MICRO_DECIMALS) {
    return { micros: amount * 10n ** BigInt(MICRO_DECIMALS - decimals), rest: 0n };
  }
  const unit = 10n ** BigInt(decimals - MICRO_DECIMALS);
  return { micros: amount / unit, rest: amount % unit };
}
