/** Transactions credited in parts, credits of several tokens, and what the operator decides. */
import { expect, test } from "vitest";
import type { AttestDeposit, AttestedCredit } from "../../commands.js";
import { Engine } from "../../engine.js";
import { creditVote } from "../commands.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

const CHAIN = { attestorKind: "chain", attestors: 3, attestorQuorum: 2 } as const;

function credit(trader: Trader, dollars: number, logIndex: number, token = "USDC"): AttestedCredit {
  return { address: trader.address, amountMicros: dollars * 1e6, logIndex, token };
}

function vote(venue: Venue, attestor: number, depositId: number, says: Partial<AttestDeposit>) {
  const subject = { stampMs: venue.now, attestor, depositId, votedAtMs: venue.engine.seq };
  venue.apply(creditVote({ ...subject, credits: [], ...says }));
}

function both(venue: Venue, depositId: number, says: Partial<AttestDeposit>): void {
  for (const attestor of [0, 1]) vote(venue, attestor, depositId, says);
}

function opened() {
  const venue = new Venue({ config: CHAIN });
  const alice = venue.trader("alice");
  return { venue, alice, id: alice.registers() };
}

function depositOf(venue: Venue, id: number) {
  return venue.engine.state.deposits.byId.get(id)!;
}

test("one transaction of two tokens: both are credited, each with its token", () => {
  const { venue, alice, id } = opened();
  both(venue, id, { credits: [credit(alice, 5, 0), credit(alice, 7, 1, "USDT")] });
  expect(alice.wallet).toBe(12);
  expect(depositOf(venue, id).credits.map(({ token }) => token)).toEqual(["USDC", "USDT"]);
});

test("votes that name another token for a log: no quorum", () => {
  const { venue, alice, id } = opened();
  vote(venue, 0, id, { credits: [credit(alice, 5, 0)] });
  vote(venue, 1, id, { credits: [credit(alice, 5, 0, "USDT")] });
  expect(depositOf(venue, id).status).toBe("confirming");
  expect(alice.wallet).toBe(0);
});

test("parts: credited in order, each once, settled with the last", () => {
  const { venue, alice, id } = opened();
  vote(venue, 0, id, { credits: [credit(alice, 1, 9)], part: 2, parts: 2 });
  expect(venue.refusal).toBe("deposit_settled");
  both(venue, id, { credits: [credit(alice, 5, 0)], part: 1, parts: 2 });
  expect(venue.happened("DepositPartCredited")).toMatchObject([{ part: 1, parts: 2 }]);
  expect([alice.wallet, depositOf(venue, id).status]).toEqual([5, "confirming"]);
  vote(venue, 2, id, { credits: [credit(alice, 5, 0)], part: 1, parts: 2 });
  expect(venue.refusal).toBe("deposit_settled");
  vote(venue, 2, id, { verdict: "reject", reason: "no_transfer" });
  expect(venue.refusal).toBe("deposit_settled");
  both(venue, id, { credits: [credit(alice, 3, 100)], part: 2, parts: 2 });
  expect([alice.wallet, depositOf(venue, id).status]).toEqual([8, "credited"]);
});

test("parts: a log that an earlier part credited is not credited again", () => {
  const { venue, alice, id } = opened();
  both(venue, id, { credits: [credit(alice, 5, 0), credit(alice, 6, 1)], part: 1, parts: 2 });
  // Another smallest deposit moves the logs to other parts.
  vote(venue, 0, id, { credits: [credit(alice, 6, 1), credit(alice, 7, 2)], part: 2, parts: 2 });
  expect(venue.refusal).toBe("deposit_settled");
  both(venue, id, { credits: [credit(alice, 7, 2)], part: 2, parts: 2 });
  expect([alice.wallet, depositOf(venue, id).status]).toEqual([18, "credited"]);
});

test("parts: a smaller quorum does not credit the part before again", () => {
  const { venue, alice, id } = opened();
  both(venue, id, { credits: [credit(alice, 5, 0)], part: 1, parts: 2 });
  const config = { ...venue.engine.state.config!, attestorQuorum: 1 };
  venue.operates({ kind: "Configure", config });
  expect([alice.wallet, depositOf(venue, id).status]).toEqual([5, "confirming"]);
});

test("parts: a reorganisation between two of them ends the deposit", () => {
  const { venue, alice, id } = opened();
  both(venue, id, { credits: [credit(alice, 5, 0)], part: 1, parts: 2 });
  both(venue, id, { verdict: "reorged", reason: "transaction_gone" });
  expect(depositOf(venue, id)).toMatchObject({ status: "credited", reorged: "transaction_gone" });
  vote(venue, 0, id, { credits: [credit(alice, 3, 100)], part: 2, parts: 2 });
  expect(venue.refusal).toBe("deposit_settled");
});

test("a credit that is reorganised was settled before, and is not settled again", () => {
  const { venue, alice, id } = opened();
  both(venue, id, { credits: [credit(alice, 5, 0)] });
  const { settledAtMs } = depositOf(venue, id);
  venue.waits(2);
  both(venue, id, { verdict: "reorged", reason: "transaction_gone" });
  expect(venue.happened("DepositReorged")).toHaveLength(1);
  expect(venue.happened("DepositSettled")).toEqual([]);
  expect(depositOf(venue, id).settledAtMs).toBe(settledAtMs);
});

