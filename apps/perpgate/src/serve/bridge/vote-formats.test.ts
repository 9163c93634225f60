/** Votes of another format, votes of other venues, and votes on parts of a transaction. */

import { sign } from "node:crypto";
import { checkPublishedDeposit, privateKeyFromSeed, publicKeyHex } from "@perpgate/bridge";
import { verify } from "@perpgate/venue";
import { describe, expect, test } from "vitest";
import {
  AttestedVenue,
  MEMBERS,
  recoverWallet,
  registered,
  SEEDS,
  trustedBy,
} from "./testing/attested-venue.js";

const STRANGER = "66".repeat(32);

test("a vote of format 1: refused, because it names neither Genesis nor vault", async () => {
  const { venue, depositId } = await registered();
  const text =
    `perpgate deposit vote v1\nvenue test-venue\nattestor 0\ndeposit ${depositId}\n` +
    `transaction ethereum ${"ab".repeat(32)}\ntoken USDC\nverdict credit\n` +
    `confirmations 64 of 64\nblock -\ncredit 3 ${"77".repeat(20)} 40000000\nreason -\ntime 5\n`;
  const key = privateKeyFromSeed(SEEDS[0]!);
  const signature = sign(null, Buffer.from(text), key).toString("hex");
  const answer = await venue.post(
    "/v1/bridge/votes",
    JSON.stringify({ votes: [{ text, signature }] }),
  );
  expect(answer).toMatchObject({ status: 400, body: { code: "invalid_vote" } });
});

describe("another venue of the same name, members and vault", () => {
  test("its votes: not counted", async () => {
    const { venue, depositId, credits } = await registered();
    const other = await AttestedVenue.run(undefined, venue.at.nowMs() + 60_000);
    expect(other.venueId).not.toBe(venue.venueId);
    const vote = await other.vote({ depositId, credits, votedAtMs: venue.at.nowMs() + 1 });
    expect(await venue.submit(vote)).toMatchObject({ status: 400, body: { code: "invalid_vote" } });
  });
});

describe("a transaction of several parts", () => {
  test("votes per part, all of them published and checkable", async () => {
    const { venue, trader, depositId, credits, read, balance } = await registered();
    const [credit] = credits;
    const part = async (number: number) => {
      const own = [{ ...credit!, logIndex: 100 * number, token: "USDT" } as const];
      for (const attestor of [0, 1]) {
        const vote = await venue.vote({
          depositId,
          attestor,
          credits: own,
          part: number,
          parts: 3,
        });
        expect((await venue.submit(vote)).body).toEqual({ refusals: [null] });
      }
    };
    await part(1);
    expect(await read()).toMatchObject({ status: "confirming" });
    expect(await balance()).toBe(40);
    await part(2);
    await part(3);
    const deposit = await read();
    expect(deposit).toMatchObject({ status: "credited", token: "USDC" });
    expect(deposit.credits.map(({ logIndex, token }) => [logIndex, token])).toEqual([
      [100, "USDT"],
      [200, "USDT"],
      [300, "USDT"],
    ]);
    expect(deposit.votes).toHaveLength(6);
    expect(await checkPublishedDeposit(deposit, trustedBy(venue))).toBeNull();
    expect(await balance()).toBe(120);
    expect(await verify(venue.at.directory, { signatures: recoverWallet })).toMatchObject({
      fault: null,
      voteSignatures: 6,
    });
    const second = await venue.restart();
    const headers = trader.bearer();
    const again = await fetch(`${second.at.url}/v1/bridge/deposits/${depositId}`, { headers });
    expect(await again.json()).toEqual(deposit);
  });

  /** 150 credits in two parts; returns what votes on one of them. */
  async function registeredInParts() {
    const made = await registered();
    const { venue, depositId, credits } = made;
    const logs = Array.from({ length: 150 }, (_, logIndex) => ({ ...credits[0]!, logIndex }));
    const voteOn = async (part: number, attestors: readonly number[], seeds = SEEDS) => {
      const own = logs.slice(100 * (part - 1), 100 * part);
      for (const attestor of attestors) {
        const statement = { depositId, attestor, credits: own, part, parts: 2 };
        const vote = await venue.vote(statement, seeds[attestor]);
        expect((await venue.submit(vote)).body).toEqual({ refusals: [null] });
      }
    };
    return { ...made, voteOn };
  }

  test("a confirming vote between two parts: the votes for the first part stay published", async () => {
    const { venue, depositId, read, balance, voteOn } = await registeredInParts();
    await voteOn(1, [0, 1]);
    await venue.submit(await venue.vote({ depositId, attestor: 0, verdict: "confirming" }));
    await voteOn(2, [0, 1]);
    expect(await balance()).toBe(6_000);
    const deposit = await read();
    expect(deposit.status).toBe("credited");
    expect(deposit.votes).toHaveLength(4);
    expect(await checkPublishedDeposit(deposit, trustedBy(venue))).toBeNull();
  });

  test("marked as reorganised after the last part: the votes for all parts stay published", async () => {
    const { venue, depositId, read, voteOn } = await registeredInParts();
    await voteOn(1, [0, 1]);
    await voteOn(2, [0, 1]);
    for (const attestor of [0, 1]) {
      await venue.submit(await venue.vote({ depositId, attestor, verdict: "reorged" }));
    }
    const deposit = await read();
    expect(deposit).toMatchObject({ status: "credited", reorged: "transaction_gone" });
    expect(deposit.votes).toHaveLength(6);
    expect(await checkPublishedDeposit(deposit, trustedBy(venue))).toBeNull();
  });

  test("a key replaced between two parts: the vote of the old key for the first part stays published", async () => {
    const { venue, read, voteOn } = await registeredInParts();
    await voteOn(1, [0, 1]);
    const members = [MEMBERS[0]!, publicKeyHex(privateKeyFromSeed(STRANGER)), MEMBERS[2]!];
    await venue.configure(members);
    expect((await read()).votes.map(({ publicKey }) => publicKey)).toEqual(MEMBERS.slice(0, 2));
    await voteOn(2, [1, 2], [SEEDS[0]!, STRANGER, SEEDS[2]!]);
    const deposit = await read();
    expect(deposit).toMatchObject({ status: "credited" });
    expect(deposit.votes.map(({ publicKey }) => publicKey)).toEqual([
      MEMBERS[0],
      MEMBERS[1],
      members[1],
      MEMBERS[2],
    ]);
    const sets = [trustedBy(venue), { ...trustedBy(venue), members }];
    expect(await checkPublishedDeposit(deposit, sets)).toBeNull();
  });
});
