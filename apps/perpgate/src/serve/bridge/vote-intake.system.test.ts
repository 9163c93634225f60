/** Votes from elsewhere on a real venue: what counts, what does not, and what leaves no trace. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  checkPublishedDeposit,
  checkPublishedVote,
  privateKeyFromSeed,
  publicKeyHex,
  type Vote,
} from "@perpgate/bridge";
import { fieldsOf, StreamClient, Trader } from "@perpgate/gateway/testing";
import { voteText } from "@perpgate/protocol/core";
import { NotApplied, verify } from "@perpgate/venue";
import { describe, expect, test, vi } from "vitest";
import {
  AttestedVenue,
  MEMBERS,
  recoverWallet,
  registered,
  SEEDS,
  trustedBy,
} from "./testing/attested-venue.js";
import { VoteBudget } from "./vote-budget.js";

const STRANGER = "66".repeat(32);
const VAULT_ELSEWHERE = "99".repeat(20);
const TOKENS_ELSEWHERE = [{ token: "USDC", contract: "99".repeat(20) } as const];
const OTHER_SCOPE = { refusals: ["other_scope"] };

describe("two of three", () => {
  test("a false and an honest vote: nothing; the second honest vote: credited once, tradable", async () => {
    const { venue, trader, depositId, credits, read, balance } = await registered();
    const lie = await venue.vote({ depositId, attestor: 2 });
    expect((await venue.submit(lie)).body).toEqual({ refusals: [null] });
    expect((await venue.submit(await venue.vote({ depositId, credits }))).status).toBe(200);
    expect(await read()).toMatchObject({ status: "confirming", confirmations: 64, required: 64 });
    expect(await balance()).toBe(0);
    const second = await venue.vote({ depositId, attestor: 1, credits });
    expect((await venue.submit(second, second)).body).toEqual({ refusals: [null, null] });
    expect(await balance()).toBe(40);
    expect(await read()).toMatchObject({
      status: "credited",
      credits: [{ account: trader.wallet.address, amount: 40, logIndex: 3 }],
      reorged: null,
    });
    const late = await venue.vote({ depositId, attestor: 2, credits });
    expect((await venue.submit(late, second)).body).toEqual({
      refusals: ["deposit_settled", null],
    });
    expect(await balance()).toBe(40);
    const placed = await trader.place(trader.limit("long", 60_000, { margin: 30 }));
    expect(placed.body).toMatchObject({ status: "resting" });
  });

  test("a silent attestor: the other two suffice, and two credits of one account add up", async () => {
    const { venue, depositId, credits, balance } = await registered();
    const both = [...credits, { ...credits[0]!, logIndex: 9, amountMicros: 2_500_000 }];
    await venue.submit(await venue.vote({ depositId, attestor: 1, credits: both }));
    await venue.submit(await venue.vote({ depositId, attestor: 2, credits: both }));
    expect(await balance()).toBe(42.5);
  });

  test("marked as reorganised by two: on the wire and the stream, the credit votes stay", async () => {
    const { venue, trader, depositId, credits, read, balance } = await registered();
    for (const attestor of [0, 1])
      await venue.submit(await venue.vote({ depositId, attestor, credits }));
    const stream = await StreamClient.connect(venue.at.url, trader.token);
    await stream.ask({ op: "subscribe", streams: ["deposits"] });
    await stream.next("deposits");
    const early = await venue.vote({ depositId, attestor: 2, verdict: "reorged" });
    await venue.submit(early);
    expect(await read()).toMatchObject({ status: "credited", reorged: null });
    await venue.submit(await venue.vote({ depositId, attestor: 1, verdict: "reorged" }));
    expect((await stream.next("deposits")).d).toMatchObject({
      type: "update",
      deposits: [{ depositId: String(depositId), reorged: "transaction_gone" }],
    });
    const deposit = await read();
    expect(deposit.votes.map(({ attestor, verdict }) => [attestor, verdict])).toEqual([
      [0, "credit"],
      [1, "credit"],
      [1, "reorged"],
      [2, "reorged"],
    ]);
    expect(await checkPublishedDeposit(deposit, trustedBy(venue))).toBeNull();
    expect(await balance()).toBe(40);
    const before = venue.at.venue.seq;
    expect((await venue.submit(early)).body).toEqual({ refusals: [null] });
    expect(venue.at.venue.seq).toBe(before);
  });
});

test.each(["not_executed", "outcome_unknown"] as const)(
  "votes while the log stalls: 503 %s",
  async (why) => {
    const { venue, depositId, credits } = await registered();
    const vote = await venue.vote({ depositId, credits });
    vi.spyOn(venue.at.venue, "submitted").mockRejectedValueOnce(new NotApplied(why));
    expect(await venue.submit(vote)).toMatchObject({ status: 503, body: { code: why } });
    expect((await venue.submit(vote)).body).toEqual({ refusals: [null] });
  },
);

describe("two attestors that give two reasons for a reorganisation", () => {
  test("no mark; one that gives the other's reason later: marked", async () => {
    const { venue, depositId, credits, read } = await registered();
    const report = async (attestor: number, reason: string) => {
      const vote = await venue.vote({ depositId, attestor, verdict: "reorged", reason });
      expect((await venue.submit(vote)).body).toEqual({ refusals: [null] });
    };
    const watched = (attestor: number) =>
      venue.deposits.credited("ethereum", attestor, 0, 0).rows[0];
    for (const attestor of [0, 1])
      await venue.submit(await venue.vote({ depositId, attestor, credits }));
    expect(watched(0)).toMatchObject({ isMarked: false, ownVote: null });
    await report(0, "transaction_moved");
    await report(1, "transaction_gone");
    expect(await read()).toMatchObject({ reorged: null });
    expect(watched(0)).toMatchObject({
      isMarked: false,
      ownVote: { verdict: "reorged", reason: "transaction_moved" },
    });
    await report(0, "transaction_gone");
    expect(await read()).toMatchObject({ reorged: "transaction_gone" });
    expect(watched(0)).toMatchObject({ isMarked: true });
    const before = venue.at.venue.seq;
    await report(0, "transaction_moved");
    expect(venue.at.venue.seq).toBe(before);
  });
});

describe("refused before the log", () => {
  const cases: [string, Partial<Vote>, string | undefined, number, object][] = [
    ["by another key", {}, STRANGER, 401, { code: "invalid_signature" }],
    ["in another's name", { attestor: 1 }, SEEDS[0], 401, { code: "invalid_signature" }],
    ["of nobody", { attestor: 3 }, STRANGER, 403, { code: "attestor_unknown" }],
    ["for another venue", { venue: STRANGER }, undefined, 400, { code: "invalid_vote" }],
    ["on no deposit", { depositId: 1 }, undefined, 200, { refusals: ["deposit_unknown"] }],
    [
      "on another hash",
      { txHash: "ef".repeat(32) },
      undefined,
      200,
      { refusals: ["other_deposit"] },
    ],
    ["for another vault", { vault: VAULT_ELSEWHERE }, undefined, 200, OTHER_SCOPE],
    ["for another chain id", { chainId: 11_155_111 }, undefined, 200, OTHER_SCOPE],
    ["for other contracts", { tokens: TOKENS_ELSEWHERE }, undefined, 200, OTHER_SCOPE],
    ["on another chain", { chain: "tron" }, undefined, 200, { refusals: ["other_deposit"] }],
    ["from before the deposit", { votedAtMs: 1 }, undefined, 200, { refusals: ["vote_outdated"] }],
    [
      "from the far future, which no later vote could replace",
      { votedAtMs: Number.MAX_SAFE_INTEGER },
      undefined,
      200,
      { refusals: ["vote_from_future"] },
    ],
    [
      "that a credit was reorganised, before the credit",
      { verdict: "reorged" },
      undefined,
      200,
      { refusals: ["deposit_not_credited"] },
    ],
  ];
  test("each with its reason, and the log stays unchanged", async () => {
    const { venue, depositId } = await registered();
    const before = venue.at.venue.seq;
    for (const [name, changes, seed, status, body] of cases) {
      const vote = await venue.vote(
        { depositId, ...changes },
        seed ?? SEEDS[changes.attestor ?? 0],
      );
      const answer = await venue.submit(vote);
      expect([name, answer.status], answer.text).toEqual([name, status]);
      expect(answer.body, name).toMatchObject(body);
    }
    expect(venue.at.venue.seq).toBe(before);
  });

  test("text that is not a vote, or not in canonical form", async () => {
    const { venue, depositId } = await registered();
    const { vote, signature } = await venue.vote({ depositId });
    const text = voteText(vote);
    const spellings = [
      "",
      text.trimEnd(),
      `${text}\n`,
      text.replace("attestor 0", "attestor 00"),
      text.replace("verdict credit", "verdict reject"),
      text.replace("\n", "\r\n"),
      `${text}credit 9 ${"77".repeat(20)} 1\n`,
    ];
    for (const spelling of spellings) {
      const body = JSON.stringify({ votes: [{ text: spelling, signature }] });
      const answer = await venue.post("/v1/bridge/votes", body);
      expect(answer, JSON.stringify(spelling)).toMatchObject({
        status: 400,
        body: { code: "invalid_vote" },
      });
    }
    for (const body of ["{}", '{"votes":[]}', '{"votes":[1]}', "[]", "null", '{"votes":[{}]}']) {
      expect((await venue.post("/v1/bridge/votes", body)).body.code, body).toBe("invalid_request");
    }
  });

  test("a vote submitted repeatedly, concurrently and in sequence: once in the log", async () => {
    const { venue, depositId, credits } = await registered();
    const vote = await venue.vote({ depositId, credits });
    const before = venue.at.venue.seq;
    const answers = await Promise.all([
      venue.submit(vote),
      venue.submit(vote, vote),
      venue.submit(vote),
    ]);
    for (const { status } of answers) expect(status).toBe(200);
    await venue.submit(vote);
    expect(venue.at.venue.seq).toBe(before + 1);
    const contradiction = await venue.vote({ depositId, votedAtMs: vote.vote.votedAtMs });
    expect((await venue.submit(contradiction)).body).toEqual({ refusals: ["vote_outdated"] });
  });

  test("a member that votes without end: limited to its budget; repeated votes cost nothing", async () => {
    const time = { nowMs: 0 };
    const budget = new VoteBudget({ perSecond: 1, burst: 2 }, () => time.nowMs);
    const { venue, depositId } = await registered(budget);
    const progress = (attestor: number, confirmations: number) =>
      venue.vote({ depositId, attestor, verdict: "confirming", confirmations });
    const first = await progress(0, 1);
    await venue.submit(first);
    for (let i = 0; i < 5; i++) await venue.submit(first, first);
    const more = [await progress(0, 2), await progress(0, 3), await progress(1, 1)];
    expect((await venue.submit(...more)).body).toEqual({ refusals: [null, "rate_limited", null] });
    time.nowMs += 1_000;
    expect((await venue.submit(await progress(0, 4))).body).toEqual({ refusals: [null] });
  });

  test("registered again for the other token: votes on the first registration do not count", async () => {
    const { venue, trader, depositId, read } = await registered();
    const old = [];
    for (const attestor of [0, 1]) {
      const vote = { depositId, attestor, verdict: "reject", reason: "other_token" } as const;
      old.push(await venue.vote(vote));
    }
    await venue.submit(...old);
    expect(await read()).toMatchObject({ status: "rejected", reason: "other_token" });
    expect(await checkPublishedDeposit(await read(), trustedBy(venue))).toBeNull();
    await venue.at.advance(1_000);
    const again = await venue.register(trader, "ab".repeat(32), "USDT");
    expect(again.body).toMatchObject({ depositId: String(depositId), status: "queued" });
    expect((await venue.submit(...old)).body).toEqual({
      refusals: ["vote_outdated", "vote_outdated"],
    });
    expect(await read()).toMatchObject({ status: "queued", token: "USDT", votes: [] });
  });

  test("registered again after a rejection: the old votes do not reject it again", async () => {
    const { venue, trader, depositId, read } = await registered();
    const reason = "transaction_not_found";
    const old = [];
    for (const attestor of [0, 1]) {
      old.push(await venue.vote({ depositId, attestor, verdict: "reject", reason }));
    }
    await venue.submit(...old);
    await venue.at.advance(1_000);
    await venue.register(trader);
    expect((await venue.submit(...old)).body).toEqual({
      refusals: ["vote_outdated", "vote_outdated"],
    });
    expect(await read()).toMatchObject({ status: "queued", reason: null, votes: [] });
  });
});

describe("a configuration that is put into the log of the running venue", () => {
  test("a replaced key: the old one is refused, the new one counts, and the log verifies", async () => {
    const { venue, trader, depositId, credits, balance } = await registered();
    const next = [MEMBERS[0]!, publicKeyHex(privateKeyFromSeed(STRANGER)), MEMBERS[2]!];
    await venue.configure(next);
    expect((await trader.get("/v1/bridge")).body).toMatchObject({
      members: next,
      keys: [{ members: MEMBERS }, { members: next }],
    });
    const removed = await venue.submit(await venue.vote({ depositId, attestor: 1, credits }));
    expect(removed).toMatchObject({ status: 401, body: { code: "invalid_signature" } });
    await venue.submit(await venue.vote({ depositId, attestor: 0, credits }));
    expect(await balance()).toBe(0);
    const added = await venue.vote({ depositId, attestor: 1, credits }, STRANGER);
    expect((await venue.submit(added)).body).toEqual({ refusals: [null] });
    expect(await balance()).toBe(40);
    const report = await verify(venue.at.directory, { signatures: recoverWallet });
    expect(report).toMatchObject({ fault: null, voteSignatures: 2 });
  });

  test("a removed member: those after it vote with their new numbers", async () => {
    const { venue, depositId, credits, balance } = await registered();
    await venue.configure(MEMBERS.slice(1));
    const gone = await venue.submit(await venue.vote({ depositId, attestor: 2, credits }));
    expect(gone).toMatchObject({ status: 403, body: { code: "attestor_unknown" } });
    for (const attestor of [0, 1]) {
      const vote = await venue.vote({ depositId, attestor, credits }, SEEDS[attestor + 1]);
      expect((await venue.submit(vote)).body).toEqual({ refusals: [null] });
    }
    expect(await balance()).toBe(40);
    const report = await verify(venue.at.directory, { signatures: recoverWallet });
    expect(report).toMatchObject({ fault: null, voteSignatures: 2 });
  });

  test("another vault: published, and required in votes", async () => {
    const { venue, trader, depositId, credits } = await registered();
    await venue.configure(MEMBERS, `0x${VAULT_ELSEWHERE}`);
    const { body } = await trader.get("/v1/bridge");
    expect(body).toMatchObject({ chains: [{ vault: `0x${VAULT_ELSEWHERE}` }] });
    const old = await venue.vote({ depositId, credits });
    expect((await venue.submit(old)).body).toEqual(OTHER_SCOPE);
    const vote = await venue.vote({ depositId, credits, vault: VAULT_ELSEWHERE });
    expect((await venue.submit(vote)).body).toEqual({ refusals: [null] });
  });

  test("an attestor of this process whose key was replaced: its votes are refused", async () => {
    const { venue, depositId, credits } = await registered();
    const vote = await venue.vote({ depositId, attestor: 1, credits });
    await venue.configure([MEMBERS[0]!, publicKeyHex(privateKeyFromSeed(STRANGER)), MEMBERS[2]!]);
    expect(await venue.deposits.submitChecked([vote])).toEqual(["invalid_signature"]);
  });

  test("between the check of a signature and the log: the vote is refused", async () => {
    const { venue, depositId, credits } = await registered();
    const vote = await venue.vote({ depositId, attestor: 1, credits });
    const submitted = venue.deposits.submit([vote]);
    const { attestors } = venue.at.venue.listing;
    const members = [MEMBERS[0]!, publicKeyHex(privateKeyFromSeed(STRANGER)), MEMBERS[2]!];
    venue.at.venue.listing.attestors = { ...attestors!, members };
    expect(await submitted).toEqual(["invalid_signature"]);
  });
});

describe("published votes", () => {
  test("checked from the JSON alone; any change to it shows", async () => {
    const { venue, depositId, credits, read } = await registered();
    for (const attestor of [0, 2])
      await venue.submit(await venue.vote({ depositId, attestor, credits }));
    const deposit = await read();
    expect(await checkPublishedDeposit(deposit, trustedBy(venue))).toBeNull();
    const [first] = deposit.votes;
    if (first === undefined) throw new Error("no votes");
    const altered = { ...first, text: first.text.replace("40000000", "90000000") };
    expect(await checkPublishedVote(deposit, altered, trustedBy(venue))).toBe("invalid_signature");
    const elsewhere = { ...deposit, txHash: `0x${"ef".repeat(32)}` };
    expect(await checkPublishedVote(elsewhere, first, trustedBy(venue))).toBe("other_deposit");
    expect(await checkPublishedVote(deposit, { ...first, attestor: 1 }, trustedBy(venue))).toBe(
      "mislabelled",
    );
    const richer = { ...deposit, credits: deposit.credits.map((c) => ({ ...c, amount: 90 })) };
    expect(await checkPublishedDeposit(richer, trustedBy(venue))).toContain("other credits");
    const alone = { ...deposit, votes: [first] };
    expect(await checkPublishedDeposit(alone, trustedBy(venue))).toContain("1 of 2 required votes");
    const strangers = { ...trustedBy(venue), members: [...MEMBERS].reverse() };
    expect(await checkPublishedDeposit(deposit, strangers)).toContain("invalid_signature");
    // After a change of keys the client knows every set of keys.
    expect(await checkPublishedDeposit(deposit, [strangers, trustedBy(venue)])).toBeNull();
  });

  test("after a restart, and after the history was rebuilt from the log: the same", async () => {
    const { venue, trader, depositId, credits, read } = await registered();
    for (const attestor of [0, 1])
      await venue.submit(await venue.vote({ depositId, attestor, credits }));
    const before = await read();
    expect(before.votes).toHaveLength(2);
    const second = await venue.restart();
    const readAt = async (at: AttestedVenue): Promise<unknown> =>
      JSON.parse(
        await (
          await fetch(`${at.at.url}/v1/bridge/deposits/${depositId}`, { headers: trader.bearer() })
        ).text(),
      );
    expect(await readAt(second)).toEqual(before);
    await second.at.stop();
    rmSync(join(second.at.directory, "history"), { recursive: true });
    const third = await AttestedVenue.run(second.at.directory, second.at.nowMs() + 1);
    expect(await readAt(third)).toEqual(before);
  });

  test("verify --signatures: counts the votes, and names the position of a forged one", async () => {
    const { venue, depositId, credits } = await registered();
    const { vote, signature } = await venue.vote({ depositId, credits });
    await venue.submit({ vote, signature });
    const { venue: inner, directory } = venue.at;
    const honest = await verify(directory, { signatures: recoverWallet });
    expect(honest).toMatchObject({ fault: null, voteSignatures: 1, sessions: 1 });
    const { attestor, verdict, confirmations, required, reason } = vote;
    const said = { attestor, depositId, verdict, confirmations, required, reason };
    const forged = await inner.submitted(
      {
        kind: "AttestDeposit",
        stampMs: venue.at.nowMs(),
        votedAtMs: vote.votedAtMs + 1,
        credits: [{ ...credits[0]!, amountMicros: 41_000_000 }],
        ...said,
      },
      {
        signed: Buffer.from("perpgate deposit vote v2\n"),
        signature: Buffer.from(signature, "hex"),
        publicKey: Buffer.from(MEMBERS[0]!, "hex"),
      },
      ({ seq }) => seq,
    );
    const found = await verify(directory, { signatures: recoverWallet });
    expect(found.fault).toEqual({
      position: forged,
      reason: "the text of the vote cannot be read",
    });
  });
});

describe("the owner of a deposit", () => {
  test("another account's hash: both see it, the sender on the chain is credited", async () => {
    const { venue, depositId, credits, read } = await registered();
    const stranger = await Trader.enter(venue.at);
    const again = await venue.register(stranger, `0X${"AB".repeat(32)}`);
    expect(again).toMatchObject({ status: 202, body: { depositId: String(depositId) } });
    for (const attestor of [0, 1])
      await venue.submit(await venue.vote({ depositId, attestor, credits }));
    const path = `/v1/bridge/deposits/${depositId}`;
    expect(JSON.parse((await stranger.get(path)).text)).toEqual(await read());
    expect((await stranger.get("/v1/account")).body.balance).toBe(0);
    const nobody = await Trader.enter(venue.at);
    expect((await nobody.get(path)).body.code).toBe("deposit_not_found");
  });

  test("an account that never signed in: credited, shown at its first sign-in", async () => {
    const { venue, depositId, balance } = await registered();
    const sender = new Trader(venue.at);
    const address = sender.wallet.address.slice(2).toLowerCase();
    const credits = [{ logIndex: 0, token: "USDC", address, amountMicros: 7_000_000 } as const];
    for (const attestor of [0, 1])
      await venue.submit(await venue.vote({ depositId, attestor, credits }));
    expect(await balance()).toBe(0);
    await sender.signIn();
    expect((await sender.get("/v1/account")).body.balance).toBe(7);
    expect(await sender.list("/v1/bridge/deposits")).toMatchObject([{ status: "credited" }]);
  });

  test("many accounts register one hash: all are answered, a bounded number gets progress", async () => {
    const { venue, depositId } = await registered();
    const crowd = [];
    for (let i = 0; i < 18; i++) crowd.push(await Trader.enter(venue.at));
    for (const one of crowd) {
      expect((await venue.register(one)).body.depositId).toBe(String(depositId));
    }
    const sees = [];
    for (const one of crowd) sees.push((await one.list("/v1/bridge/deposits")).length);
    expect(sees.reduce((sum, count) => sum + count, 0)).toBe(15);
  });

  test("a token or chain that is not watched: refused", async () => {
    const { trader } = await registered();
    const body = { chain: "tron", txHash: "ab".repeat(32), token: "USDC" };
    const answer = await trader.send("/v1/bridge/deposit", body);
    expect(answer).toMatchObject({ status: 400, body: { code: "token_not_on_chain" } });
  });
});

describe("progress", () => {
  test("each step on the stream; a resumed stream repeats the steps", async () => {
    const { venue, trader, depositId, credits } = await registered();
    const live = await StreamClient.connect(venue.at.url, trader.token);
    const subscribed = await live.ask({ op: "subscribe", streams: ["deposits"] });
    const since = Number(subscribed.d.seq);
    await live.next("deposits");
    for (const confirmations of [1, 9, 0, 30]) {
      for (const attestor of [0, 1]) {
        const changes = { depositId, attestor, verdict: "confirming", confirmations } as const;
        await venue.submit(await venue.vote(changes));
      }
    }
    for (const attestor of [0, 1])
      await venue.submit(await venue.vote({ depositId, attestor, credits }));
    const steps = [];
    for (let status = ""; status !== "credited"; ) {
      const { d } = await live.next("deposits");
      const [deposit] = Array.isArray(d.deposits) ? d.deposits : [];
      const { confirmations, ...shown } = fieldsOf(deposit);
      status = String(shown.status);
      steps.push({ seq: d.seq, status, confirmations });
    }
    expect(steps.map(({ status, confirmations }) => [status, confirmations])).toEqual([
      ["confirming", 1],
      ["confirming", 9],
      ["confirming", 0],
      ["confirming", 30],
      ["credited", 64],
    ]);
    const second = await venue.restart();
    const later = await StreamClient.connect(second.at.url, trader.token);
    await later.ask({ op: "subscribe", streams: ["deposits"], since });
    for (const step of steps) {
      expect((await later.next("deposits")).d).toMatchObject({
        seq: step.seq,
        deposits: [{ status: step.status, confirmations: step.confirmations }],
      });
    }
  });
});
