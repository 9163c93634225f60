import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_VOTE_TEXT } from "./attestor-requests.js";
import { isSameScope, MAX_CREDITS_PER_VOTE, type Vote } from "./vote.js";
import { isWellFormedVote, parseVote, voteText } from "./vote-text.js";

const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: digits, maxLength: digits });
const token = fc.constantFrom("USDC" as const, "USDT" as const);
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
            token,
            address: hex(40),
            amountMicros: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
          }),
        ),
    ),
  );
const fields = fc.record({
  attestor: fc.nat(),
  depositId: count,
  chain: fc.constantFrom("ethereum" as const, "arbitrum" as const, "tron" as const),
  txHash: hex(64),
  confirmations: count,
  required: count,
  block: fc.option(fc.record({ number: count, hash: hex(64) })),
  votedAtMs: count,
});
const otherVerdicts = fc.oneof(
  fc.constant({ verdict: "confirming" as const, credits: [], reason: "" }),
  reason.map((why) => ({ verdict: "reject" as const, credits: [], reason: why })),
  reason.map((why) => ({ verdict: "reorged" as const, credits: [], reason: why })),
);

const anyVote: fc.Arbitrary<Vote> = fc
  .tuple(
    fields,
    fc.record({ venue: hex(64), chainId: count, vault: hex(40) }),
    fc.tuple(hex(40), hex(40)),
    fc.oneof(
      fc
        .tuple(credits, fc.integer({ min: 1, max: 500 }), fc.integer({ min: 0, max: 500 }))
        .map(([list, part, more]) => {
          const statement = { verdict: "credit" as const, credits: list, reason: "" };
          return { ...statement, part, parts: part + more };
        }),
      otherVerdicts.map((statement) => ({ ...statement, part: 1, parts: 1 })),
    ),
  )
  .map(([own, scope, [usdc, usdt], statement]) => ({
    ...own,
    ...scope,
    ...statement,
    tokens: [
      { token: "USDC", contract: usdc },
      { token: "USDT", contract: usdt },
    ],
  }));

describe("the text of a vote", () => {
  test("any vote: parses back to itself", () => {
    fc.assert(
      fc.property(anyVote, (vote) => {
        expect(isWellFormedVote(vote)).toBe(true);
        expect(parseVote(voteText(vote))).toEqual(vote);
      }),
    );
  });

  test("any changed text: rejected, or the text of exactly one vote", () => {
    fc.assert(
      fc.property(anyVote, fc.nat(), fc.string({ maxLength: 3 }), (vote, at, change) => {
        const whole = voteText(vote);
        const place = at % whole.length;
        const text = whole.slice(0, place) + change + whole.slice(place + 1);
        const read = parseVote(text);
        if (read !== undefined) expect(voteText(read)).toBe(text);
      }),
    );
  });

  test("ten thousand credits: rejected quickly", () => {
    const credit = `credit 1 USDT ${"ab".repeat(20)} 5\n`;
    const long = voteText(creditOf(1)).replace(credit, credit.repeat(10_000));
    expect(long.length).toBeGreaterThan(500_000);
    expect(parseVote(long)).toBeUndefined();
    expect(parseVote(long.slice(0, -1))).toBeUndefined();
  });

  test("the longest vote: fits a request; a longer one is malformed", () => {
    const most = creditOf(MAX_CREDITS_PER_VOTE);
    expect(voteText(most).length).toBeLessThan(MAX_VOTE_TEXT);
    expect(isWellFormedVote(creditOf(MAX_CREDITS_PER_VOTE + 1))).toBe(false);
  });
});

test.each<[string, Partial<Vote>]>([
  ["venue", { venue: "99".repeat(32) }],
  ["chain id", { chainId: 11_155_111 }],
  ["vault", { vault: "99".repeat(20) }],
  ["contract", { tokens: [{ token: "USDT", contract: "99".repeat(20) }] }],
])("scope: another %s makes another scope and another text", (_, change) => {
  const vote = creditOf(1);
  expect(isSameScope(vote, { ...vote })).toBe(true);
  expect(isSameScope(vote, { ...vote, ...change })).toBe(false);
  expect(voteText({ ...vote, ...change })).not.toBe(voteText(vote));
});

/** A vote that credits this number of logs; several have the longest numbers there are. */
function creditOf(logs: number): Vote {
  return {
    venue: "ab".repeat(32),
    attestor: 0,
    depositId: 1,
    chain: "tron",
    chainId: 728_126_428,
    txHash: "ab".repeat(32),
    vault: "ef".repeat(20),
    tokens: [{ token: "USDT", contract: "cd".repeat(20) }],
    verdict: "credit",
    confirmations: 1,
    required: 1,
    block: null,
    credits: Array.from({ length: logs }, (_, i) => ({
      logIndex: logs === 1 ? 1 : Number.MAX_SAFE_INTEGER - logs + i,
      token: "USDT",
      address: "ab".repeat(20),
      amountMicros: logs === 1 ? 5 : Number.MAX_SAFE_INTEGER,
    })),
    reason: "",
    part: 1,
    parts: 1,
    votedAtMs: 1,
  };
}
