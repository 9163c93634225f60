import { expect, test } from "vitest";
import { readLeaf } from "../blocks/acknowledgement-leaf.js";
import { isWithdrawalLeaf, readWithdrawalLeaf } from "./withdrawal-leaf.js";

/** Kind, withdrawal, account, address, chain id, token, amount, deadline, session, nonce, block. */
const WORDS: readonly number[] = [
  ...[58, 10, 2, 0xab_cd_ef_01_23, 0, 0x11, 0xff_ff_ff_ff_ff, 42_161],
  // "USDC" in base 65, the first character lowest.
  ...[21 + 65 * (19 + 65 * (4 + 65 * 3)), 0],
  ...[40_000_000, 1_800_000_000_000, 5, 41, 7],
];

function bytesOf(words: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(words).buffer);
}

test("the leaf of a withdrawal: its fields by name", () => {
  expect(readWithdrawalLeaf(bytesOf(WORDS))).toEqual({
    withdrawalId: 10,
    account: 2,
    address: "abcdef012300000000000000000011ffffffffff",
    chainId: 42_161,
    token: "USDC",
    amountMicros: 40_000_000,
    deadlineMs: 1_800_000_000_000,
    session: 5,
    nonce: 41,
    block: 7,
  });
});

test("the leaf of a withdrawal is none of an order, and other bytes are none of a withdrawal", () => {
  const bytes = bytesOf(WORDS);
  expect(readLeaf(bytes)).toBeUndefined();
  expect(isWithdrawalLeaf(bytes)).toBe(true);
  const changed = (at: number, word: number) => readWithdrawalLeaf(bytesOf(WORDS.with(at, word)));
  expect(changed(0, 18)).toBeUndefined();
  expect(changed(1, 0.5)).toBeUndefined();
  expect(changed(10, -1)).toBeUndefined();
  expect(changed(3, 2 ** 40)).toBeUndefined();
  expect(changed(8, 0)).toBeUndefined();
  expect(readWithdrawalLeaf(bytes.subarray(8))).toBeUndefined();
  expect(readWithdrawalLeaf(bytesOf([...WORDS, 0]))).toBeUndefined();
});