test.each(["ethereum", "USDC"])(
  "paused %s: nothing is credited or rejected, progress is",
  (scope) => {
    const { venue, alice, id } = opened();
    venue.operates({ kind: "PauseDeposits", scope, isPaused: true });
    both(venue, id, { verdict: "confirming", confirmations: 3 });
    expect(depositOf(venue, id)).toMatchObject({ status: "confirming", confirmations: 3 });
    both(venue, id, { credits: [credit(alice, 5, 0)] });
    expect(venue.refusal).toBe("deposits_paused");
    both(venue, id, { verdict: "reject", reason: "no_transfer" });
    expect(venue.refusal).toBe("deposits_paused");
    venue.operates({ kind: "PauseDeposits", scope, isPaused: false });
    both(venue, id, { credits: [credit(alice, 5, 0)] });
    expect(alice.wallet).toBe(5);
  },
);

test("a quorum lowered during a pause: reached when the pause ends", () => {
  const { venue, alice, id } = opened();
  vote(venue, 0, id, { credits: [credit(alice, 5, 0)] });
  venue.operates({ kind: "PauseDeposits", scope: "ethereum", isPaused: true });
  const config = { ...venue.engine.state.config!, attestorQuorum: 1 };
  venue.operates({ kind: "Configure", config });
  expect(alice.wallet).toBe(0);
  venue.operates({ kind: "PauseDeposits", scope: "ethereum", isPaused: false });
  expect(alice.wallet).toBe(5);
});

test("rejudge: a rejected deposit is judged again, whatever its reason; no other is", () => {
  const { venue, alice, id } = opened();
  expect(venue.operates({ kind: "RejudgeDeposit", depositId: id })).toBe("deposit_not_rejected");
  both(venue, id, { verdict: "reject", reason: "wrong_contract" });
  expect(depositOf(venue, id).status).toBe("rejected");
  venue.operates({ kind: "RejudgeDeposit", depositId: id });
  expect(depositOf(venue, id)).toMatchObject({ status: "queued", reason: "" });
  both(venue, id, { credits: [credit(alice, 5, 0)] });
  expect(alice.wallet).toBe(5);
});

test("settle: a reorganised credit once, nothing else, and the mark stays", () => {
  const { venue, alice, id } = opened();
  const settle = () => venue.operates({ kind: "SettleReorgedDeposit", depositId: id });
  both(venue, id, { credits: [credit(alice, 5, 0)] });
  settle();
  expect(venue.refusal).toBe("deposit_not_reorged");
  both(venue, id, { verdict: "reorged", reason: "transaction_gone" });
  settle();
  expect(venue.happened("DepositReorgSettled")).toHaveLength(1);
  expect(depositOf(venue, id)).toMatchObject({ reorged: "transaction_gone" });
  settle();
  expect(venue.refusal).toBe("deposit_not_reorged");
});

test("settle: a reorganisation that every attestor reports stops the account until then only", () => {
  const { venue, alice, id } = opened();
  both(venue, id, { credits: [credit(alice, 500, 0)] });
  const reorged = { verdict: "reorged", reason: "transaction_gone" } as const;
  for (const attestor of [0, 1, 2]) vote(venue, attestor, id, reorged);
  expect(alice.buys("market", { margin: 10 }).reason).toBe("deposit_reorged");
  venue.operates({ kind: "SettleReorgedDeposit", depositId: id });
  expect(alice.buys("limit", { margin: 10, price: 49_000 }).status).toBe("resting");
  // Nor does a vote that comes later than that.
  vote(venue, 2, id, reorged);
  expect(alice.buys("limit", { margin: 10, price: 49_000 }).status).toBe("resting");
});

test("parts: one credited, the next over the bound, registered again: never forgotten", () => {
  const { venue, alice, id } = opened();
  both(venue, id, { credits: [credit(alice, 500, 0)], part: 1, parts: 2 });
  both(venue, id, { credits: [credit(alice, 2 ** 52 / 1e6, 100)], part: 2, parts: 2 });
  expect(depositOf(venue, id)).toMatchObject({ status: "rejected", reason: "deposit_limit" });
  expect(alice.registers()).toBe(id);
  expect(venue.engine.state.deposits.unseen(alice.account)).toBe(0);
  venue.pauses(venue.now + 25 * 3_600_000);
  venue.tick();
  expect(venue.happened("DepositForgotten")).toEqual([]);
  alice.signsIn();
  expect(alice.registers()).toBe(id);
  vote(venue, 0, id, { credits: [credit(alice, 500, 0)], part: 1, parts: 2 });
  expect(venue.refusal).toBe("deposit_settled");
  both(venue, id, { credits: [credit(alice, 3, 100)], part: 2, parts: 2 });
  expect(alice.wallet).toBe(503);
});

test("a restored engine: parts, tokens, pauses and settlements are all there", () => {
  const { venue, alice, id } = opened();
  both(venue, id, { credits: [credit(alice, 5, 0, "USDT")], part: 1, parts: 2 });
  venue.operates({ kind: "PauseDeposits", scope: "tron", isPaused: true });
  const restored = Engine.restore(venue.engine.snapshot());
  expect(restored.state.deposits.byId.get(id)).toEqual(depositOf(venue, id));
  expect([...restored.state.deposits.paused]).toEqual(["tron"]);
});
