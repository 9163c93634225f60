/** Which logs a further part of a deposit credits, if its block or the terms have changed since the last. */
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { OwnVote, PendingDeposit } from "@perpgate/protocol";
import { hexFromBytes } from "@perpgate/protocol/core";
import { expect, test } from "vitest";
import type { ChainReceipt } from "../chain/receipt.js";
import { type ChainConfig, resolveChain } from "../config/chain-config.js";
import type { VoteCredit } from "../vote.js";
import { judgeTransaction } from "./judge.js";

const TRANSFER = hexFromBytes(keccak_256(Buffer.from("Transfer(address,address,uint256)")));
const VAULT = "a".repeat(40);
const USDC = "b".repeat(40);
const COUNT = 150;
const PART = 100;

function config(minDeposit = 1): ChainConfig {
  return resolveChain("ethereum", {
    rpc: ["http://127.0.0.1:1"],
    vault: `0x${VAULT}`,
    tokens: { USDC: { contract: `0x${USDC}` } },
    minDeposit,
  });
}

/** Every transfer from another sender, of one and two dollars in turn. */
function receiptAt(firstLog: number, blockHash: string): ChainReceipt {
  const word = (value: string) => value.padStart(64, "0");
  return {
    succeeded: true,
    blockNumber: 10_000,
    blockHash,
    logs: Array.from({ length: COUNT }, (_, at) => ({
      address: USDC,
      topics: [TRANSFER, word((at + 1).toString(16)), word(VAULT)],
      data: word(((1 + (at % 2)) * 1e6).toString(16)),
      logIndex: firstLog + at,
    })),
  };
}

function creditsIn(deposit: PendingDeposit, receipt: ChainReceipt, terms: ChainConfig) {
  const agreement = { kind: "mined", receipt, confirmations: 1_000, headTimeMs: 2_000 } as const;
  return judgeTransaction(deposit, agreement, terms)?.statement.credits;
}

function pending(given: Partial<PendingDeposit>): PendingDeposit {
  const base = { depositId: 1, txHash: "c".repeat(64), account: 1, registeredAtMs: 1_000 };
  return { ...base, status: "confirming", creditedParts: 0, ownVote: null, ...given };
}

/** The deposit after its first part, which this attestor has voted for. */
function partlyCredited(): { deposit: PendingDeposit; first: readonly VoteCredit[] } {
  const first = creditsIn(pending({}), receiptAt(0, "d".repeat(64)), config()) ?? [];
  expect(first).toHaveLength(PART);
  const ownVote: OwnVote = {
    ...{ verdict: "credit", reason: "", credits: first, part: 1, parts: 2 },
    ...{ confirmations: 64, required: 64 },
  };
  const lastCreditedLog = first.at(-1)?.logIndex ?? 0;
  return { deposit: pending({ creditedParts: 1, lastCreditedLog, ownVote }), first };
}

test.each([200, 50])(
  "the transaction has moved, its logs begin at %i: no transfer is credited again",
  (firstLog) => {
    const { deposit, first } = partlyCredited();
    const moved = receiptAt(firstLog, "e".repeat(64));
    const second = creditsIn(deposit, moved, config()) ?? [];
    expect(second).toHaveLength(COUNT - PART);
    const senders = new Set([...first, ...second].map(({ address }) => address));
    expect(senders.size).toBe(COUNT);
    // With other terms, or without the own vote, nobody can say which were credited.
    expect(creditsIn(deposit, moved, config(2))).toBeUndefined();
    expect(creditsIn({ ...deposit, ownVote: null }, moved, config())).toBeUndefined();
  },
);

test("other terms in the same block: the later logs that qualify", () => {
  const { deposit } = partlyCredited();
  const second = creditsIn(deposit, receiptAt(0, "d".repeat(64)), config(2)) ?? [];
  expect(second.map(({ logIndex }) => logIndex)).toEqual(
    Array.from({ length: 25 }, (_, at) => PART + 1 + 2 * at),
  );
});
