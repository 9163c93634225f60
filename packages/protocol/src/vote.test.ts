import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_VOTE_TEXT } from "./bridge.js";
import { isSameScope, MAX_CREDITS_PER_VOTE, type Vote } from "./vote.js";
import { isWellFormedVote, parseAnyVote, parseVote, voteText } from "./vote-text.js";

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
            token: fc.constantFrom("USDC" as const, "USDT" as const),
            address: hex(40),
            amountMicros: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
          }),
        ),
    ),
  );

const WHOLE = { part: 1, parts: 1 } as const;

const anyVote: fc.Arbitrary<Vote> = fc
  .record({
    venue: hex(64),
    attestor: fc.nat(),
    depositId: count,
    chain: fc.constantFrom("ethereum" as const, "arbitrum" as const, "tron" as const),
    txHash: hex(64),
    chainId: count,
    vault: hex(40),
    tokens: fc.tuple(hex(40), hex(40)).map(([usdc, usdt]) => [
      { token: "USDC" as const, contract: usdc },
      { token: "USDT" as const, contract: usdt },
    ]),
    confirmations: count,
    required: count,
    block: fc.option(fc.record({ number: count, hash: hex(64) })),
    votedAtMs: count,
  })
  .chain((base) =>
    fc.oneof(
      fc.tuple(credits, fc.integer({ min: 1, max: 500 }), fc.integer({ min: 0, max: 500 })).map(
        ([list, part, more]): Vote => ({
          ...base,
          verdict: "credit",
          credits: list,
          reason: "",
          part,
          parts: part + more,
        }),
      ),
      fc.constant<Vote>({ ...base, ...WHOLE, verdict: "confirming", credits: [], reason: "" }),
      reason.map(
        (why): Vote => ({ ...base, ...WHOLE, verdict: "reject", credits: [], reason: why }),
      ),
      reason.map(
        (why): Vote => ({ ...base, ...WHOLE, verdict: "reorged", credits: [], reason: why }),
      ),
    ),
  );

describe("a vote's text", () => {
  test("any vote: there and back", () => {
    fc.assert(
      fc.property(anyVote, (vote) => {
        expect(isWellFormedVote(vote)).toBe(true);
        expect(parseVote(voteText(vote))).toEqual(vote);
      }),
    );
  });

  test("any other text: no vote, or the one vote that it is the text of", () => {
    fc.assert(
      fc.property(anyVote, fc.nat(), fc.string({ maxLength: 3 }), (vote, at, change) => {
        const text = voteText(vote);
        const place = at % text.length;
        const altered = text.slice(0, place) + change + text.slice(place + 1);
        const read = parseVote(altered);
        if (read !== undefined) expect(voteText(read)).toBe(altered);
      }),
    );
  });

  test("a text that goes on and on: refused in no time", () => {
    const credit = `credit 1 USDT ${"ab".repeat(20)} 5\n`;
    const long = voteText(creditOf(1)).replace(credit, credit.repeat(10_000));
    expect(long.length).toBeGreaterThan(500_000);
    expect(parseVote(long)).toBeUndefined();
    expect(parseVote(long.slice(0, -1))).toBeUndefined();
  });

  test("the longest vote: fits what a request may hold; a longer one is none", () => {
    const most = creditOf(MAX_CREDITS_PER_VOTE);
    expect(voteText(most).length).toBeLessThan(MAX_VOTE_TEXT);
    expect(isWellFormedVote(creditOf(MAX_CREDITS_PER_VOTE + 1))).toBe(false);
  });

  test("format 1: read as such, never as a vote of today", () => {
    const text =
      "perpgate deposit vote v1\nvenue perpgate-testnet\nattestor 0\ndeposit 7\n" +
      `transaction ethereum ${"ab".repeat(32)}\ntoken USDC\nverdict credit\n` +
      `confirmations 64 of 64\nblock -\ncredit 3 ${"cd".repeat(20)} 1500000\nreason -\ntime 5\n`;
    expect(parseVote(text)).toBeUndefined();
    expect(parseAnyVote(text)).toMatchObject({ format: 1, vote: { token: "USDC", depositId: 7 } });
  });
});

test.each<[string, Partial<Vote>]>([
  ["venue", { venue: "99".repeat(32) }],
  ["chain id", { chainId: 11_155_111 }],
  ["vault", { vault: "99".repeat(20) }],
  ["contract", { tokens: [{ token: "USDT", contract: "99".repeat(20) }] }],
])("scope: another %s is another scope, and another text", (_, change) => {
  const vote = creditOf(1);
  expect(isSameScope(vote, { ...vote })).toBe(true);
  expect(isSameScope(vote, { ...vote, ...change })).toBe(false);
  expect(voteText({ ...vote, ...change })).not.toBe(voteText(vote));
});

/** A vote to credit so many logs, with figures as long as they get. */
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
