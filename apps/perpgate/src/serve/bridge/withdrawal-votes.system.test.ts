/** Votes on withdrawals over HTTP on a real venue: what counts, what does not, and what leaves no trace. */

import { sign } from "node:crypto";
import { privateKeyFromSeed } from "@perpgate/bridge";
import { StreamClient, type Trader } from "@perpgate/gateway/testing";
import { POLL } from "@perpgate/journal/testing";
import type { AttestedWithdrawal, SubmittedVote, VotesAnswer } from "@perpgate/protocol";
import {
  type WithdrawalVerdict,
  type WithdrawalVote,
  withdrawalVoteText,
} from "@perpgate/protocol/core";
import { NO_EVIDENCE, verify } from "@perpgate/venue";
import { describe, expect, test } from "vitest";
import { scopeOf } from "./bridge-info.js";
import {
  type AttestedVenue,
  BRIDGE,
  MEMBERS,
  recoverWallet,
  SEEDS,
  withdrawing,
} from "./testing/attested-venue.js";
import { VoteBudget } from "./vote-budget.js";

/** A venue with a trader who has 40 dollars and has asked for 25 of them. */
async function requested(budget?: VoteBudget) {
  const { venue, trader, address, ask } = await withdrawing({}, budget);
  const { body } = await ask({ amount: 25, nonce: 1 });
  return new Requested(venue, trader, Number(body.withdrawalId), address);
}

class Requested {
  private signed = 0;
  constructor(
    readonly venue: AttestedVenue,
    readonly trader: Trader,
    readonly id: number,
    private readonly address: string,
  ) {}

  get position(): number {
    return this.venue.at.venue.seq;
  }

  async read(): Promise<AttestedWithdrawal> {
    return JSON.parse((await this.trader.get(`/v1/bridge/withdrawals/${this.id}`)).text);
  }

  async balance() {
    return (await this.trader.get("/v1/account")).body.balance;
  }

  vote(attestor: number, verdict: WithdrawalVerdict, changes: Partial<WithdrawalVote> = {}) {
    this.signed++;
    const { tokens, ...scope } = scopeOf(BRIDGE.chains[0]!);
    const isOnChain = verdict === "pending" || verdict === "paid";
    const vote: WithdrawalVote = {
      ...scope,
      venue: this.venue.venueId,
      attestor,
      withdrawalId: this.id,
      token: "USDC",
      contract: tokens[0]!.contract,
      decimals: 6,
      account: this.address,
      amount: 25_000_000n,
      deadline: this.venue.at.venue.views.openWithdrawal(this.id)!.withdrawal.deadlineMs / 1_000,
      verdict,
      block: verdict === "signed" ? null : { number: 9, hash: "cd".repeat(32) },
      txHash: isOnChain ? "ab".repeat(32) : "",
      vaultSignature: verdict === "signed" ? `${attestor}`.repeat(130) : "",
      votedAtMs: this.venue.at.nowMs() + this.signed,
      ...changes,
    };
    return signedText(withdrawalVoteText(vote), SEEDS[attestor]!);
  }

  /** The refusals, or the code of the error. */
  async submit(...votes: readonly SubmittedVote[]): Promise<(string | null)[] | string> {
    const { status, text } = await this.venue.post("/v1/bridge/votes", JSON.stringify({ votes }));
    const body: VotesAnswer & { code: string } = JSON.parse(text);
    return status === 200 ? body.refusals : body.code;
  }
}

function signedText(text: string, seed: string) {
  const signature = sign(null, Buffer.from(text, "latin1"), privateKeyFromSeed(seed));
  return { text, signature: signature.toString("hex") };
}

const TAKEN = [null];

test("two of three: attested, pending, paid; with their texts on the wire and in verify", async () => {
  const at = await requested();
  expect(await at.balance()).toBe(14.5);
  const seen: unknown[] = [];
  for (const verdict of ["signed", "pending", "paid"] as const) {
    for (const attestor of [0, 2]) {
      expect(await at.submit(at.vote(attestor, verdict))).toEqual(TAKEN);
      seen.push((await at.read()).status);
    }
  }
  expect(seen).toEqual(["queued", "attested", "attested", "pending", "pending", "paid"]);
  const { votes, txHash } = await at.read();
  expect(txHash).toBe(`0x${"ab".repeat(32)}`);
  expect(votes.map(({ attestor, verdict }) => [attestor, verdict])).toEqual([
    [0, "signed"],
    [0, "paid"],
    [2, "signed"],
    [2, "paid"],
  ]);
  expect(votes[0]?.text).toContain(`signature ${"0".repeat(130)}`);
  const { directory } = at.venue.at;
  await at.venue.at.stop();
  expect((await verify(directory, { signatures: recoverWallet })).fault).toBeNull();
});

test("stream account: each step of a withdrawal, live and to a reader that resumes, across a restart", async () => {
  const { venue, trader, address, ask } = await withdrawing();
  const stream = await StreamClient.connect(venue.at.url, trader.token);
  const { d } = await stream.ask({ op: "subscribe", streams: ["account"] });
  const { body } = await ask({ amount: 25, nonce: 1 });
  const at = new Requested(venue, trader, Number(body.withdrawalId), address);
  const shown: unknown[] = [body];
  for (const verdict of ["signed", "pending", "paid"] as const) {
    for (const attestor of [0, 2]) await at.submit(at.vote(attestor, verdict));
    const { votes: _votes, ...withdrawal } = await at.read();
    shown.push(withdrawal);
  }
  await stream.settled();
  const framesOf = ({ frames }: StreamClient) =>
    frames
      .filter(({ t, d: { type } }) => t === "account" && type === "update")
      .map((each) => each.d);
  const live = framesOf(stream);
  expect(live.flatMap(({ withdrawals = [] }) => withdrawals)).toEqual(shown);
  expect(live.map(({ balance }) => balance)).toEqual([14.5, 14.5, 14.5, 14.5]);
  const again = await venue.restart();
  const resumed = await StreamClient.connect(again.at.url, trader.token);
  await resumed.ask({ op: "subscribe", streams: ["account"], since: d.seq });
  await resumed.settled();
  await expect.poll(() => framesOf(resumed), POLL).toEqual(live);
});

