/** Money that leaves: the debit, every bound, the votes, and what comes back. */
import { describe, expect, test } from "vitest";
import type { AttestWithdrawal } from "../../commands.js";
import {
  HOUR_MS,
  MAX_DEPOSITS_MICROS,
  type VenueConfig,
  type WithdrawalConfig,
} from "../../config.js";
import { REFUSALS } from "../../reasons.js";
import { creditVote, withdrawalVote } from "../commands.js";
import { MICROS } from "./listing.js";
import type { Trader } from "./trader.js";
import { START_MS, Venue } from "./venue.js";

const DAY_MS = 24 * HOUR_MS;
const TERMS: WithdrawalConfig = {
  minMicros: 10 * MICROS,
  feeMicros: 1 * MICROS,
  accountDayMicros: 500 * MICROS,
  venueHourMicros: 600 * MICROS,
  venueDayMicros: 900 * MICROS,
  lifeMs: 6 * HOUR_MS,
  chains: [
    { chain: "ethereum", chainId: 1, tokens: ["USDC", "USDT"], maxUnpaidMicros: 700 * MICROS },
    { chain: "arbitrum", chainId: 42_161, tokens: ["USDC"], maxUnpaidMicros: 700 * MICROS },
  ],
};

function venueWith(terms: Partial<WithdrawalConfig> = {}): Venue {
  const withdrawals = { ...TERMS, ...terms };
  return new Venue({ config: { attestors: 3, attestorQuorum: 2, withdrawals } });
}

/** Credits dollars by two votes; returns the deposit's id. */
function credits(
  venue: Venue,
  trader: Trader,
  dollars: number,
  at: { chain?: string; token?: string } = {},
): number {
  const id = trader.registers({ ...at, txHash: (venue.engine.seq + 1).toString(16) });
  const entry = { address: trader.address, amountMicros: dollars * MICROS, logIndex: 0 };
  for (const attestor of [0, 1]) {
    const stampMs = venue.now;
    venue.apply(creditVote({ stampMs, attestor, depositId: id, credits: [entry] }));
  }
  return id;
}

/** One attestor's vote; returns the refusal, or null. */
function votes(
  venue: Venue,
  attestor: number,
  withdrawalId: number,
  verdict: AttestWithdrawal["verdict"],
  changes: Partial<AttestWithdrawal> = {},
): string | null {
  const votedAtMs = venue.engine.seq;
  const said = { stampMs: venue.now, attestor, withdrawalId, verdict, votedAtMs };
  venue.apply(withdrawalVote({ ...said, ...changes }));
  return venue.refusal;
}

function idOf(asked: number | string): number {
  if (typeof asked === "string") throw new Error(`refused: ${asked}`);
  return asked;
}

