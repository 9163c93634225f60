/** Published deposits that no honest venue shows, and honest ones after a change of keys. */

import type { AttestedDeposit, DepositVote } from "@perpgate/protocol";
import { voteText } from "@perpgate/protocol/core";
import { expect, test } from "vitest";
import { privateKeyFromSeed, publicKeyHex } from "./attestor-key.js";
import { checkPublishedDeposit } from "./published-votes.js";
import { signVote, type Vote } from "./vote.js";

const [A, B, C, D] = ["a1", "b2", "c3", "d4"].map((byte) => privateKeyFromSeed(byte.repeat(32)));
const VENUE = "5e".repeat(32);
const ACCOUNT = "77".repeat(20);

type Keys = readonly (typeof A)[];
const setOf = (keys: Keys, quorum = 2) => ({
  venueId: VENUE,
  members: keys.map((key) => publicKeyHex(key!)),
  quorum,
});
const BEFORE = setOf([A, B, C]);

function published(attestor: number, key: typeof A, changes: Partial<Vote> = {}): DepositVote {
  const vote: Vote = {
    venue: VENUE,
    attestor,
    depositId: 7,
    chain: "ethereum",
    chainId: 1,
    vault: "11".repeat(20),
    tokens: [{ token: "USDC", contract: "22".repeat(20) }],
    txHash: "ab".repeat(32),
    verdict: "credit",
    confirmations: 3,
    required: 3,
    block: null,
    credits: [{ logIndex: 1, token: "USDC", address: ACCOUNT, amountMicros: 5_000_000 }],
    reason: "",
    part: 1,
    parts: 1,
    votedAtMs: 1_000,
    ...changes,
  };
  const { signature } = signVote(vote, key!);
  const { verdict, votedAtMs: votedAt } = vote;
  const text = voteText(vote);
  return { attestor, publicKey: publicKeyHex(key!), verdict, votedAt, text, signature };
}

const SECOND = [
  { logIndex: 101, token: "USDC", address: ACCOUNT, amountMicros: 5_000_000 },
] as const;
const first = (attestor: number, key: typeof A) => published(attestor, key, { parts: 2 });
const second = (attestor: number, key: typeof A) =>
  published(attestor, key, { part: 2, parts: 2, credits: SECOND });

function deposit(votes: DepositVote[], changes: Partial<AttestedDeposit> = {}): AttestedDeposit {
  return {
    depositId: "7",
    chain: "ethereum",
    txHash: `0x${"ab".repeat(32)}`,
    token: "USDC",
    status: "credited",
    confirmations: 3,
    required: 3,
    credits: creditsAt(1),
    reason: null,
    reorged: null,
    reorgSettled: false,
    registeredAt: 1_700_000_000_000,
    settledAt: null,
    votes,
    ...changes,
  };
}

function creditsAt(...logs: readonly number[]): AttestedDeposit["credits"] {
  return logs.map((logIndex) => ({
    account: `0x${ACCOUNT}`,
    token: "USDC",
    amount: 5,
    logIndex,
  }));
}

test("a rejection with one vote listed twice: one of two", async () => {
  const vote = published(0, A, { verdict: "reject", credits: [], reason: "no_transfer" });
  const other = published(1, B, { verdict: "reject", credits: [], reason: "no_transfer" });
  const rejected = (...votes: DepositVote[]) =>
    deposit(votes, { status: "rejected", reason: "no_transfer", credits: [] });
  expect(await checkPublishedDeposit(rejected(vote, vote), BEFORE)).toBe("1 of 2 required votes");
  expect(await checkPublishedDeposit(rejected(vote, other), BEFORE)).toBeNull();
});

test("credited with the first part of two alone: refused, unless a quorum saw it reorganised", async () => {
  const votes = [first(0, A), first(1, B)];
  expect(await checkPublishedDeposit(deposit(votes), BEFORE)).toBe("part 2 of 2 has no quorum");
  const whole = deposit([...votes, second(0, A), second(1, B)], { credits: creditsAt(1, 101) });
  expect(await checkPublishedDeposit(whole, BEFORE)).toBeNull();
  const reason = "transaction_gone";
  const gone = (attestor: number, key: typeof A) =>
    published(attestor, key, { verdict: "reorged", credits: [], reason });
  const reorged = (...more: DepositVote[]) => deposit([...votes, ...more], { reorged: reason });
  expect(await checkPublishedDeposit(reorged(gone(0, A), gone(2, C)), BEFORE)).toBeNull();
  expect(await checkPublishedDeposit(reorged(gone(0, A)), BEFORE)).toBe("1 of 2 required votes");
});

test("credited without credits and votes, or with a reason that needs no votes: refused", async () => {
  expect(await checkPublishedDeposit(deposit([], { credits: [] }), BEFORE)).toBe(
    "0 of 2 required votes",
  );
  const limited = deposit([], { reason: "deposit_limit" });
  expect(await checkPublishedDeposit(limited, BEFORE)).toBe("0 of 2 required votes");
});

test("credits of an open deposit: those of its credited parts", async () => {
  const open = (logs: readonly number[], ...votes: DepositVote[]) =>
    deposit(votes, { status: "confirming", credits: creditsAt(...logs) });
  expect(await checkPublishedDeposit(open([1], first(0, A), first(1, B)), BEFORE)).toBeNull();
  expect(await checkPublishedDeposit(open([1], first(0, A)), BEFORE)).toContain("no quorum");
  expect(await checkPublishedDeposit(open([1, 101], first(0, A), first(1, B)), BEFORE)).toContain(
    "no quorum",
  );
});

test("a key replaced between two parts: each part has a quorum of one set", async () => {
  const after = setOf([A, D, C]);
  const votes = [first(0, A), first(1, B), second(1, D), second(2, C)];
  const honest = deposit(votes, { credits: creditsAt(1, 101) });
  expect(await checkPublishedDeposit(honest, [BEFORE, after])).toBeNull();
  expect(await checkPublishedDeposit(honest, after)).toContain("invalid_signature");
});

test("one vote of each of two sets: no quorum of either", async () => {
  const votes = [published(1, B), published(1, D)];
  const sets = [BEFORE, setOf([A, D, C])];
  expect(await checkPublishedDeposit(deposit(votes), sets)).toBe("1 of 2 required votes");
});
