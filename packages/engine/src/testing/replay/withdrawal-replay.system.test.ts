/**
 * Random deposits, reorganisations, withdrawals, votes, pauses, changes of attestors and restarts, against a
 * ledger that is written from the interface (docs/engine.md) and shares no code with the engine. After
 * every command the wallets are the ledger's, and an engine that is restored again and again has the same
 * events; its bytes are compared at each restart. PERPGATE_WITHDRAWAL_SEEDS=n sets the number of flows.
 */
import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { audit } from "../../audit.js";
import type { AttestWithdrawal, Command, Withdraw } from "../../commands.js";
import { HOUR_MS, type VenueConfig, type WithdrawalConfig } from "../../config.js";
import { Engine } from "../../engine.js";
import type { VenueEvent } from "../../events/event-table.js";
import { REFUSALS } from "../../reasons.js";
import { creditVote, genesis, openSession, withdrawalVote } from "../commands.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";

const SEEDS = Number(process.env.PERPGATE_WITHDRAWAL_SEEDS ?? 15);
const COUNT = 300;
const START_MS = 1_750_000_000_123;
const ACCOUNTS = 4;
const CHAINS = ["ethereum", "arbitrum"];
const TOKENS = ["USDC", "USDT"];

const TERMS: WithdrawalConfig = {
  minMicros: 5 * MICROS,
  feeMicros: 300_000,
  accountDayMicros: 2_000 * MICROS,
  venueHourMicros: 1_500 * MICROS,
  venueDayMicros: 6_000 * MICROS,
  lifeMs: HOUR_MS,
  chains: CHAINS.map((chain, i) => {
    return { chain, chainId: i + 1, tokens: TOKENS, maxUnpaidMicros: 1_200 * MICROS };
  }),
};

/** What the interface promises about one withdrawal. */
interface Entry {
  readonly account: number;
  readonly chain: string;
  readonly token: string;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly atMs: number;
  readonly deadlineMs: number;
  end: "" | "paid" | "expired";
}

/** Deposits, withdrawals and wallets, in exact figures; nothing is ever forgotten. */
class Ledger {
  readonly entries = new Map<number, Entry>();
  readonly wallets = new Map<number, bigint>();
  readonly credits = new Map<string, bigint>();

  wallet(account: number): bigint {
    return this.wallets.get(account) ?? 0n;
  }

  move(account: number, amount: bigint): void {
    this.wallets.set(account, this.wallet(account) + amount);
  }

  /** Σ of what was requested since that time, of one account or of all. */
  since(fromMs: number, account?: number): bigint {
    let sum = 0n;
    for (const entry of this.entries.values()) {
      const counts = account === undefined || entry.account === account;
      if (entry.atMs > fromMs && counts) sum += entry.amount;
    }
    return sum;
  }

  sum(counts: (entry: Entry) => boolean): bigint {
    let sum = 0n;
    for (const entry of this.entries.values()) if (counts(entry)) sum += entry.amount;
    return sum;
  }
}

class Run {
  readonly live = new Engine();
  restored = new Engine();
  readonly seen = new Set<string>();
  private readonly ledger = new Ledger();
  private readonly sessions: number[] = [];
  private nonce = 0;
  private hash = 0;

  constructor(
    private readonly random: Random,
    private readonly where: string,
  ) {}

  start(): void {
    const attested = { attestors: 3, attestorQuorum: 2 };
    const config = venueConfig([BTC], { ...attested, withdrawals: TERMS });
    this.apply(genesis(START_MS, config));
    for (let account = 1; account <= ACCOUNTS; account++) this.signIn(account);
  }

  step(): void {
    const { random } = this;
    const kind = random.weighted({
      tick: 10,
      jump: 4,
      deposit: 10,
      reorg: 1,
      withdraw: 25,
      vote: 45,
      operator: 3,
      signIn: 2,
    });
    if (kind === "tick") this.apply({ kind: "Tick", slot: this.live.state.lastTickMs / 200 + 1 });
    else if (kind === "jump") this.jump();
    else if (kind === "deposit") this.deposit();
    else if (kind === "reorg") this.reorg();
    else if (kind === "withdraw") this.withdraw();
    else if (kind === "vote") this.vote();
    else if (kind === "operator") this.operator();
    else this.signIn(random.int(1, ACCOUNTS));
  }