describe("Withdraw", () => {
  test("amount and fee leave the wallet immediately; a quorum of sightings pays it", () => {
    const venue = venueWith();
    const alice = venue.trader("alice");
    credits(venue, alice, 300);
    const fees = venue.fees;
    const id = idOf(alice.withdraws(100));
    expect([alice.wallet, venue.fees - fees]).toEqual([199, 1]);
    expect(venue.happened("WithdrawalRequested")).toMatchObject([
      { account: alice.account, amountMicros: 100 * MICROS, walletMicros: 199 * MICROS },
    ]);
    const { withdrawals } = venue.engine.state;
    const status = (): string | undefined => withdrawals.byId.get(id)?.status;
    expect(votes(venue, 0, id, "signed")).toBeNull();
    // One attestor twice is still one.
    votes(venue, 0, id, "signed");
    expect(status()).toBe("queued");
    votes(venue, 2, id, "signed");
    expect([status(), venue.happened("WithdrawalProgressed").length]).toEqual(["attested", 1]);
    votes(venue, 0, id, "pending");
    expect(status()).toBe("attested");
    votes(venue, 1, id, "pending");
    expect(status()).toBe("pending");
    votes(venue, 1, id, "paid");
    // Another transaction is another statement.
    votes(venue, 2, id, "paid", { txHash: "00".repeat(32) });
    expect(status()).toBe("pending");
    votes(venue, 0, id, "paid");
    expect(venue.happened("WithdrawalPaid")).toMatchObject([{ withdrawalId: id }]);
    expect(votes(venue, 2, id, "paid")).toBe("withdrawal_unknown");
    expect([alice.wallet, withdrawals.owed, withdrawals.unpaid("ethereum")]).toEqual([199, 0, 0]);
    expect(withdrawals.sentOf("ethereum", "USDC")).toBe(100 * MICROS);
  });

  test("the same nonce again is reported as the one before, whatever it asks for", () => {
    const venue = venueWith();
    const alice = venue.trader("alice");
    credits(venue, alice, 300);
    const id = alice.withdraws(100, { nonce: 7 });
    expect(alice.withdraws(200, { nonce: 7 })).toBe("replayed");
    expect(venue.happened("OrderReplayed")).toMatchObject([{ nonce: 7, orderId: id }]);
    expect(alice.wallet).toBe(199);
  });

  test("only the free balance leaves: not what orders reserve, nor a position's margin", () => {
    const venue = venueWith();
    const [alice, bob] = [venue.trader("alice"), venue.trader("bob")];
    credits(venue, alice, 300);
    credits(venue, bob, 300);
    bob.sells("limit", { margin: 100, price: 50_000 });
    alice.buys("market", { margin: 100 });
    alice.buys("limit", { margin: 100, price: 49_000 });
    const { wallet } = alice;
    expect(wallet).toBeLessThan(100);
    expect(alice.withdraws(wallet)).toBe("insufficient_balance");
    expect(alice.withdraws(wallet - 0.999999)).toBe("insufficient_balance");
    expect(alice.withdraws(wallet - 1)).toBeGreaterThan(0);
    expect(alice.wallet).toBe(0);
  });

  test("counted on request: changes nothing, ten a minute; refused where the venue owes nobody's deposits", () => {
    const venue = venueWith();
    const before = { ...venue.engine.state.totals };
    const count = { kind: "CountReserves" } as const;
    expect(venue.operates(count)).toBeNull();
    expect([venue.events, venue.engine.state.totals]).toEqual([[], before]);
    for (let done = 1; done < 10; done++) expect(venue.operates(count)).toBeNull();
    expect(venue.operates(count)).toBe("operator_rate_limit");
    const dev = new Venue({ config: { attestorKind: "dev" } });
    expect(dev.operates(count)).toBe("withdrawals_not_supported");
    expect(new Venue({ version: 2 }).operates(count)).toBe("withdrawals_not_supported");
  });

  test("refused: other chains and tokens, too small, paused, a key that was rotated, malformed", () => {
    const venue = venueWith();
    const alice = venue.trader("alice");
    credits(venue, alice, 300);
    expect(alice.withdraws(100, { chain: "tron" })).toBe("withdrawals_not_supported");
    expect(alice.withdraws(100, { chain: "arbitrum", token: "USDT" })).toBe(
      "withdrawals_not_supported",
    );
    expect(alice.withdraws(9.999999)).toBe("withdrawal_too_small");
    expect(alice.withdraws(100, { key: "other" })).toBe("session_key_rotated");
    expect(alice.withdraws(-100)).toBe("invalid_command");
    expect(alice.withdraws(100, { amountMicros: 0.5 })).toBe("invalid_command");
    for (const scope of ["ethereum", "USDC"]) {
      venue.operates({ kind: "PauseDeposits", scope, isPaused: true });
      expect(alice.withdraws(100)).toBe("withdrawals_paused");
      venue.operates({ kind: "PauseDeposits", scope, isPaused: false });
    }
    expect([alice.wallet, venue.engine.state.withdrawals.byId.size]).toEqual([300, 0]);
    expect(alice.withdraws(100)).toBeGreaterThan(0);
  });

  test("a chain never pays more of a token than it has brought", () => {
    const venue = venueWith();
    const [alice, bob] = [venue.trader("alice"), venue.trader("bob")];
    credits(venue, alice, 100);
    credits(venue, alice, 300, { chain: "arbitrum" });
    credits(venue, bob, 50, { token: "USDT" });
    expect(alice.withdraws(100.000001)).toBe("chain_balance_too_small");
    expect(alice.withdraws(51, { token: "USDT" })).toBe("chain_balance_too_small");
    // Another account's credit is as good as the own one: the money is in one vault.
    expect(alice.withdraws(50, { token: "USDT" })).toBeGreaterThan(0);
    expect(alice.withdraws(60)).toBeGreaterThan(0);
    expect(alice.withdraws(40.000001)).toBe("chain_balance_too_small");
    expect(alice.withdraws(40)).toBeGreaterThan(0);
  });

  test("a reorganised credit stops its owner, and is no money of the chain, until it is settled", () => {
    const venue = venueWith();
    const [alice, bob] = [venue.trader("alice"), venue.trader("bob")];
    const id = credits(venue, alice, 100);
    credits(venue, bob, 300);
    credits(venue, bob, 300, { chain: "arbitrum" });
    for (const attestor of [0, 1]) {
      const gone = { verdict: "reorged", reason: "transaction_gone", votedAtMs: 9 } as const;
      const stampMs = venue.now;
      venue.apply(creditVote({ stampMs, attestor, depositId: id, credits: [], ...gone }));
    }
    expect(alice.withdraws(50)).toBe("reorged_credit");
    expect(bob.withdraws(301)).toBe("chain_balance_too_small");
    venue.operates({ kind: "SettleReorgedDeposit", depositId: id });
    expect(alice.withdraws(50)).toBeGreaterThan(0);
    expect(bob.withdraws(301)).toBeGreaterThan(0);
  });

  test("what is not paid on a chain has a bound of its own", () => {
    const terms = { venueHourMicros: 1e12, venueDayMicros: 1e12, accountDayMicros: 1e12 };
    const venue = venueWith(terms);
    const alice = venue.trader("alice");
    credits(venue, alice, 2_000);
    credits(venue, alice, 2_000, { chain: "arbitrum" });
    const id = idOf(alice.withdraws(700));
    expect(alice.withdraws(10)).toBe("unpaid_withdrawals");
    expect(alice.withdraws(10, { chain: "arbitrum" })).toBeGreaterThan(0);
    for (const attestor of [1, 2]) votes(venue, attestor, id, "paid");
    expect(alice.withdraws(700)).toBeGreaterThan(0);
  });

  test("an account that signed in as a contract is paid on the chain of the contract alone", () => {
    const venue = venueWith();
    const alice = venue.trader("alice");
    credits(venue, alice, 300);
    credits(venue, alice, 300, { chain: "arbitrum" });
    alice.signsIn({ contractChainId: 42_161 });
    venue.restarts();
    expect(alice.withdraws(50)).toBe("contract_wallet_elsewhere");
    expect(alice.withdraws(50, { chain: "arbitrum" })).toBeGreaterThan(0);
    // The key of the address itself is the owner's on every chain.
    alice.signsIn();
    expect(alice.withdraws(50)).toBeGreaterThan(0);
  });
});

