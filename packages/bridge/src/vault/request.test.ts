/** The request of a payment from votes that anyone may have written. */

import { type WithdrawalVote, withdrawalVoteText } from "@perpgate/protocol/core";
import { type Address, concatHex, type Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { requestOfVotes } from "./request.js";
import { signWithdrawal, type VaultDomain } from "./typed-data.js";

const DOMAIN: VaultDomain = {
  venueId: `0x${"5e".repeat(32)}`,
  chainId: 1,
  vault: `0x${"aa".repeat(20)}`,
};
const KEYS: readonly Hex[] = ["11", "22", "33"].map((byte): Hex => `0x${byte.repeat(32)}`);
/** As the vault has them, ascending. */
const SIGNERS = KEYS.map((key) => ({ key, address: privateKeyToAddress(key) })).sort((a, b) =>
  BigInt(a.address) < BigInt(b.address) ? -1 : 1,
);
const GROUP = { members: SIGNERS.map(({ address }): Address => address), quorum: 2 };
const STRANGER: Hex = `0x${"66".repeat(32)}`;

const VOTE: WithdrawalVote = {
  venue: "5e".repeat(32),
  attestor: 0,
  withdrawalId: 48_213,
  chain: "ethereum",
  chainId: 1,
  vault: "aa".repeat(20),
  token: "USDC",
  contract: "bb".repeat(20),
  decimals: 6,
  account: "cc".repeat(20),
  amount: 25_000_000n,
  deadline: 1_800_086_400,
  verdict: "signed",
  block: null,
  txHash: "",
  vaultSignature: "",
  votedAtMs: 1_800_000_000_000,
};

async function vote(key: Hex, changes: Partial<WithdrawalVote> = {}) {
  const said = { ...VOTE, ...changes };
  const data = {
    token: `0x${said.contract}`,
    account: `0x${said.account}`,
    amount: said.amount,
    id: BigInt(said.withdrawalId),
    deadline: BigInt(said.deadline),
  } as const;
  const domain: VaultDomain = {
    venueId: `0x${said.venue}`,
    chainId: said.chainId,
    vault: `0x${said.vault}`,
  };
  const vaultSignature = (await signWithdrawal(domain, data, key)).slice(2);
  return { text: withdrawalVoteText({ ...said, vaultSignature, ...changes }) };
}

const [A, B, C] = SIGNERS.map(({ key }) => key) as [Hex, Hex, Hex];

test("a quorum in any order: exactly two signatures, ascending signers", async () => {
  const [a, b, c] = await Promise.all([
    vote(A),
    vote(B, { attestor: 1 }),
    vote(C, { attestor: 2 }),
  ]);
  const both = concatHex([signatureIn(a), signatureIn(b)]);
  for (const votes of [
    [c, b, a],
    [b, a],
    [a, a, b],
  ]) {
    expect(await requestOfVotes({ votes }, DOMAIN, GROUP)).toMatchObject({
      withdrawal: { id: 48_213n, amount: 25_000_000n, account: `0x${"cc".repeat(20)}` },
      signatures: both,
    });
  }
});

function signatureIn({ text }: { readonly text: string }): Hex {
  return `0x${/signature ([0-9a-f]{130})/.exec(text)?.[1] ?? ""}`;
}

describe("a vote that does not count spoils no others, and completes no quorum", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["a member's second", () => vote(A, { votedAtMs: 1_800_000_000_001 })],
    ["a stranger's", () => vote(STRANGER, { attestor: 1 })],
    ["noise for a signature", () => vote(B, { vaultSignature: "ab".repeat(65) })],
    ["over another amount", () => vote(B, { amount: 26_000_000n })],
    ["over another account", () => vote(B, { account: "66".repeat(20) })],
    ["another venue's", () => vote(B, { venue: "66".repeat(32) })],
    ["another chain's", () => vote(B, { chainId: 5 })],
    ["another vault's", () => vote(B, { vault: "66".repeat(20) })],
    ["no text of a vote", async () => ({ text: "x" })],
    ["nothing", async () => null],
  ])("%s", async (_, make) => {
    const votes = [await make(), await vote(A)];
    expect(await requestOfVotes({ votes }, DOMAIN, GROUP)).toBe(
      "1 of 2 attestors of the vault have signed",
    );
    expect(
      await requestOfVotes({ votes: [...votes, await vote(C)] }, DOMAIN, GROUP),
    ).toHaveProperty("signatures");
  });

  test("other things, and too many votes", async () => {
    expect(await requestOfVotes("x", DOMAIN, GROUP)).toBe("it is no withdrawal with votes");
    const votes = Array<unknown>(65).fill(null);
    expect(await requestOfVotes({ votes }, DOMAIN, GROUP)).toBe("it has more than 64 votes");
  });
});
