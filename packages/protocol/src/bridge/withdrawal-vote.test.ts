import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  parseWithdrawalVote,
  unitsOfMicros,
  type WithdrawalVote,
  withdrawalVoteText,
} from "./withdrawal-vote.js";

const SIGNED: WithdrawalVote = {
  venue: "01".repeat(32),
  attestor: 2,
  withdrawalId: 48_213,
  chain: "ethereum",
  chainId: 1,
  vault: "ab".repeat(20),
  token: "USDC",
  contract: "cd".repeat(20),
  decimals: 6,
  account: "ef".repeat(20),
  amount: 100_000_000n,
  deadline: 1_800_086_400,
  verdict: "signed",
  block: null,
  txHash: "",
  vaultSignature: "12".repeat(65),
  votedAtMs: 1_800_000_000_000,
};
const PAID: WithdrawalVote = {
  ...SIGNED,
  verdict: "paid",
  block: { number: 7, hash: "34".repeat(32) },
  txHash: "56".repeat(32),
  vaultSignature: "",
};

describe("the text of a vote on a withdrawal", () => {
  test("is read back as it was, for each verdict", () => {
    const unpaid: WithdrawalVote = { ...PAID, verdict: "unpaid", txHash: "" };
    for (const vote of [SIGNED, PAID, { ...PAID, verdict: "pending" } as const, unpaid]) {
      expect(parseWithdrawalVote(withdrawalVoteText(vote))).toEqual(vote);
    }
    expect(withdrawalVoteText(PAID).split("\n").slice(0, 6)).toEqual([
      "perpgate withdrawal vote v1",
      `venue ${PAID.venue}`,
      "attestor 2",
      "withdrawal 48213",
      `vault ethereum 1 ${PAID.vault}`,
      `token USDC ${PAID.contract} 6`,
    ]);
  });

  test("is refused where a field does not belong to the verdict, or is out of bounds", () => {
    const wrong: Partial<WithdrawalVote>[] = [
      { verdict: "signed", block: null, txHash: "" },
      { block: null },
      { txHash: "" },
      { vaultSignature: SIGNED.vaultSignature },
      { amount: 0n },
      { amount: 1n << 128n },
      { decimals: 25 },
      { withdrawalId: 2 ** 53 },
    ];
    for (const changes of wrong) {
      expect(
        () => withdrawalVoteText({ ...PAID, ...changes }),
        JSON.stringify(Object.keys(changes)),
      ).toThrow(RangeError);
    }
  });

  test("any other text is none: one changed byte never gives the same vote", () => {
    const text = withdrawalVoteText(PAID);
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.integer({ min: 10, max: 126 }), (at, code) => {
        const changed = text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
        const vote = parseWithdrawalVote(changed);
        if (vote === undefined || changed === text) return;
        expect(withdrawalVoteText(vote)).toBe(changed);
        expect(vote).not.toEqual(PAID);
      }),
    );
    for (const other of [text.trimEnd(), `${text}\n`, text.replace("attestor 2", "attestor 02")]) {
      expect(parseWithdrawalVote(other)).toBeUndefined();
    }
  });

  test("units: a token holds micro-dollars, or is refused", () => {
    expect(unitsOfMicros(1_500_000, 6)).toBe(1_500_000n);
    expect(unitsOfMicros(1_500_000, 18)).toBe(1_500_000n * 10n ** 12n);
    expect(unitsOfMicros(1, 5)).toBeUndefined();
  });
});