describe("bounds in time", () => {
  /** Withdraws; returns the refusal with the minutes after the start at which it fits. */
  function asks(venue: Venue, trader: Trader, dollars: number): [string, number] | "taken" {
    if (typeof trader.withdraws(dollars) === "number") return "taken";
    const [{ refusal, detail1 } = { refusal: 0, detail1: 0 }] = venue.happened("CommandRefused");
    return [REFUSALS[refusal]!, detail1 === 0 ? 0 : (detail1 - START_MS) / 60_000];
  }

  test("per account and day, per venue and hour, per venue and day, with when it fits", () => {
    const venue = venueWith();
    const traders = ["alice", "bob", "carol"].map((name) => venue.trader(name));
    const [alice, bob, carol] = [traders[0]!, traders[1]!, traders[2]!];
    for (const trader of traders) credits(venue, trader, 2_000);
    for (const trader of traders) credits(venue, trader, 2_000, { chain: "arbitrum" });
    // More than a bound fits never.
    expect(asks(venue, alice, 501)).toEqual(["withdrawal_limit", 0]);
    expect(asks(venue, alice, 400)).toBe("taken");
    expect(asks(venue, alice, 101)).toEqual(["withdrawal_limit", 25 * 60]);
    expect(asks(venue, bob, 201)).toEqual(["withdrawal_limit", 65]);
    expect(asks(venue, bob, 200)).toBe("taken");
    venue.skipsTo(START_MS + 65 * 60_000 - 1);
    // In the last moment of the window, restored or not.
    venue.restarts();
    expect(asks(venue, carol, 100)).toEqual(["withdrawal_limit", 65]);
    venue.skipsTo(START_MS + 65 * 60_000 + 1_000);
    const other = { chain: "arbitrum" };
    expect(carol.withdraws(300, other)).toBeGreaterThan(0);
    expect(carol.withdraws(100, other)).toBe("withdrawal_limit");
    venue.skipsTo(START_MS + DAY_MS + HOUR_MS - 1_000);
    carol.signsIn();
    expect(carol.withdraws(10, other)).toBe("withdrawal_limit");
    venue.skipsTo(START_MS + DAY_MS + HOUR_MS + 1_000);
    expect(carol.withdraws(10, other)).toBeGreaterThan(0);
  });

  test("what has expired counts until its time all the same", () => {
    const venue = venueWith({ lifeMs: HOUR_MS });
    const alice = venue.trader("alice");
    credits(venue, alice, 2_000);
    const id = idOf(alice.withdraws(500));
    venue.skipsTo(START_MS + 2 * HOUR_MS);
    for (const attestor of [0, 1]) votes(venue, attestor, id, "unpaid");
    expect(alice.wallet).toBe(2_000);
    expect(alice.withdraws(10)).toBe("withdrawal_limit");
  });
});

