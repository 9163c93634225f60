/**
 * The port of the tests: a real engine behind it, driven by commands in a list that stands for the
 * log. A restart replays the list into a new engine.
 */

import type { KeyObject } from "node:crypto";
import {
  type CreditedDeposit,
  type DepositPort,
  type PendingDeposit,
  type SignedVote,
  verifyVote,
} from "@perpgate/bridge";
import { audit, type Command, Engine, REFUSALS, type VenueEvent } from "@perpgate/engine";
import type { Chain, Token } from "@perpgate/protocol";

export const VENUE = "test-venue";

const MARKET = {
  symbol: "BTCUSD",
  microsPerTickLot: 1,
  tiers: [{ upToMicros: 1e12, maxLeverage: 50, maintenancePpm: 10_000 }],
  takerFeePpm: 500,
  makerFeePpm: 200,
  bandPpm: 50_000,
  impactNotionalMicros: 20_000e6,
};

type Deposit = NonNullable<ReturnType<Engine["state"]["deposits"]["byId"]["get"]>>;

export class EngineVenue implements DepositPort {
  readonly log: Command[] = [];
  readonly marks: SignedVote[] = [];
  /** Votes that `verifyVote` kept out of the log. */
  readonly turnedAway: string[] = [];
  engine = new Engine();
  private creditedAt = new Map<number, number>();
  private sessions = 0;

  constructor(
    private readonly members: readonly KeyObject[],
    quorum: number,
    readonly nowMs: number,
  ) {
    const config = {
      markets: [MARKET],
      fundSeedMicros: 0,
      backstopCapMicros: 0,
      maxOpenOrders: 500,
      attestorKind: "chain",
      attestors: members.length,
      attestorQuorum: quorum,
      devCreditMicros: 0,
    } as const;
    this.apply({ kind: "Genesis", stampMs: nowMs, config, cohort: "open" });
  }

  /** Signs an address in; answers the session. */
  signIn(address: string): number {
    const number = ++this.sessions;
    const digits = address.slice(2).toLowerCase();
    const events = this.apply({
      kind: "OpenSession",
      stampMs: this.nowMs,
      address: digits,
      key: number.toString(16).padStart(64, "0"),
      tokenHash: number.toString(16).padStart(64, "0"),
      expiresAtMs: this.nowMs + 86_400_000,
      siweNonce: `nonce${number}`,
      siweNonceUntilMs: this.nowMs + 600_000,
      maxOrderNotionalMicros: 0,
      maxNotionalMicros: 0,
      markets: [],
    });
    const opened = events.find((event) => event.kind === "SessionOpened");
    if (opened?.kind !== "SessionOpened") throw new Error("not signed in");
    return opened.session;
  }

  /** Registers as the gateway does: case and `0x` do not matter. Answers the deposit's id. */
  register(session: number, chain: Chain, txHash: string, token: Token = "USDC"): number {
    const digits = txHash.replace(/^0x/i, "").toLowerCase();
    const events = this.apply({
      kind: "RegisterDeposit",
      stampMs: this.nowMs,
      session,
      chain,
      txHash: digits,
      token,
    });
    const registered = events.find((event) => event.kind === "DepositRegistered");
    if (registered?.kind !== "DepositRegistered") throw new Error("not registered");
    return registered.depositId;
  }

  /** The process dies; another one reads the log. */
  restart(): void {
    const commands = this.log.splice(0);
    this.engine = new Engine();
    this.creditedAt = new Map();
    for (const command of commands) this.apply(command);
  }

  deposit(id: number): Deposit {
    const deposit = this.engine.state.deposits.byId.get(id);
    if (deposit === undefined) throw new Error(`no deposit ${id}`);
    return deposit;
  }

  /** Micro-dollars in an account's wallet; 0 for one that the venue has never heard of. */
  wallet(address: string): number {
    const account = this.engine.state.accountOf.get(address.slice(2).toLowerCase());
    return account === undefined ? 0 : this.engine.state.wallet(account);
  }

  votesInLog(): number {
    return this.log.filter(({ kind }) => kind === "AttestDeposit").length;
  }

  pending(chain: Chain, attestor: number): readonly PendingDeposit[] {
    const found: PendingDeposit[] = [];
    for (const deposit of this.engine.state.deposits.byId.values()) {
      const { id: depositId, txHash, registeredAtMs, status, votes } = deposit;
      if (deposit.chain !== chain || (status !== "queued" && status !== "confirming")) continue;
      const token = tokenOf(deposit.token);
      const ownVote = votes.get(attestor) ?? null;
      found.push({ depositId, txHash, token, status, registeredAtMs, ownVote });
    }
    return found;
  }

  credited(chain: Chain, sinceMs: number): readonly CreditedDeposit[] {
    const { deposits, addresses } = this.engine.state;
    const found: CreditedDeposit[] = [];
    for (const [depositId, creditedAtMs] of this.creditedAt) {
      const deposit = deposits.byId.get(depositId);
      if (deposit?.chain !== chain || creditedAtMs < sinceMs) continue;
      const credits = deposit.credits.map(({ account, amountMicros, logIndex }) => {
        return { address: addresses[account]!, amountMicros, logIndex };
      });
      const isMarked = this.marks.some(({ vote }) => vote.depositId === depositId);
      const token = tokenOf(deposit.token);
      found.push({ depositId, txHash: deposit.txHash, token, creditedAtMs, credits, isMarked });
    }
    return found;
  }

  async submit(votes: readonly SignedVote[]): Promise<readonly (string | null)[]> {
    const problems = await Promise.all(
      votes.map((signed) => verifyVote(signed, this.members, VENUE)),
    );
    return votes.map((signed, i) => this.accept(signed, problems[i] ?? null));
  }

  async markReorged(signed: SignedVote): Promise<void> {
    const problem = await verifyVote(signed, this.members, VENUE);
    if (problem !== null) this.turnedAway.push(problem);
    else this.marks.push(signed);
  }

  private accept(signed: SignedVote, problem: string | null): string | null {
    if (problem !== null) {
      this.turnedAway.push(problem);
      return problem;
    }
    const { verdict, attestor, depositId, votedAtMs } = signed.vote;
    const { confirmations, required, credits, reason } = signed.vote;
    if (verdict === "reorged") return "malformed";
    const events = this.apply({
      kind: "AttestDeposit",
      stampMs: this.nowMs,
      attestor,
      depositId,
      verdict,
      votedAtMs,
      confirmations,
      required,
      credits,
      reason,
    });
    const refused = events.find((event) => event.kind === "CommandRefused");
    return refused?.kind === "CommandRefused" ? REFUSALS[refused.refusal]! : null;
  }

  apply(command: Command): VenueEvent[] {
    this.log.push(command);
    const events = this.engine.apply(command).decode();
    const faults = audit(this.engine);
    if (faults.length > 0) throw new Error(`${command.kind}: ${faults.join("; ")}`);
    for (const event of events) {
      if (event.kind !== "DepositSettled" || event.credited !== 1) continue;
      this.creditedAt.set(event.depositId, this.engine.state.timeMs);
    }
    return events;
  }
}

function tokenOf(text: string): Token {
  if (text === "USDC" || text === "USDT") return text;
  throw new Error(`no token ${text}`);
}
