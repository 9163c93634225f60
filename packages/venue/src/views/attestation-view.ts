/**
 * Deposits as attestors see them: what is waiting for votes, and what was credited lately. The
 * engine keeps every deposit ever made; the few that are open are noted here, so that asking costs
 * what there is to do and not what was done.
 */
import type { Deposit } from "@perpgate/engine/reading";
import type { Chain, Token, VoteCredit, VoteStatement } from "@perpgate/protocol";
import type { Applied } from "../replica.js";
import { chainOf, tokenOf } from "./deposit-view.js";
import { stateOf, type VenueSource } from "./venue-source.js";

export interface DepositToAttest {
  readonly depositId: number;
  /** 64 lower-case hex digits, no `0x`. */
  readonly txHash: string;
  readonly token: Token;
  readonly status: "queued" | "confirming";
  readonly registeredAtMs: number;
  /** What that attestor said last. */
  readonly ownVote: VoteStatement | null;
}

export interface DepositToWatch {
  readonly depositId: number;
  readonly txHash: string;
  readonly token: Token;
  readonly creditedAtMs: number;
  readonly credits: readonly VoteCredit[];
  /** Marked as reorganised away, or said to be by that attestor: nothing more to say. */
  readonly isMarked: boolean;
}

/** What a vote is about, by the state. */
export interface DepositSubject {
  readonly chain: Chain;
  readonly txHash: string;
  readonly token: Token;
  readonly status: Deposit["status"];
  readonly registeredAtMs: number;
  /** The attestor's latest vote, and when it signed it. */
  readonly ownVote: (VoteStatement & { readonly votedAtMs: number }) | null;
}

export class AttestationView {
  /** Ids in the order in which they were opened. */
  private readonly open = new Set<number>();
  /** Ids in the order in which they were credited. */
  private readonly credited: number[] = [];

  constructor(private readonly source: VenueSource) {
    const deposits = [...stateOf(source).deposits.byId.values()];
    for (const deposit of deposits.sort((a, b) => a.settledAtMs - b.settledAtMs)) {
      this.place(deposit);
    }
  }

  onCommand({ command }: Applied): void {
    if (command.kind === "AttestDeposit") {
      const deposit = stateOf(this.source).deposits.byId.get(command.depositId);
      if (deposit !== undefined && this.open.has(deposit.id)) this.place(deposit);
    } else if (command.kind === "RegisterDeposit") {
      const { deposits, config } = stateOf(this.source);
      if (config?.attestorKind === "dev") return;
      const deposit = deposits.byKey.get(`0 ${command.chain} ${command.txHash}`);
      if (deposit !== undefined && isOpen(deposit)) this.open.add(deposit.id);
    } else if (command.kind === "Configure") {
      // A smaller quorum may have settled any of them.
      const { deposits } = stateOf(this.source);
      for (const id of [...this.open]) this.place(deposits.byId.get(id)!);
    }
  }

  /** Queued and confirming deposits of a chain, oldest first. */
  pending(chain: Chain, attestor: number): DepositToAttest[] {
    return this.openDeposits(chain).map((deposit) => ({
      depositId: deposit.id,
      txHash: deposit.txHash,
      token: tokenOf(deposit.token),
      status: deposit.status === "queued" ? "queued" : "confirming",
      registeredAtMs: deposit.registeredAtMs,
      ownVote: deposit.votes.get(attestor) ?? null,
    }));
  }

  /** Deposits of a chain that were credited at or after that time. */
  creditedSince(chain: Chain, sinceMs: number, attestor: number): DepositToWatch[] {
    const { deposits, addresses } = stateOf(this.source);
    const found: DepositToWatch[] = [];
    for (let i = this.credited.length - 1; i >= 0; i--) {
      const deposit = deposits.byId.get(this.credited[i]!);
      if (deposit === undefined || deposit.settledAtMs < sinceMs) break;
      if (deposit.chain !== chain) continue;
      found.push({
        depositId: deposit.id,
        txHash: deposit.txHash,
        token: tokenOf(deposit.token),
        creditedAtMs: deposit.settledAtMs,
        credits: deposit.credits.map(({ account, amountMicros, logIndex }) => ({
          address: addresses[account] ?? "",
          amountMicros,
          logIndex,
        })),
        isMarked: deposit.reorged !== "" || deposit.votes.get(attestor)?.verdict === "reorged",
      });
    }
    return found.reverse();
  }

  subject(depositId: number, attestor: number): DepositSubject | undefined {
    const deposit = stateOf(this.source).deposits.byId.get(depositId);
    if (deposit === undefined) return undefined;
    const { txHash, status, registeredAtMs } = deposit;
    const ownVote = deposit.votes.get(attestor) ?? null;
    const [chain, token] = [chainOf(deposit.chain), tokenOf(deposit.token)];
    return { chain, txHash, token, status, registeredAtMs, ownVote };
  }

  private openDeposits(chain: Chain): Deposit[] {
    const { deposits } = stateOf(this.source);
    return [...this.open].flatMap((id) => {
      const deposit = deposits.byId.get(id);
      return deposit?.chain === chain ? [deposit] : [];
    });
  }

  private place(deposit: Deposit): void {
    if (isOpen(deposit)) this.open.add(deposit.id);
    else {
      this.open.delete(deposit.id);
      if (deposit.status === "credited") this.credited.push(deposit.id);
    }
  }
}

function isOpen({ status }: Deposit): boolean {
  return status === "queued" || status === "confirming";
}