describe("non-payment", () => {
  function expiring(): { venue: Venue; alice: Trader; id: number } {
    const venue = venueWith();
    const alice = venue.trader("alice");
    credits(venue, alice, 300);
    const id = idOf(alice.withdraws(100));
    return { venue, alice, id };
  }

  test("nothing but a quorum after the deadline gives the money back, once, with the fee", () => {
    const { venue, alice, id } = expiring();
    const fees = venue.fees;
    expect(votes(venue, 0, id, "unpaid")).toBe("withdrawal_not_due");
    // The deadline itself is the vault's last moment.
    venue.skipsTo(START_MS + TERMS.lifeMs);
    expect(votes(venue, 0, id, "unpaid")).toBe("withdrawal_not_due");
    venue.tick();
    venue.tick();
    expect(votes(venue, 0, id, "unpaid")).toBeNull();
    votes(venue, 0, id, "unpaid");
    expect(alice.wallet).toBe(199);
    votes(venue, 1, id, "unpaid");
    expect(venue.happened("WithdrawalExpired")).toMatchObject([
      { withdrawalId: id, amountMicros: 100 * MICROS, walletMicros: 300 * MICROS },
    ]);
    expect([alice.wallet, fees - venue.fees]).toEqual([300, 1]);
    expect(votes(venue, 2, id, "unpaid")).toBe("withdrawal_unknown");
    expect(votes(venue, 2, id, "paid")).toBe("withdrawal_unknown");
    expect(alice.wallet).toBe(300);
    // The chain has it again.
    expect(venue.engine.state.withdrawals.sentOf("ethereum", "USDC")).toBe(0);
  });

  test("an attestor that changes its mind, and one whose vote is old", () => {
    const { venue, alice, id } = expiring();
    venue.skipsTo(START_MS + TERMS.lifeMs + 1_000);
    votes(venue, 0, id, "unpaid", { votedAtMs: 50 });
    expect(votes(venue, 0, id, "paid", { votedAtMs: 49 })).toBe("vote_outdated");
    votes(venue, 0, id, "paid", { votedAtMs: 51 });
    votes(venue, 1, id, "unpaid");
    expect(alice.wallet).toBe(199);
    votes(venue, 2, id, "paid");
    expect([alice.wallet, venue.happened("WithdrawalPaid").length]).toEqual([199, 1]);
  });

  test("a pause stops every end; votes of before it count once it is over", () => {
    const { venue, alice, id } = expiring();
    const wide = { ...venue.config, attestors: 5, attestorQuorum: 3 };
    expect(venue.operates({ kind: "Configure", config: wide })).toBeNull();
    venue.skipsTo(START_MS + TERMS.lifeMs + 1_000);
    votes(venue, 0, id, "unpaid");
    votes(venue, 3, id, "unpaid");
    venue.operates({ kind: "PauseDeposits", scope: "USDC", isPaused: true });
    expect(votes(venue, 1, id, "unpaid")).toBe("withdrawals_paused");
    expect(votes(venue, 1, id, "paid")).toBe("withdrawals_paused");
    expect(votes(venue, 1, id, "signed")).toBeNull();
    const config = { ...wide, attestorQuorum: 2 };
    expect(venue.operates({ kind: "Configure", config })).toBeNull();
    expect(alice.wallet).toBe(199);
    // The quorum is there, and no other vote may end it, or credit it, in the pause.
    expect(votes(venue, 1, id, "pending")).toBeNull();
    expect([alice.wallet, venue.engine.state.withdrawals.byId.size]).toEqual([199, 1]);
    venue.operates({ kind: "PauseDeposits", scope: "USDC", isPaused: false });
    expect([alice.wallet, venue.engine.state.withdrawals.byId.size]).toEqual([300, 0]);
  });

  test("two quorums that state different things move nothing, whichever vote comes next", () => {
    const { venue, alice, id } = expiring();
    const wide = { ...venue.config, attestors: 5, attestorQuorum: 3 };
    expect(venue.operates({ kind: "Configure", config: wide })).toBeNull();
    venue.skipsTo(START_MS + TERMS.lifeMs + 1_000);
    for (const attestor of [0, 3]) votes(venue, attestor, id, "unpaid");
    for (const attestor of [1, 4]) votes(venue, attestor, id, "paid");
    const config = { ...wide, attestorQuorum: 2 };
    expect(venue.operates({ kind: "Configure", config })).toBeNull();
    for (const verdict of ["signed", "pending", "unpaid"] as const) {
      votes(venue, 2, id, verdict);
      expect([verdict, alice.wallet]).toEqual([verdict, 199]);
      expect(venue.engine.state.withdrawals.byId.size).toBe(1);
    }
    votes(venue, 1, id, "unpaid");
    expect(alice.wallet).toBe(300);
  });

  test("votes of an attestor whose key was replaced count no longer", () => {
    const { venue, alice, id } = expiring();
    votes(venue, 0, id, "signed");
    votes(venue, 1, id, "signed");
    venue.skipsTo(START_MS + TERMS.lifeMs + 1_000);
    votes(venue, 0, id, "unpaid");
    const command = { kind: "Configure", config: venue.config, replacedAttestors: [0] } as const;
    expect(venue.operates(command)).toBeNull();
    expect(venue.engine.state.withdrawals.byId.get(id)?.status).toBe("queued");
    votes(venue, 1, id, "unpaid");
    expect(alice.wallet).toBe(199);
    votes(venue, 0, id, "unpaid");
    expect(alice.wallet).toBe(300);
  });

  test("what may have to be credited again leaves no room for others' deposits", () => {
    const venue = venueWith();
    const alice = venue.trader("alice");
    credits(venue, alice, 300);
    const id = idOf(alice.withdraws(100));
    const room = (MAX_DEPOSITS_MICROS - 300 * MICROS) / MICROS;
    const whale = venue.trader("whale");
    credits(venue, whale, room + 1);
    expect(whale.wallet).toBe(0);
    credits(venue, whale, room);
    expect(whale.wallet).toBe(room);
    venue.skipsTo(START_MS + TERMS.lifeMs + 1_000);
    for (const attestor of [0, 1]) votes(venue, attestor, id, "unpaid");
    expect(alice.wallet).toBe(300);
  });
});

