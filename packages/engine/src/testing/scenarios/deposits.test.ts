/** Money from outside: the dev attestor, votes and quorum, the bound on all deposits. */
import { describe, expect, test } from "vitest";
import type { AttestDeposit } from "../../commands.js";
import { MAX_DEPOSITS_MICROS } from "../../config.js";
import { creditVote } from "../commands.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

const DEV = { attestorKind: "dev", devCreditMicros: 10_000e6 } as const;

describe("dev attestor", () => {
  test("grants 10,000 at an account's first sign-in, once", () => {
    const venue = new Venue({ config: DEV });
    const alice = venue.trader("alice");
    expect(alice.wallet).toBe(10_000);
    alice.signsIn();
    expect(alice.wallet).toBe(10_000);
  });

  test("credits the registrant after 400 ms of log time, once per account, chain and hash", () => {
    const venue = new Venue({ config: DEV });
    const alice = venue.trader("alice");
    const bob = venue.trader("bob");
    const id = alice.registers();
    expect(alice.registers()).toBe(id);
    expect(bob.registers()).toBeGreaterThan(id);
    expect(alice.registers({ chain: "tron" })).toBeGreaterThan(id);
    venue.tick();
    expect(venue.happened("DepositCredited")).toEqual([]);
    venue.tick();
    expect(venue.happened("DepositCredited").map((event) => event.account)).toEqual([1, 2, 1]);
    expect([alice.wallet, bob.wallet]).toEqual([30_000, 20_000]);
    venue.waits(2);
    expect(alice.wallet).toBe(30_000);
    expect(alice.registers()).toBe(id);
  });

  test("takes no votes", () => {
    const venue = new Venue({ config: DEV });
    const id = venue.trader("alice").registers();
    venue.apply(vote(venue, 0, id, []));
    expect(venue.refusal).toBe("deposit_kind_mismatch");
  });
});

type Log = [trader: Trader, dollars: number, logIndex: number];

function vote(
  venue: Venue,
  attestor: number,
  depositId: number,
  logs: readonly Log[],
  changes: Partial<AttestDeposit> = {},
): AttestDeposit {
  return creditVote({
    stampMs: venue.now,
    attestor,
    depositId,
    // Each vote is signed later than all that the log holds.
    votedAtMs: venue.engine.seq,
    credits: logs.map(([{ address }, dollars, logIndex]) => {
      return { address, amountMicros: dollars * 1e6, logIndex };
    }),
    ...changes,
  });
}

describe("two of three attestors", () => {
  function quorum() {
    const venue = new Venue({ config: { attestors: 3, attestorQuorum: 2 } });
    const alice = venue.trader("alice");
    const bob = venue.trader("bob");
    return { venue, alice, bob, id: alice.registers() };
  }

  test("one vote credits nothing, the second credits the sender in the log, not the registrant", () => {
    const { venue, alice, bob, id } = quorum();
    venue.apply(vote(venue, 0, id, [[bob, 500, 3]]));
    expect(bob.wallet).toBe(0);
    // The same attestor again is still one.
    venue.apply(vote(venue, 0, id, [[bob, 500, 3]]));
    expect(bob.wallet).toBe(0);
    venue.apply(vote(venue, 2, id, [[bob, 500, 3]]));
    expect([alice.wallet, bob.wallet]).toEqual([0, 500]);
    expect(venue.happened("DepositSettled")).toMatchObject([{ depositId: id, credited: 1 }]);
    venue.apply(vote(venue, 1, id, [[bob, 500, 3]]));
    expect(venue.refusal).toBe("deposit_settled");
    expect(bob.wallet).toBe(500);
  });

  test("two logs of one transaction are credited once each, in any order of the votes", () => {
    const { venue, alice, bob, id } = quorum();
    venue.apply(
      vote(venue, 0, id, [
        [alice, 100, 1],
        [bob, 200, 4],
      ]),
    );
    venue.apply(
      vote(venue, 1, id, [
        [bob, 200, 4],
        [alice, 100, 1],
      ]),
    );
    expect([alice.wallet, bob.wallet]).toEqual([100, 200]);
    const logs = venue.happened("DepositCredited").map((event) => event.logIndex);
    expect([...logs].sort()).toEqual([1, 4]);
  });

  test("votes that differ in amount, sender or log do not add up", () => {
    const { venue, alice, bob, id } = quorum();
    venue.apply(vote(venue, 0, id, [[alice, 100, 1]]));
    venue.apply(vote(venue, 1, id, [[alice, 101, 1]]));
    venue.apply(vote(venue, 2, id, [[alice, 100, 2]]));
    expect([alice.wallet, bob.wallet]).toEqual([0, 0]);
    // One changes its mind.
    venue.apply(vote(venue, 1, id, [[alice, 100, 1]]));
    expect(alice.wallet).toBe(100);
  });

  test("progress is what a quorum has seen; a rejection needs a quorum with the same reason", () => {
    const { venue, alice, id } = quorum();
    const confirming = (attestor: number, confirmations: number): void => {
      const changes = { verdict: "confirming", confirmations } as const;
      venue.apply(vote(venue, attestor, id, [], changes));
    };
    confirming(0, 5);
    expect(venue.happened("DepositProgressed")).toEqual([]);
    confirming(1, 3);
    expect(venue.happened("DepositProgressed")).toMatchObject([{ confirmations: 3 }]);
    const reject = (attestor: number, reason: string): void => {
      venue.apply(vote(venue, attestor, id, [], { verdict: "reject", reason }));
    };
    reject(0, "wrong_token");
    reject(1, "receipt_failed");
    expect(venue.happened("DepositSettled")).toEqual([]);
    reject(2, "wrong_token");
    expect(venue.happened("DepositSettled")).toMatchObject([{ credited: 0 }]);
    venue.apply(vote(venue, 0, id, [[alice, 100, 1]]));
    expect(venue.refusal).toBe("deposit_settled");
  });

  test("refused: unknown attestor, unknown deposit, a log told twice, no amount", () => {
    const { venue, alice, id } = quorum();
    const refusalOf = (command: AttestDeposit): string | null => {
      venue.apply(command);
      return venue.refusal;
    };
    const log: Log = [alice, 100, 1];
    expect(refusalOf(vote(venue, 3, id, [log]))).toBe("attestor_unknown");
    expect(refusalOf(vote(venue, -1, id, [log]))).toBe("attestor_unknown");
    expect(refusalOf(vote(venue, 0, id + 99, [log]))).toBe("deposit_unknown");
    expect(refusalOf(vote(venue, 0, id, [log, log]))).toBe("invalid_command");
    expect(refusalOf(vote(venue, 0, id, []))).toBe("invalid_command");
    expect(refusalOf(vote(venue, 0, id, [[alice, 0, 1]]))).toBe("invalid_command");
    expect(refusalOf(vote(venue, 0, id, [[alice, 0.0000001, 1]]))).toBe("invalid_command");
  });
});

