/** Votes when attestors are removed, replaced or added, or fewer of them suffice. */
import { describe, expect, test } from "vitest";
import type { AttestDeposit } from "../../commands.js";
import type { VenueConfig } from "../../config.js";
import type { DepositRecord } from "../../state/deposits.js";
import { creditVote } from "../commands.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

const DOLLARS = 70;
const DAY_MS = 86_400_000;

class Story {
  readonly venue: Venue;
  readonly alice: Trader;
  readonly id: number;

  constructor(attestors: number, attestorQuorum: number) {
    this.venue = new Venue({ config: { attestors, attestorQuorum } });
    this.alice = this.venue.trader("alice");
    this.id = this.alice.registers();
  }

  get deposit(): DepositRecord {
    return this.venue.engine.state.deposits.byId.get(this.id)!;
  }

  votes(attestor: number, changes: Partial<AttestDeposit> = {}): void {
    const { venue, alice } = this;
    const credits = [{ address: alice.address, amountMicros: DOLLARS * 1e6, logIndex: 3 }];
    venue.apply(
      creditVote({
        stampMs: venue.now,
        attestor,
        depositId: this.id,
        votedAtMs: venue.engine.seq,
        credits: changes.verdict === undefined ? credits : [],
        ...changes,
      }),
    );
  }

  configures(changes: Partial<VenueConfig>, replacedAttestors?: readonly number[]): void {
    const { venue } = this;
    const config = { ...venue.engine.state.config!, ...changes };
    const replaced = replacedAttestors === undefined ? {} : { replacedAttestors };
    expect(venue.operates({ kind: "Configure", config, ...replaced })).toBeNull();
  }
}

describe("Configure: a vote counts for the key that signed it", () => {
  test("removed: a vote of an attestor that is none any more does not help to credit", () => {
    const story = new Story(3, 2);
    story.votes(2);
    story.configures({ attestors: 2 });
    story.votes(0);
    expect([story.deposit.status, story.alice.wallet]).toEqual(["queued", 0]);
    story.votes(1);
    expect([story.deposit.status, story.alice.wallet]).toEqual(["credited", DOLLARS]);
  });

  test("replaced: the vote of the one before is not the new one's", () => {
    const story = new Story(3, 2);
    story.votes(2);
    story.configures({}, [2]);
    story.votes(0);
    expect(story.alice.wallet).toBe(0);
    story.votes(2);
    expect(story.alice.wallet).toBe(DOLLARS);
  });

  test("a deposit that was rejected is not decided again, although fewer votes suffice", () => {
    const story = new Story(3, 2);
    story.votes(2);
    for (const attestor of [0, 1]) story.votes(attestor, { verdict: "reject", reason: "gone" });
    story.configures({ attestorQuorum: 1 });
    expect(story.venue.happened("DepositSettled")).toEqual([]);
    expect([story.deposit.status, story.alice.wallet]).toEqual(["rejected", 0]);
  });

  test("removed and come back: it has to say it again", () => {
    const story = new Story(3, 2);
    story.votes(2);
    story.configures({ attestors: 2 });
    story.configures({ attestors: 3 });
    story.votes(0);
    expect(story.alice.wallet).toBe(0);
  });

  test("the others' votes stand, and older ones of theirs are refused as before", () => {
    const story = new Story(3, 2);
    story.votes(0, { votedAtMs: 100 });
    story.votes(0, { verdict: "confirming", confirmations: 0, votedAtMs: 200 });
    story.configures({ attestors: 2 });
    // Anyone may hand in again what was published: it must not count for the second time.
    story.votes(0, { votedAtMs: 100 });
    expect(story.venue.refusal).toBe("vote_outdated");
    story.votes(1, { votedAtMs: 100 });
    expect(story.alice.wallet).toBe(0);
  });

  test("progress is counted among those who are left", () => {
    const story = new Story(3, 2);
    const confirming = { verdict: "confirming", required: 20 } as const;
    story.votes(0, { ...confirming, confirmations: 3 });
    story.votes(1, { ...confirming, confirmations: 5 });
    story.votes(2, { ...confirming, confirmations: 9 });
    expect(story.deposit.confirmations).toBe(5);
    story.configures({ attestors: 2 });
    expect(story.venue.happened("DepositProgressed")).toMatchObject([{ confirmations: 3 }]);
    story.configures({ maxOpenOrders: 7 });
    expect(story.venue.happened("DepositProgressed")).toEqual([]);
  });

  test("a deposit whose only votes are dropped is queued again, and forgotten a day later", () => {
    const story = new Story(1, 1);
    const { venue, id } = story;
    story.votes(0, { verdict: "confirming", confirmations: 3, required: 20 });
    expect(story.deposit).toMatchObject({ status: "confirming", confirmations: 3 });
    venue.resumes(venue.now + 2 * DAY_MS);
    story.configures({}, [0]);
    expect(venue.events).toMatchObject([
      { kind: "VenueConfigured" },
      { kind: "DepositReopened", depositId: id },
    ]);
    expect(story.deposit).toMatchObject({ status: "queued", confirmations: 0, required: 0 });
    expect(venue.engine.state.deposits.unseen(story.alice.account)).toBe(1);
    // The new attestor has a day to see it.
    venue.tick();
    expect(venue.happened("DepositForgotten")).toEqual([]);
    venue.restarts();
    venue.resumes(venue.now + DAY_MS);
    venue.tick();
    expect(venue.happened("DepositForgotten")).toMatchObject([{ depositId: id }]);
  });

  test("one whose votes are dropped is judged by those of the new attestor", () => {
    const story = new Story(1, 1);
    story.votes(0, { verdict: "confirming", confirmations: 3 });
    story.configures({}, [0]);
    story.votes(0);
    expect([story.deposit.status, story.alice.wallet]).toEqual(["credited", DOLLARS]);
  });

  test("a credit that was given stays, and so does who carried it", () => {
    const story = new Story(3, 2);
    story.votes(1);
    story.votes(2);
    story.configures({ attestors: 2 }, [1]);
    expect([...story.deposit.votes.keys()]).toEqual([1, 2]);
    expect([story.deposit.status, story.alice.wallet]).toEqual(["credited", DOLLARS]);
  });

  test("replaced: that a credited transaction is gone has to be said by a quorum of today", () => {
    const story = new Story(3, 2);
    const reorged = { verdict: "reorged", reason: "transaction_gone" } as const;
    story.votes(1);
    story.votes(2);
    story.votes(2, reorged);
    story.configures({}, [2]);
    story.votes(0, reorged);
    expect(story.deposit.reorged).toBe("");
    story.votes(2, reorged);
    expect(story.deposit.reorged).toBe("transaction_gone");
  });
});