  private get now(): number {
    return this.live.state.timeMs;
  }

  /** Hours pass in both engines alike; the sessions of before have expired by then. */
  private jump(): void {
    const aheadMs = this.random.pick([60_000, 900_000, HOUR_MS, 6 * HOUR_MS]);
    for (const engine of [this.live, this.restored]) {
      engine.state.timeMs += aheadMs;
      engine.state.lastTickMs += aheadMs;
      engine.state.totals.nextFundingMs += aheadMs;
    }
    for (let account = 1; account <= ACCOUNTS; account++) this.signIn(account);
  }

  private signIn(account: number): void {
    const { random, now: stampMs } = this;
    this.sessions[account] = this.live.seq + 1;
    const address = account.toString(16).padStart(40, "0");
    const fresh = { tokenHash: random.hex(64), siweNonce: random.hex(16) };
    this.apply(openSession({ stampMs, address, ...fresh }));
  }

  private deposit(): void {
    const { random, live } = this;
    const account = random.int(1, ACCOUNTS);
    // One token of one chain has the least money, and is asked for as often as the others.
    const [chain, token] = random.chance(0.7)
      ? [CHAINS[0]!, TOKENS[0]!]
      : [random.pick(CHAINS), random.pick(TOKENS)];
    const txHash = (++this.hash).toString(16).padStart(64, "0");
    const sender = { stampMs: this.now, session: this.sessions[account]! };
    const depositId = live.seq + 1;
    this.apply({ kind: "RegisterDeposit", ...sender, chain, txHash, token });
    const amountMicros = random.int(1, 900 * MICROS);
    const address = account.toString(16).padStart(40, "0");
    const credits = [{ address, amountMicros, logIndex: 0 }];
    for (let attestor = 0; attestor < live.state.config!.attestors; attestor++) {
      const events = this.apply(
        creditVote({ stampMs: this.now, attestor, depositId, credits, votedAtMs: live.seq }),
      );
      if (!events.some((event) => event.kind === "DepositCredited")) continue;
      this.ledger.move(account, BigInt(amountMicros));
      this.count(chain, token, BigInt(amountMicros));
    }
  }

  private count(chain: string, token: string, amount: bigint): void {
    const key = `${chain}/${token}`;
    this.ledger.credits.set(key, (this.ledger.credits.get(key) ?? 0n) + amount);
  }

  /** A credit that leaves its chain, and is settled immediately or never. */
  private reorg(): void {
    const { live, random } = this;
    const credited = [...live.state.deposits.byId.values()].filter(
      ({ status, reorged }) => status === "credited" && reorged === "",
    );
    if (credited.length === 0) return;
    const { id: depositId, chain, token, credits } = random.pick(credited);
    const gone = { verdict: "reorged", reason: "transaction_gone", credits: [] } as const;
    for (let attestor = 0; attestor < live.state.config!.attestors; attestor++) {
      const votedAtMs = live.seq + 1_000_000;
      this.apply(creditVote({ stampMs: this.now, attestor, depositId, votedAtMs, ...gone }));
    }
    const amount = credits.reduce((sum, { amountMicros }) => sum + BigInt(amountMicros), 0n);
    if (live.state.deposits.byId.get(depositId)?.reorged === "") return;
    this.count(chain, token, -amount);
    if (random.chance(0.2)) return;
    const events = this.operate({ kind: "SettleReorgedDeposit", depositId });
    if (events.some(({ kind }) => kind === "DepositReorgSettled")) this.count(chain, token, amount);
  }