describe("what the venue owes its accounts stays within 2^52 micros", () => {
  const room = 5_000e6;

  /** A whale leaves that much room; the fund's seed does not count. */
  function nearlyFull(): Venue {
    const venue = new Venue({ config: { fundSeedMicros: MAX_DEPOSITS_MICROS / 2 } });
    const micros = MAX_DEPOSITS_MICROS - room;
    const whale = venue.trader("whale");
    whale.deposits(Math.floor(micros / 1e6));
    whale.deposits((micros % 1e6) / 1e6);
    expect(venue.engine.state.wallet(whale.account)).toBe(micros);
    return venue;
  }

  test("a credit that would pass it is rejected whole; a smaller one fits to the micro", () => {
    const venue = nearlyFull();
    const alice = venue.trader("alice");
    alice.deposits(5_000.000001);
    expect(venue.happened("DepositSettled")).toMatchObject([{ credited: 0 }]);
    expect(alice.wallet).toBe(0);
    alice.deposits(5_000);
    expect(alice.wallet).toBe(5_000);
    alice.deposits(0.000001);
    expect(alice.wallet).toBe(5_000);
  });

  test("a grant that would pass it is not given; it is made up once there is room", () => {
    const venue = new Venue({ config: { ...DEV, devCreditMicros: MAX_DEPOSITS_MICROS - room } });
    venue.trader("whale");
    configures(venue, room);
    expect(venue.trader("alice").wallet).toBe(5_000);
    configures(venue, 100e6);
    const bob = venue.trader("bob");
    expect([bob.wallet, bob.session > 0]).toEqual([0, true]);
    bob.registers();
    venue.waits(1);
    expect(bob.wallet).toBe(0);
    bob.signsIn();
    expect(bob.wallet).toBe(0);
    // As if the whale had paid so much in fees.
    venue.engine.state.addWallet(1, -100e6);
    venue.engine.state.totals.fees += 100e6;
    bob.signsIn();
    expect(bob.wallet).toBe(100);
    bob.signsIn();
    expect(bob.wallet).toBe(100);
  });
});

function configures(venue: Venue, devCreditMicros: number): void {
  const config = { ...venue.config, devCreditMicros };
  expect(venue.operates({ kind: "Configure", config })).toBeNull();
}

describe("a deposit that was rejected", () => {
  test("register: a stranger's wrong token does not take the owner's deposit away", () => {
    const venue = new Venue();
    const [mallory, alice] = [venue.trader("mallory"), venue.trader("alice")];
    const id = mallory.registers();
    venue.apply(vote(venue, 0, id, [], { verdict: "reject", reason: "other_token" }));
    const deposit = venue.engine.state.deposits.byId.get(id);
    expect(deposit?.status).toBe("rejected");
    expect(alice.registers()).toBe(id);
    expect(deposit?.status).toBe("rejected");
    alice.registers({ token: "USDT" });
    expect(deposit?.status).toBe("queued");
    venue.apply(vote(venue, 0, id, [[alice, 70, 3]]));
    expect(deposit?.status).toBe("credited");
    expect(alice.wallet).toBe(70);
  });

  test("vote: an older one of the same attestor is refused", () => {
    const venue = new Venue({ config: { attestors: 3, attestorQuorum: 2 } });
    const alice = venue.trader("alice");
    const id = alice.registers();
    venue.apply(vote(venue, 0, id, [], { verdict: "confirming", votedAtMs: 100 }));
    venue.apply(vote(venue, 0, id, [[alice, 5, 0]], { votedAtMs: 99 }));
    expect(venue.refusal).toBe("vote_outdated");
  });

  test("reorg: a credited deposit is marked at the quorum and its money stays", () => {
    const venue = new Venue();
    const alice = venue.trader("alice");
    const id = alice.registers();
    venue.apply(vote(venue, 0, id, [], { verdict: "reorged", reason: "transaction_gone" }));
    expect(venue.refusal).toBe("deposit_settled");
    venue.apply(vote(venue, 0, id, [[alice, 5, 0]]));
    venue.apply(vote(venue, 0, id, [], { verdict: "reorged", reason: "transaction_gone" }));
    expect(venue.happened("DepositReorged").map((event) => event.depositId)).toEqual([id]);
    expect(venue.engine.state.deposits.byId.get(id)?.reorged).toBe("transaction_gone");
    expect(alice.wallet).toBe(5);
  });
});
