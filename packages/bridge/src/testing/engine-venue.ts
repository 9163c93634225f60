/** A deposit port over a real engine. A list of commands is the log; a restart replays it. */

import type { KeyObject } from "node:crypto";
import { audit, type Command, Engine, REFUSALS, type VenueEvent } from "@perpgate/engine";
import { BTC, genesis, openSession, venueConfig } from "@perpgate/engine/testing";
import type {
  Chain,
  CreditedDeposit,
  DepositPage,
  OwnVote,
  PendingDeposit,
  QueueOrder,
  Token,
  Vote,
} from "@perpgate/protocol";
import { publicKeyHex } from "../attestor-key.js";
import type { ChainTerms, DepositPort, VenueTerms } from "../venue-port.js";
import { type SignedVote, verifyVote } from "../vote.js";

/** The hash of a Genesis. */
export const VENUE_ID = "5e".repeat(32);

type Deposit = NonNullable<ReturnType<Engine["state"]["deposits"]["byId"]["get"]>>;

export class EngineVenue implements DepositPort {
  readonly log: Command[] = [];
  readonly marks: SignedVote[] = [];
  /** Problems of votes that were rejected before the log. */
  readonly rejectedVotes: string[] = [];
  /** The venue's configuration; equal to the attestors' unless a test changes it. */
  readonly chains = new Map<Chain, ChainTerms>();
  pageRows = 500;
  engine = new Engine();
  private creditedAt = new Map<number, number>();
  private sessions = 0;

  constructor(
    private readonly members: readonly KeyObject[],
    quorum: number,
    readonly nowMs: number,
  ) {
    const attestation = { attestors: members.length, attestorQuorum: quorum };
    const noFund = { fundSeedMicros: 0, backstopCapMicros: 0 };
    this.apply(genesis(nowMs, venueConfig([BTC], { ...attestation, ...noFund })));
  }

  /** Signs in an address; returns the session. */
  signIn(address: string): number {
    const number = ++this.sessions;
    const digits = address.slice(2).toLowerCase();
    const hash = number.toString(16).padStart(64, "0");
    const keys = { key: hash, tokenHash: hash, siweNonce: `nonce${number}` };
    const events = this.apply(openSession({ stampMs: this.nowMs, address: digits, ...keys }));
    const opened = events.find((event) => event.kind === "SessionOpened");
    if (opened?.kind !== "SessionOpened") throw new Error("not signed in");
    return opened.session;
  }

  /** Registers as the gateway does: case and `0x` do not matter. Returns the deposit id. */
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

  /** Replays the log into a new engine. */
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

  /** Micro-dollars in an account's wallet; 0 for an unknown account. */
  wallet(address: string): number {
    const account = this.engine.state.addresses.get(address.slice(2).toLowerCase());
    return account === undefined ? 0 : this.engine.state.wallet(account);
  }

  votesInLog(): number {
    return this.log.filter(({ kind }) => kind === "AttestDeposit").length;
  }

  terms(): VenueTerms {
    const members = this.members.map(publicKeyHex);
    return { venueId: VENUE_ID, members, chains: [...this.chains.values()] };
  }

  pending(
    chain: Chain,
    attestor: number,
    order: QueueOrder,
    after: number,
  ): DepositPage<PendingDeposit> {
    const found: PendingDeposit[] = [];
    for (const deposit of this.engine.state.deposits.byId.values()) {
      const { id: depositId, txHash, registeredAtMs, status, votes, creditedParts } = deposit;
      if (deposit.chain !== chain || (status !== "queued" && status !== "confirming")) continue;
      const account = deposit.registrant;
      const ownVote = votes.get(attestor) ?? null;
      const logs = deposit.credits.map(({ logIndex }) => logIndex);
      const last = logs.length === 0 ? {} : { lastCreditedLog: Math.max(...logs) };
      const subject = { depositId, txHash, account, status, registeredAtMs };
      found.push({ ...subject, creditedParts, ...last, ownVote });
    }
    if (order === "descending") found.reverse();
    const rest = found.filter(({ depositId }) =>
      order === "ascending" ? depositId > after : after === 0 || depositId < after,
    );
    const rows = rest.slice(0, this.pageRows);
    return { rows, next: rows.length === rest.length ? null : rows.at(-1)!.depositId };
  }

  credited(chain: Chain, attestor: number, sinceMs: number): DepositPage<CreditedDeposit> {
    const { deposits, addresses } = this.engine.state;
    const rows: CreditedDeposit[] = [];
    for (const [depositId, creditedAtMs] of this.creditedAt) {
      const deposit = deposits.byId.get(depositId);
      if (deposit?.chain !== chain || creditedAtMs < sinceMs) continue;
      const credits = deposit.credits.map(({ account, amountMicros, logIndex, token }) => {
        return { address: addresses.at(account)!, amountMicros, logIndex, token };
      });
      const isMarked = deposit.reorged !== "";
      const ownVote = reorgVote(deposit.votes.get(attestor));
      rows.push({ depositId, txHash: deposit.txHash, creditedAtMs, credits, isMarked, ownVote });
    }
    return { rows, next: null };
  }

  async submit(votes: readonly SignedVote[]): Promise<readonly (string | null)[]> {
    const problems = await Promise.all(
      votes.map((signed) => verifyVote(signed, (attestor) => this.members[attestor], VENUE_ID)),
    );
    return votes.map((signed, i) => this.accept(signed, problems[i] ?? null));
  }

  private accept(signed: SignedVote, problem: string | null): string | null {
    if (problem !== null) {
      this.rejectedVotes.push(problem);
      return problem;
    }
    if (signed.vote.verdict === "reorged") this.marks.push(signed);
    const events = this.apply({
      kind: "AttestDeposit",
      stampMs: this.nowMs,
      ...commandOf(signed.vote),
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

function reorgVote(vote: OwnVote | undefined): OwnVote | null {
  return vote?.verdict === "reorged" ? vote : null;
}

function commandOf(vote: Vote) {
  const { verdict, attestor, depositId, votedAtMs, confirmations, required } = vote;
  const { credits, reason, part, parts } = vote;
  const statement = { confirmations, required, credits, reason };
  return { attestor, depositId, verdict, votedAtMs, ...statement, part, parts };
}