  private withdraw(): void {
    const { random, ledger, live } = this;
    const account = random.int(1, ACCOUNTS);
    const fee = live.state.config!.withdrawals?.feeMicros ?? 0;
    const all = Number(ledger.wallet(account)) - fee;
    const amountMicros = random.pick([all, all + 1, random.int(1, 1_600 * MICROS), 4_999_999, 5e6]);
    const command: Withdraw = {
      kind: "Withdraw",
      stampMs: this.now,
      session: this.sessions[account]!,
      key: random.chance(0.03) ? "stolen" : "key",
      nonce: random.chance(0.05) ? this.nonce : ++this.nonce,
      chain: random.chance(0.03) ? "tron" : random.pick(CHAINS),
      token: random.pick(TOKENS),
      amountMicros,
    };
    const id = live.seq + 1;
    const events = this.apply(command);
    const requested = events.find((event) => event.kind === "WithdrawalRequested");
    if (requested === undefined) return;
    const terms = live.state.config!.withdrawals!;
    const amount = BigInt(amountMicros);
    const { chain, token } = command;
    const deadlineMs = Math.floor(this.now / 1_000) * 1_000 + terms.lifeMs;
    ledger.move(account, -(amount + BigInt(fee)));
    const money = { amount, fee: BigInt(fee), atMs: this.now, deadlineMs };
    ledger.entries.set(id, { account, chain, token, ...money, end: "" });
    // Every bound of the interface, over all that was ever requested.
    const unpaid = ledger.sum((entry) => entry.chain === chain && entry.end === "");
    expect(unpaid <= BigInt(terms.chains[0]!.maxUnpaidMicros), this.where).toBe(true);
    const gone = ledger.sum((entry) => {
      return entry.chain === chain && entry.token === token && entry.end !== "expired";
    });
    expect(gone <= (ledger.credits.get(`${chain}/${token}`) ?? 0n), this.where).toBe(true);
    const [hour, day] = [ledger.since(this.now - HOUR_MS), ledger.since(this.now - 24 * HOUR_MS)];
    const own = ledger.since(this.now - 24 * HOUR_MS, account);
    expect(hour <= BigInt(terms.venueHourMicros), this.where).toBe(true);
    expect(day <= BigInt(terms.venueDayMicros), this.where).toBe(true);
    expect(own <= BigInt(terms.accountDayMicros), this.where).toBe(true);
    expect(amountMicros >= terms.minMicros && chain !== "tron", this.where).toBe(true);
  }

  private vote(): void {
    const { random, ledger } = this;
    const ids = [...ledger.entries].filter(([, { end }]) => end === "" || random.chance(0.02));
    if (ids.length === 0) return;
    const [withdrawalId, entry] = random.pick(ids);
    const isLate = this.now > entry.deadlineMs;
    const verdict = random.pick<AttestWithdrawal["verdict"]>(
      isLate ? ["unpaid", "unpaid", "unpaid", "paid", "signed"] : ["signed", "pending", "paid"],
    );
    const attestor = random.int(0, 3);
    const voted = { votedAtMs: this.live.seq - random.pick([0, 0, 0, 40]) };
    const txHash = random.pick(["aa", "aa", "aa", "bb"]).repeat(32);
    const named = verdict === "pending" || verdict === "paid" ? { txHash } : {};
    const said = { stampMs: this.now, withdrawalId, verdict, attestor, ...voted, ...named };
    this.settle(this.apply(withdrawalVote(said)));
  }

  /** Takes over what the engine says has ended; that each ends once is what is tested. */
  private settle(events: readonly VenueEvent[]): void {
    for (const event of events) {
      if (event.kind !== "WithdrawalPaid" && event.kind !== "WithdrawalExpired") continue;
      const entry = this.ledger.entries.get(event.withdrawalId)!;
      expect(entry.end, `${this.where}: ends once`).toBe("");
      entry.end = event.kind === "WithdrawalPaid" ? "paid" : "expired";
      if (entry.end === "paid") continue;
      expect(this.now, `${this.where}: after the deadline`).toBeGreaterThan(entry.deadlineMs);
      this.ledger.move(entry.account, entry.amount + entry.fee);
    }
  }

