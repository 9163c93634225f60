import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isWellFormedVoteV1, parseVoteV1, type VoteV1, voteV1Text } from "./vote-v1.js";

const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: digits, maxLength: digits });
const reason = fc.stringMatching(/^[a-z][a-z0-9_]{0,63}$/);
const credits = fc
  .uniqueArray(fc.nat({ max: 1_000_000 }), { minLength: 1, maxLength: 5 })
  .chain((indexes) =>
    fc.tuple(
      ...indexes
        .sort((a, b) => a - b)
        .map((logIndex) =>
          fc.record({
            logIndex: fc.constant(logIndex),
            address: hex(40),
            amountMicros: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
          }),
        ),
    ),
  );

const anyVote: fc.Arbitrary<VoteV1> = fc
  .record({
    venue: fc.stringMatching(/^[A-Za-z0-9._:-]{1,64}$/),
    attestor: fc.nat(),
    depositId: count,
    chain: fc.constantFrom("ethereum" as const, "arbitrum" as const, "tron" as const),
    txHash: hex(64),
    token: fc.constantFrom("USDC" as const, "USDT" as const),
    confirmations: count,
    required: count,
    block: fc.option(fc.record({ number: count, hash: hex(64) })),
    votedAtMs: count,
  })
  .chain((base) =>
    fc.oneof(
      credits.map((list): VoteV1 => ({ ...base, verdict: "credit", credits: list, reason: "" })),
      fc.constant<VoteV1>({ ...base, verdict: "confirming", credits: [], reason: "" }),
      reason.map((why): VoteV1 => ({ ...base, verdict: "reject", credits: [], reason: why })),
      reason.map((why): VoteV1 => ({ ...base, verdict: "reorged", credits: [], reason: why })),
    ),
  );

describe("the text of a vote of format 1", () => {
  test("any vote: there and back", () => {
    fc.assert(
      fc.property(anyVote, (vote) => {
        expect(isWellFormedVoteV1(vote)).toBe(true);
        expect(parseVoteV1(voteV1Text(vote))).toEqual(vote);
      }),
    );
  });

  test("any other text: no vote, or the one vote that it is the text of", () => {
    fc.assert(
      fc.property(anyVote, fc.nat(), fc.string({ maxLength: 3 }), (vote, at, change) => {
        const text = voteV1Text(vote);
        const place = at % text.length;
        const altered = text.slice(0, place) + change + text.slice(place + 1);
        const read = parseVoteV1(altered);
        if (read !== undefined) expect(voteV1Text(read)).toBe(altered);
      }),
    );
  });

  test("a text that goes on and on: refused in no time", () => {
    const credit = `credit 1 ${"ab".repeat(20)} 5\n`;
    const long = voteV1Text({
      venue: "v",
      attestor: 0,
      depositId: 1,
      chain: "tron",
      txHash: "ab".repeat(32),
      token: "USDT",
      verdict: "credit",
      confirmations: 1,
      required: 1,
      block: null,
      credits: [{ logIndex: 1, address: "ab".repeat(20), amountMicros: 5 }],
      reason: "",
      votedAtMs: 1,
    }).replace(credit, credit.repeat(10_000));
    expect(parseVoteV1(long)).toBeUndefined();
    expect(parseVoteV1(long.slice(0, -1))).toBeUndefined();
  });
});
