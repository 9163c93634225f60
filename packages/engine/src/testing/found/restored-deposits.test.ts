/** Deposits that went on otherwise after a restart than without one. */
import { expect, test } from "vitest";
import { type AttestDeposit, type Command, LONG } from "../../commands.js";
import { Engine } from "../../engine.js";
import { creditVote } from "../commands.js";
import { sha256 } from "../replay/recording.js";
import { Venue } from "../scenarios/venue.js";

function confirming(
  venue: Venue,
  attestor: number,
  depositId: number,
  confirmations: number,
  required: number,
): AttestDeposit {
  const subject = { stampMs: venue.now, attestor, depositId, votedAtMs: venue.engine.seq };
  return creditVote({ ...subject, verdict: "confirming", confirmations, required, credits: [] });
}

/** Both engines apply the command, and must say and be the same after it. */
function bothApply(venue: Venue, restored: Engine, command: Command): void {
  venue.apply(command);
  expect(venue.repeats(restored, command)).toEqual(venue.events);
  expect(restored.stateHash(sha256)).toBe(venue.engine.stateHash(sha256));
}

test("vote: attestors with equal counts are ranked by number, not by who voted first", () => {
  const venue = new Venue({ config: { attestors: 3, attestorQuorum: 2 } });
  const id = venue.trader("alice").registers();
  venue.apply(confirming(venue, 1, id, 6, 20));
  venue.apply(confirming(venue, 0, id, 6, 12));
  const restored = Engine.restore(venue.engine.snapshot());
  bothApply(venue, restored, confirming(venue, 2, id, 4, 20));
  expect(venue.engine.state.deposits.byId.get(id)).toMatchObject({
    confirmations: 6,
    required: 20,
  });
});

test("register: a dev deposit that is opened again falls due, restart or not", () => {
  const venue = new Venue({ config: { attestorKind: "dev", devCreditMicros: 2 ** 51 + 1 } });
  const alice = venue.trader("alice");
  const id = alice.registers();
  venue.waits(1);
  expect(venue.engine.state.deposits.byId.get(id)?.reason).toBe("deposit_limit");
  expect(alice.registers()).toBe(id);
  const deposit = venue.engine.state.deposits.byId.get(id);
  expect(deposit?.status).toBe("queued");
  const restored = Engine.restore(venue.engine.snapshot());
  for (let i = 1; i <= 4; i++) {
    bothApply(venue, restored, { kind: "Tick", slot: venue.engine.state.lastTickMs / 200 + 1 });
  }
  expect(deposit).toMatchObject({ status: "rejected", reason: "deposit_limit" });
});

test("vote: a reorganisation without a reason is refused", () => {
  const venue = new Venue();
  const alice = venue.trader("alice", 1_000);
  const [deposit] = venue.engine.state.deposits.byId.values();
  const vote = { ...confirming(venue, 0, deposit!.id, 0, 0), verdict: "reorged" } as const;
  venue.apply({ ...vote, votedAtMs: venue.now });
  // It would bar the account from opening, but not after a restart.
  expect(venue.refusal).toBe("invalid_command");
  const restored = Engine.restore(venue.engine.snapshot());
  bothApply(venue, restored, alice.order(LONG, "limit", { margin: 100, price: 49_000 }));
  expect(venue.happened("OrderRested")).toHaveLength(1);
});

test("register: a text is the same after a restart, whatever it begins with", () => {
  const venue = new Venue();
  const { session } = venue.trader("alice");
  const names = { chain: "\ufeffethereum", txHash: "\ufeffab", token: "USDC" };
  const command = { kind: "RegisterDeposit", stampMs: venue.now, session, ...names } as const;
  venue.apply(command);
  const restored = Engine.restore(venue.engine.snapshot());
  bothApply(venue, restored, command);
});
