/**
 * What the venue owes, over random deposits, reorganisations, withdrawals, signatures, relayed payments, a lying
 * attestor and time, against a ledger and a vault that are written from the interface and share no code with the
 * engine. PERPGATE_RESERVES_RUNS=n sets the number of flows; a failure prints its seed.
 */
import { audit, type Command, Engine, type VenueEvent } from "@perpgate/engine";
import {
  addressOf,
  BTC,
  creditVote,
  genesis,
  openSession,
  venueConfig,
  withdrawalVote,
} from "@perpgate/engine/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { liabilitiesOf, sumOf, VENUE_LEAVES } from "./liabilities.js";

const RUNS = Number(process.env.PERPGATE_RESERVES_RUNS ?? 120);
const START_MS = 1_750_000_000_000;
const MINUTE_MS = 60_000;
const CENT = 10_000;
const FEE = 500_000;
const ACCOUNTS = [1, 2, 3] as const;
const LIAR = 2;

const account = fc.constantFrom(...ACCOUNTS);
const attestor = fc.constantFrom(0, 1, LIAR);
const which = fc.nat(20);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("deposit" as const),
      account,
      cents: fc.integer({ min: 1, max: 50_000 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("withdraw" as const),
      account,
      cents: fc.integer({ min: 1, max: 30_000 }),
    }),
  },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant("sign" as const), attestor, which }) },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant("relay" as const), which }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("look" as const),
      attestor: fc.constantFrom(0, 1),
      which,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("lie" as const),
      which,
      verdict: fc.constantFrom("pending", "paid", "unpaid"),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("finalize" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("reorganise" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("loseDeposit" as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      minutes: fc.integer({ min: 1, max: 90 }),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Entry {
  readonly account: number;
  readonly amount: number;
  readonly deadlineMs: number;
  readonly signers: Set<number>;
  end: "" | "paid" | "expired";
}

/** What the vault has done with an id: requested it, or paid it. */
type Payments = Map<number, "requested" | "paid">;

/** A vault whose newest blocks can be replaced. */
class Vault {
  deposited = 0;
  final: Payments = new Map();
  head: Payments = new Map();
  finalAtMs = 0;

  paid(payments: Payments, amountOf: (id: number) => number): number {
    let sum = 0;
    for (const [id, state] of payments) if (state === "paid") sum += amountOf(id);
    return sum;
  }
}

class World {
  readonly engine = new Engine();
  readonly vault = new Vault();
  readonly entries = new Map<number, Entry>();
  readonly wallets = new Map<number, number>(ACCOUNTS.map((each) => [each, 0]));
  private readonly sessions = new Map<number, number>();
  private readonly deposits: { id: number; account: number; amount: number; isLost: boolean }[] =
    [];
  private fees = 0;
  private next = 0;

  constructor() {
    const withdrawals = {
      minMicros: 1,
      feeMicros: FEE,
      accountDayMicros: 1e12,
      venueHourMicros: 1e12,
      venueDayMicros: 1e12,
      lifeMs: 60 * MINUTE_MS,
      chains: [{ chain: "ethereum", chainId: 1, tokens: ["USDC"], maxUnpaidMicros: 1e12 }],
    };
    const attested = { attestors: 3, attestorQuorum: 2 };
    this.apply(genesis(START_MS, venueConfig([BTC], { ...attested, withdrawals })));
    this.signIn();
  }

  private get now(): number {
    return this.engine.state.timeMs;
  }

  private apply(command: Command): VenueEvent[] {
    const events = this.engine.apply(command).decode();
    for (const event of events) {
      if (event.kind === "WithdrawalPaid") this.end(event.withdrawalId, "paid");
      if (event.kind === "WithdrawalExpired") this.end(event.withdrawalId, "expired");
    }
    return events;
  }

  private signIn(): void {
    for (const each of ACCOUNTS) {
      const hash = (++this.next).toString(16).padStart(64, "0");
      this.sessions.set(each, this.engine.seq + 1);
      const fresh = { tokenHash: hash, siweNonce: hash };
      this.apply(openSession({ stampMs: this.now, address: addressOf(each), ...fresh }));
    }
  }

  /** The venue may believe only what is final on the chain. */
  private end(id: number, how: "paid" | "expired"): void {
    const entry = this.entries.get(id);
    if (entry === undefined || entry.end !== "") throw new Error(`withdrawal ${id} ends again`);
    const isPaid = this.vault.final.get(id) === "paid";
    expect(isPaid).toBe(how === "paid");
    entry.end = how;
    if (how === "paid") this.fees += FEE;
    else this.move(entry.account, entry.amount + FEE);
    if (how === "expired") expect(this.now).toBeGreaterThan(entry.deadlineMs);
  }

  private move(of: number, amount: number): void {
    this.wallets.set(of, (this.wallets.get(of) ?? 0) + amount);
  }

  private open(place: number): [number, Entry] | undefined {
    const open = [...this.entries].filter(([, { end }]) => end === "");
    return open[place % Math.max(1, open.length)];
  }

  take(given: Step): void {
    switch (given.kind) {
      case "deposit":
        this.deposit(given.account, given.cents * CENT);
        return;
      case "withdraw":
        this.withdraw(given.account, given.cents * CENT);
        return;
      case "sign": {
        const [withdrawalId, entry] = this.open(given.which) ?? [];
        if (withdrawalId === undefined || entry === undefined) return;
        this.vote(withdrawalId, given.attestor, "signed");
        entry.signers.add(given.attestor);
        return;
      }
      case "relay":
        this.relay(given.which);
        return;
      case "look":
        this.look(given.attestor, given.which);
        return;
      case "lie": {
        const [withdrawalId] = this.open(given.which) ?? [];
        if (withdrawalId !== undefined) this.vote(withdrawalId, LIAR, given.verdict);
        return;
      }
      case "finalize":
        this.vault.final = new Map(this.vault.head);
        this.vault.finalAtMs = this.now;
        return;
      case "reorganise":
        this.vault.head = new Map(this.vault.final);
        return;
      case "loseDeposit":
        this.loseDeposit(given.which);
        return;
      case "wait": {
        const { state } = this.engine;
        const ms = given.minutes * MINUTE_MS;
        state.timeMs += ms;
        state.lastTickMs += ms;
        state.totals.nextFundingMs += ms;
        this.signIn();
      }
    }
  }

  private deposit(of: number, amount: number): void {
    const txHash = (++this.next).toString(16).padStart(64, "0");
    const session = this.sessions.get(of)!;
    const depositId = this.engine.seq + 1;
    const at = { chain: "ethereum", token: "USDC", txHash };
    this.apply({ kind: "RegisterDeposit", stampMs: this.now, session, ...at });
    const credits = [{ address: addressOf(of), amountMicros: amount, logIndex: 0 }];
    for (const index of [0, 1]) {
      const votedAtMs = ++this.next;
      this.apply(creditVote({ stampMs: this.now, attestor: index, depositId, credits, votedAtMs }));
    }
    this.deposits.push({ id: depositId, account: of, amount, isLost: false });
    this.vault.deposited += amount;
    this.move(of, amount);
  }

  /** A credited deposit leaves its chain; the operator replaces it in the vault, and settles it. */
  private loseDeposit(place: number): void {
    const deposit = this.deposits[place % Math.max(1, this.deposits.length)];
    if (deposit === undefined || deposit.isLost) return;
    deposit.isLost = true;
    const { now: stampMs } = this;
    for (const index of [0, 1]) {
      const gone = { verdict: "reorged", reason: "transaction_gone", credits: [] } as const;
      const votedAtMs = ++this.next;
      this.apply(
        creditVote({ stampMs, attestor: index, depositId: deposit.id, votedAtMs, ...gone }),
      );
    }
    const settled = { kind: "SettleReorgedDeposit", depositId: deposit.id } as const;
    this.apply({ ...settled, stampMs, expiresAtMs: stampMs + MINUTE_MS });
  }

  private withdraw(of: number, amountMicros: number): void {
    const id = this.engine.seq + 1;
    const events = this.apply({
      kind: "Withdraw",
      stampMs: this.now,
      session: this.sessions.get(of)!,
      key: "key",
      nonce: ++this.next,
      chain: "ethereum",
      token: "USDC",
      amountMicros,
    });
    const asked = events.find((event) => event.kind === "WithdrawalRequested");
    const wallet = this.wallets.get(of) ?? 0;
    if (asked?.kind !== "WithdrawalRequested") return;
    expect(amountMicros + FEE).toBeLessThanOrEqual(wallet);
    this.move(of, -(amountMicros + FEE));
    const { deadlineMs } = asked;
    this.entries.set(id, {
      account: of,
      amount: amountMicros,
      deadlineMs,
      signers: new Set(),
      end: "",
    });
  }

  private vote(withdrawalId: number, index: number, verdict: string): void {
    const named = (["signed", "pending", "paid", "unpaid"] as const).find(
      (each) => each === verdict,
    );
    if (named === undefined) throw new Error(verdict);
    const votedAtMs = ++this.next;
    // A liar invents a transaction; honest attestors name the vault's.
    const txHash = (index === LIAR ? "ef" : "cd").repeat(32);
    const vote = withdrawalVote({ stampMs: this.now, withdrawalId, verdict: named });
    const hash = vote.txHash === "" ? {} : { txHash };
    this.apply({ ...vote, attestor: index, votedAtMs, ...hash });
  }

  /** The vault's own rules: a quorum, an id once, nothing after the deadline. */
  private relay(place: number): void {
    const ids = [...this.entries];
    const [id, entry] = ids[place % Math.max(1, ids.length)] ?? [];
    if (id === undefined || entry === undefined || this.now > entry.deadlineMs) return;
    const { head } = this.vault;
    const state = head.get(id);
    if (state === undefined && entry.signers.size >= 2) head.set(id, "requested");
    else if (state === "requested") head.set(id, "paid");
  }

  /** What an honest attestor says of what it sees. */
  private look(index: number, place: number): void {
    const [id, entry] = this.open(place) ?? [];
    if (id === undefined || entry === undefined) return;
    const { final, head, finalAtMs } = this.vault;
    if (final.get(id) === "paid") this.vote(id, index, "paid");
    else if (finalAtMs > entry.deadlineMs) this.vote(id, index, "unpaid");
    else if (head.has(id)) this.vote(id, index, "pending");
  }

  check(): void {
    const { engine, vault, entries, wallets } = this;
    const { addresses, balances } = liabilitiesOf(engine.state);
    let owed = 0;
    for (const each of ACCOUNTS) {
      let expected = wallets.get(each) ?? 0;
      for (const { account: of, amount, end } of entries.values()) {
        if (of === each && end === "") expected += amount + FEE;
      }
      const place = each + VENUE_LEAVES - 1;
      expect([addresses[place], balances[place]]).toEqual([addressOf(each), expected]);
      owed += expected;
    }
    expect(sumOf({ addresses, balances })).toBe(owed);
    const amountOf = (id: number): number => entries.get(id)?.amount ?? Number.NaN;
    for (const payments of [vault.final, vault.head]) {
      let paidButOpen = 0;
      for (const [id, state] of payments) {
        if (state === "paid" && entries.get(id)?.end === "") paidButOpen += amountOf(id);
      }
      const held = vault.deposited - vault.paid(payments, amountOf);
      expect(held + paidButOpen).toBe(owed + this.fees);
    }
    expect(audit(engine)).toEqual([]);
  }
}

test("after every step each account is owed what the ledger says, and the vault holds at least the sum", () => {
  let ended = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 40, maxLength: 160 }), (steps) => {
      const world = new World();
      for (const each of steps) {
        world.take(each);
        world.check();
      }
      // Behind every deadline, with a final chain, the honest attestors end whatever is open.
      world.take({ kind: "wait", minutes: 120 });
      world.take({ kind: "finalize" });
      for (const attestor of [...world.entries.keys()].flatMap(() => [0, 1] as const)) {
        world.take({ kind: "look", attestor, which: 0 });
        world.check();
      }
      for (const { end } of world.entries.values()) {
        expect(end).not.toBe("");
        ended++;
      }
    }),
    { numRuns: RUNS },
  );
  // The flows reach the ends.
  expect(ended).toBeGreaterThan(RUNS / 10);
}, 120_000);