test("expired: the money is back after two votes behind the deadline, and not before", async () => {
  const at = await requested();
  expect(await at.submit(at.vote(0, "unpaid"))).toEqual(["withdrawal_not_due"]);
  // An hour in one jump of the log.
  const stampMs = at.venue.at.nowMs() + 3_602_000;
  await at.venue.at.venue.submitted({ kind: "AskTime", stampMs }, NO_EVIDENCE, () => null);
  const early = at.vote(1, "unpaid");
  expect(await at.submit(early)).toEqual(TAKEN);
  // The same attestor again adds nothing, to the log neither.
  const before = at.position;
  expect(await at.submit(early, at.vote(1, "unpaid"))).toEqual([null, null]);
  expect([at.position, await at.balance()]).toEqual([before, 14.5]);
  const [second, third] = [at.vote(2, "unpaid"), at.vote(0, "unpaid")];
  expect(await at.submit(second, third)).toEqual([null, "withdrawal_unknown"]);
  expect(await at.balance()).toBe(40);
  expect(await at.read()).toMatchObject({ status: "expired" });
});

describe("a vote that must not count: nothing of it reaches the log", () => {
  test.each<[string, Partial<WithdrawalVote>, string]>([
    ["another venue's", { venue: "99".repeat(32) }, "invalid_vote"],
    ["another chain id", { chainId: 5 }, "other_scope"],
    ["another vault", { vault: "99".repeat(20) }, "other_scope"],
    ["another contract", { contract: "99".repeat(20) }, "other_scope"],
    ["other decimals", { decimals: 18 }, "other_scope"],
    ["another account", { account: "99".repeat(20) }, "other_withdrawal"],
    ["an id again with another amount", { amount: 25_000_001n }, "other_withdrawal"],
    ["another deadline", { deadline: 1_900_000_000 }, "other_withdrawal"],
    ["another id", { withdrawalId: 1 }, "withdrawal_unknown"],
    ["an attestor that is none", { attestor: 7 }, "attestor_unknown"],
    ["from the far future", { votedAtMs: 9e15 }, "vote_from_future"],
    ["from before the request", { votedAtMs: 1 }, "vote_outdated"],
  ])("%s", async (_, changes, why) => {
    const at = await requested();
    const before = at.position;
    const refused = await at.submit(at.vote(0, "signed", changes));
    expect(typeof refused === "string" ? refused : refused[0]).toBe(why);
    expect(at.position).toBe(before);
  });

  test("a stranger's signature, and one attestor's under another's name", async () => {
    const at = await requested();
    const before = at.position;
    const { text } = at.vote(0, "signed");
    for (const seed of ["66".repeat(32), SEEDS[1]!]) {
      expect(await at.submit(signedText(text, seed))).toBe("invalid_signature");
    }
    expect(at.position).toBe(before);
  });

  test("a text that is none, and a member's votes beyond its budget", async () => {
    const at = await requested(new VoteBudget({ perSecond: 0.001, burst: 3 }));
    const { text } = at.vote(0, "signed");
    const wrong = signedText(text.replace("amount 25", "amount 025"), SEEDS[0]!);
    expect(await at.submit(wrong)).toBe("invalid_vote");
    const refusals: unknown[] = [];
    for (const txHash of ["01", "02", "03", "04"]) {
      const vote = at.vote(0, "pending", { txHash: txHash.repeat(32) });
      refusals.push(...(await at.submit(vote)));
    }
    // The votes on the deposit have taken one of its three.
    expect(refusals).toEqual([null, null, "rate_limited", "rate_limited"]);
  });
});

describe("another vault while a withdrawal is open: refused with one line, or its payment counts twice", () => {
  const OTHER = `0x${"22".repeat(20)}`;

  test("its votes stay in scope, and paid by the old vault it ends once", async () => {
    const at = await requested();
    const { venue } = at;
    for (const attestor of [0, 1]) await at.submit(at.vote(attestor, "signed"));
    await expect(venue.configure(MEMBERS, OTHER)).rejects.toThrow(
      `while withdrawals on ethereum are open (${at.id})`,
    );
    for (const attestor of [0, 1]) {
      expect(await at.submit(at.vote(attestor, "paid"))).toEqual(TAKEN);
    }
    expect([(await at.read()).status, await at.balance()]).toEqual(["paid", 14.5]);
    await venue.configure(MEMBERS, OTHER);
    expect(venue.at.venue.listing.attestors?.chains?.[0]?.vault).toBe("22".repeat(20));
    const { directory } = venue.at;
    await venue.at.stop();
    expect((await verify(directory, { signatures: recoverWallet })).fault).toBeNull();
  });

  test("a quorum below two as well; other attestors and the same vault are taken", async () => {
    const { venue, id } = await requested();
    await expect(venue.configure(MEMBERS, undefined, 1)).rejects.toThrow(
      `lowers the attestors' quorum below 2 while withdrawals on ethereum are open (${id})`,
    );
    await venue.configure([MEMBERS[1]!, MEMBERS[0]!, MEMBERS[2]!]);
  });
});