describe("who may", () => {
  test("vote: refused from unknown attestors, on unknown withdrawals, malformed", () => {
    const venue = venueWith();
    const alice = venue.trader("alice");
    credits(venue, alice, 300);
    const id = idOf(alice.withdraws(100));
    expect(votes(venue, 3, id, "signed")).toBe("attestor_unknown");
    expect(votes(venue, -1, id, "signed")).toBe("attestor_unknown");
    expect(votes(venue, 0, id + 1, "signed")).toBe("withdrawal_unknown");
    expect(votes(venue, 0, id, "signed", { vaultSignature: "" })).toBe("invalid_command");
    expect(votes(venue, 0, id, "paid", { txHash: "" })).toBe("invalid_command");
    expect(votes(venue, 0, id, "pending", { txHash: "0x" })).toBe("invalid_command");
  });

  test("a venue whose configuration has no withdrawals takes none, and keeps its bytes", () => {
    const venue = new Venue({ config: { attestors: 3, attestorQuorum: 2 } });
    const alice = venue.trader("alice");
    credits(venue, alice, 300);
    const before = venue.engine.snapshot().length;
    expect(alice.withdraws(100)).toBe("withdrawals_not_supported");
    expect(venue.engine.snapshot().length).toBe(before);
    const withdrawals = TERMS;
    const config = { ...venue.config, withdrawals };
    expect(venue.operates({ kind: "Configure", config })).toBeNull();
    expect(alice.withdraws(100)).toBeGreaterThan(0);
    // Those that are open go on when the venue takes no more.
    expect(venue.operates({ kind: "Configure", config: venue.config })).toBeNull();
    expect(alice.withdraws(100)).toBe("withdrawals_not_supported");
    const [id] = venue.engine.state.withdrawals.byId.keys();
    for (const attestor of [0, 1]) votes(venue, attestor, id!, "paid");
    expect(venue.engine.state.withdrawals.byId.size).toBe(0);
  });

  test("configuration: neither another vault nor a quorum of one while a withdrawal is open", () => {
    const venue = venueWith();
    const alice = venue.trader("alice");
    credits(venue, alice, 300);
    const id = idOf(alice.withdraws(100));
    const configures = (config: VenueConfig, movedChains: readonly string[] = []) =>
      venue.operates({ kind: "Configure", config, movedChains });
    const alone = { ...venue.config, attestorQuorum: 1 };
    const { withdrawals: _, ...bare } = venue.config;
    expect(configures(venue.config, ["arbitrum", "ethereum"])).toBe("withdrawals_open");
    expect(configures(bare, ["ethereum"])).toBe("withdrawals_open");
    expect(configures(alone)).toBe("withdrawals_open");
    // Nothing is open on another chain.
    expect(configures(venue.config, ["arbitrum"])).toBeNull();
    for (const attestor of [0, 1]) votes(venue, attestor, id, "paid");
    expect(configures(venue.config, ["ethereum"])).toBeNull();
    expect(configures(alone)).toBeNull();
  });

  test("version 2 takes neither the parameters nor a withdrawal", () => {
    const venue = new Venue({ version: 2, config: { attestors: 3, attestorQuorum: 2 } });
    const alice = venue.trader("alice");
    credits(venue, alice, 300);
    expect(alice.withdraws(100)).toBe("withdrawals_not_supported");
    const config = { ...venue.config, withdrawals: TERMS };
    expect(venue.operates({ kind: "Configure", config })).toBe("configuration_invalid");
    venue.operates({ kind: "Upgrade", version: 3 });
    expect(venue.operates({ kind: "Configure", config })).toBeNull();
    // Credits of before the upgrade count.
    expect(alice.withdraws(100)).toBeGreaterThan(0);
  });

  test("configuration: faulty bounds, and a raise together with a listing, are refused", () => {
    const venue = venueWith();
    const refusal = (terms: Partial<WithdrawalConfig>): string | null => {
      const config = { ...venue.config, withdrawals: { ...TERMS, ...terms } };
      return venue.operates({ kind: "Configure", config });
    };
    expect(refusal({ minMicros: 0 })).toBe("configuration_invalid");
    expect(refusal({ lifeMs: HOUR_MS + 1 })).toBe("configuration_invalid");
    expect(refusal({ chains: [...TERMS.chains, TERMS.chains[0]!] })).toBe("configuration_invalid");
    const [market] = venue.config.markets;
    const listed = [...venue.config.markets, { ...market!, symbol: "NEWUSD" }];
    const raised = { ...TERMS, venueDayMicros: TERMS.venueDayMicros + 1 };
    const both = { ...venue.config, markets: listed, withdrawals: raised };
    expect(venue.operates({ kind: "Configure", config: both })).toBe(
      "configuration_raises_and_lists",
    );
  });
});