  private operator(): void {
    const { random, live } = this;
    const kind = random.pick(["pause", "resume", "resume", "configure"]);
    if (kind !== "configure") {
      const scope = random.pick([...CHAINS, ...TOKENS]);
      this.operate({ kind: "PauseDeposits", scope, isPaused: kind === "pause" });
      return;
    }
    const attestors = random.int(2, 4);
    const attestorQuorum = random.int(1, attestors);
    const { withdrawals: _, ...bare } = live.state.config!;
    const config: VenueConfig = { ...bare, attestors, attestorQuorum };
    const withdrawals = { ...TERMS, feeMicros: random.int(0, MICROS) };
    const replacedAttestors = [0, 1, 2].filter(() => random.chance(0.2));
    const next = random.chance(0.1) ? config : { ...config, withdrawals };
    const movedChains = CHAINS.filter(() => random.chance(0.3));
    const open = new Set(
      [...this.ledger.entries.values()].flatMap((entry) => {
        return entry.end === "" ? [entry.chain] : [];
      }),
    );
    const strands =
      attestorQuorum < 2 ? open.size > 0 : movedChains.some((chain) => open.has(chain));
    const events = this.operate({
      kind: "Configure",
      config: next,
      replacedAttestors,
      movedChains,
    });
    const isTaken = events.some((event) => event.kind === "VenueConfigured");
    const isLimited = events.some(
      (event) =>
        event.kind === "CommandRefused" && REFUSALS[event.refusal] === "operator_rate_limit",
    );
    expect(isTaken, this.where).toBe(!(strands || isLimited));
  }

  private operate(
    command:
      | { kind: "SettleReorgedDeposit"; depositId: number }
      | { kind: "PauseDeposits"; scope: string; isPaused: boolean }
      | {
          kind: "Configure";
          config: VenueConfig;
          replacedAttestors: readonly number[];
          movedChains: readonly string[];
        },
  ): readonly VenueEvent[] {
    const times = { stampMs: this.now, expiresAtMs: this.now + 60_000 };
    const events = this.apply({ ...command, ...times });
    this.settle(events);
    return events;
  }

  private apply(command: Command): readonly VenueEvent[] {
    const where = `${this.where} position ${this.live.seq + 1} ${JSON.stringify(command)}`;
    const expected = this.live.apply(command).decode();
    expect(this.restored.apply(command).decode(), where).toEqual(expected);
    if (this.random.chance(0.2)) this.restart(where);
    for (const event of expected) {
      this.seen.add(event.kind === "CommandRefused" ? REFUSALS[event.refusal]! : event.kind);
      if (event.kind !== "WithdrawalProgressed") continue;
      this.seen.add(`progressed to ${event.status}`);
    }
    return expected;
  }

  private restart(where: string): void {
    const bytes = this.live.snapshot();
    expect(Buffer.compare(this.restored.snapshot(), bytes), `${where}: state`).toBe(0);
    if (this.random.chance(0.5)) this.restored = Engine.restore(bytes);
  }

  check(): void {
    const { live, ledger } = this;
    expect(audit(live), this.where).toEqual([]);
    for (let account = 1; account <= ACCOUNTS; account++) {
      expect(BigInt(live.state.wallet(account)), `${this.where} account ${account}`).toBe(
        ledger.wallet(account),
      );
    }
  }
}

const WANTED = [
  "WithdrawalRequested",
  "progressed to 0",
  "progressed to 1",
  "progressed to 2",
  "WithdrawalPaid",
  "WithdrawalExpired",
  "OrderReplayed",
  "session_key_rotated",
  "withdrawals_not_supported",
  "withdrawal_too_small",
  "insufficient_balance",
  "withdrawals_paused",
  "reorged_credit",
  "chain_balance_too_small",
  "unpaid_withdrawals",
  "withdrawal_limit",
  "withdrawal_unknown",
  "withdrawals_open",
  "attestor_unknown",
  "vote_outdated",
];

test(`${SEEDS} flows of ${COUNT} commands: no cent is lost or paid twice`, {
  timeout: 30_000 + SEEDS * 2_000,
}, () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= SEEDS; seed++) {
    const run = new Run(new Random(seed, "withdrawals"), `seed ${seed}`);
    run.start();
    for (let i = 0; i < COUNT; i++) {
      run.step();
      run.check();
    }
    for (const what of run.seen) seen.add(what);
  }
  expect(WANTED.filter((what) => !seen.has(what))).toEqual([]);
});