describe("Configure: a smaller quorum", () => {
  test("credits what enough attestors had said, since they do not say it again", () => {
    const story = new Story(3, 3);
    story.votes(0);
    story.votes(1);
    expect(story.alice.wallet).toBe(0);
    story.configures({ attestors: 2, attestorQuorum: 2 });
    expect(story.venue.happened("DepositSettled")).toMatchObject([{ credited: 1 }]);
    expect(story.alice.wallet).toBe(DOLLARS);
  });

  test("rejects likewise, and marks a credited deposit", () => {
    const rejected = new Story(3, 3);
    for (const attestor of [0, 2]) {
      rejected.votes(attestor, { verdict: "reject", reason: "no_transfer" });
    }
    rejected.configures({ attestorQuorum: 2 });
    expect(rejected.deposit).toMatchObject({ status: "rejected", reason: "no_transfer" });
    const marked = new Story(3, 3);
    for (const attestor of [0, 1, 2]) marked.votes(attestor);
    marked.votes(1, { verdict: "reorged", reason: "transaction_moved" });
    marked.configures({ attestorQuorum: 1 });
    expect(marked.venue.happened("DepositReorged")).toMatchObject([{ depositId: marked.id }]);
    expect(marked.alice.wallet).toBe(DOLLARS);
  });

  test("decides nothing while two quorums say different things", () => {
    const story = new Story(2, 2);
    story.votes(0);
    story.votes(1, { verdict: "reject", reason: "no_transfer" });
    story.configures({ attestorQuorum: 1 });
    expect(story.deposit.status).toBe("confirming");
    // The next vote decides, as with any quorum of one.
    story.votes(1);
    expect(story.alice.wallet).toBe(DOLLARS);
  });
});
