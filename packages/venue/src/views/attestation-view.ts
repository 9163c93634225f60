/**
 * Deposits as attestors see them: those that wait for votes, and those credited lately. The engine
 * keeps every deposit; the open ones are indexed here in order, so that the cost of a page depends on
 * its size and not on the number of deposits.
 */
import { EVENT, type EventLog } from "@perpgate/engine";
import { type DepositRecord, depositKey, isUnseen } from "@perpgate/engine/reading";
import type {
  Chain,
  CreditedDeposit,
  DepositPage,
  PendingDeposit,
  QueueOrder,
} from "@perpgate/protocol";
import { CHAINS } from "@perpgate/protocol/core";
import {
  DEPOSIT_FORGOTTEN,
  DEPOSIT_PART_CREDITED,
  DEPOSIT_SETTLED,
  eventWords,
} from "../event-fields.js";
import type { Applied } from "../replica.js";
import type { DepositSubject, OpenDeposits } from "./attestation-rows.js";
import { chainOf, tokenNamed } from "./deposit-view.js";
import { SortedIds } from "./sorted-ids.js";
import { stateOf, type VenueSource } from "./venue-source.js";

const PAGE_DEPOSITS = 500;
/** Of a page with several deposits: about 250 KB; attestors refuse a response above 8 MiB. */
const PAGE_CREDITS = 2_000;
/** Cursors from here on are positions in the list of credited deposits; below, ids of deposits. */
const CREDITED_CURSOR = 2 ** 50;

export class AttestationView {
  private readonly open = new Map(CHAINS.map((chain) => [chain, new SortedIds()]));
  /** Those of `open` that an attestor has seen on the chain. */
  private readonly seen = new Map(CHAINS.map((chain) => [chain, new SortedIds()]));
  private readonly credited = new Map(CHAINS.map((chain) => [chain, new CreditedLog()]));
  /** Those of which parts are credited and others are not, with the time of the last part. */
  private readonly partly = new Map(CHAINS.map((chain) => [chain, new Map<number, number>()]));
  private readonly lastVotes = new Map<number, number>();

  constructor(private readonly source: VenueSource) {
    const { deposits, config, timeMs } = stateOf(source);
    if (config?.attestorKind === "dev") return;
    const all = [...deposits.byId.values()];
    for (const deposit of all.sort((a, b) => a.settledAtMs - b.settledAtMs || a.id - b.id)) {
      this.place(deposit);
      if (deposit.status === "credited") this.noteCredit(deposit);
      else if (deposit.credits.length > 0) this.notePart(deposit, timeMs);
      for (const [attestor, { votedAtMs }] of deposit.votes) this.noteVote(attestor, votedAtMs);
    }
  }

  onCommand({ command, events }: Applied): void {
    const { deposits, config } = stateOf(this.source);
    if (config?.attestorKind === "dev") return;
    switch (command.kind) {
      case "Tick":
        this.dropForgotten(events);
        return;
      case "AttestDeposit":
        this.noteVote(command.attestor, command.votedAtMs);
        this.placeIfKnown(deposits.byId.get(command.depositId));
        this.noteSettled(events);
        return;
      case "RejudgeDeposit":
        this.placeIfKnown(deposits.byId.get(command.depositId));
        return;
      case "RegisterDeposit":
        this.placeIfKnown(deposits.byKey.get(depositKey(0, command.chain, command.txHash)));
        return;
      case "Configure":
      case "PauseDeposits":
        // Votes may have been dropped, and the remaining ones may have settled any deposit.
        for (const index of this.open.values()) {
          for (const id of index.above(0, index.size)) this.placeIfKnown(deposits.byId.get(id));
        }
        this.noteSettled(events);
    }
  }

  /** A page of queued and confirming deposits of a chain by number; `after` 0 is the first page. */
  pending(
    chain: Chain,
    attestor: number,
    order: QueueOrder,
    after: number,
  ): DepositPage<PendingDeposit> {
    const index = this.open.get(chain)!;
    const ids =
      order === "ascending"
        ? index.above(after, PAGE_DEPOSITS + 1)
        : index.below(after === 0 ? SortedIds.END : after, PAGE_DEPOSITS + 1);
    const { byId } = stateOf(this.source).deposits;
    const found = ids.map((id) => pendingDeposit(byId.get(id)!, attestor));
    const rows = found.slice(
      0,
      rowsInPage(found, ({ ownVote }) => ownVote?.credits.length ?? 0),
    );
    return { rows, next: found.length > rows.length ? rows.at(-1)!.depositId : null };
  }

  /**
   * A page of deposits of a chain that were credited at or after that time: first those that are
   * credited in part, by id, then the others in the order of their credits.
   */
  creditedSince(
    chain: Chain,
    attestor: number,
    sinceMs: number,
    after: number,
  ): DepositPage<CreditedDeposit> {
    const { deposits, addresses } = stateOf(this.source);
    const partly = this.partly.get(chain)!;
    const inPart = [...partly]
      .filter(([id, timeMs]) => timeMs >= sinceMs && id > after)
      .map(([id]) => id)
      .sort((a, b) => a - b);
    const log = this.credited.get(chain)!;
    const from = log.firstFrom(sinceMs, after - CREDITED_CURSOR);
    const ids = [...inPart, ...log.slice(from, PAGE_DEPOSITS)];
    const creditsOf = (id: number): number => deposits.byId.get(id)!.credits.length;
    const page = ids.slice(0, rowsInPage(ids, creditsOf));
    const rows = page.map((id) => {
      const deposit = deposits.byId.get(id)!;
      const ownVote = deposit.votes.get(attestor);
      return {
        depositId: id,
        txHash: deposit.txHash,
        creditedAtMs: partly.get(id) ?? deposit.settledAtMs,
        credits: deposit.credits.map(({ account, amountMicros, logIndex, token }) => {
          const entry = { address: addresses.at(account) ?? "", amountMicros, logIndex };
          return token === "" ? entry : { ...entry, token };
        }),
        isMarked: deposit.reorged !== "",
        ownVote: ownVote?.verdict === "reorged" ? ownVote : null,
      };
    });
    if (page.length < inPart.length) return { rows, next: page.at(-1)! };
    const end = from + page.length - inPart.length;
    return { rows, next: end < log.size ? CREDITED_CURSOR + end : null };
  }

  subject(depositId: number, attestor: number): DepositSubject | undefined {
    const deposit = stateOf(this.source).deposits.byId.get(depositId);
    if (deposit === undefined) return undefined;
    const { txHash, status, registeredAtMs, creditedParts, credits, reorged } = deposit;
    return {
      chain: chainOf(deposit.chain),
      txHash,
      token: tokenNamed(deposit.token),
      status,
      registeredAtMs,
      creditedParts,
      credits,
      reorged,
      ownVote: deposit.votes.get(attestor) ?? null,
    };
  }

  /** Chains and tokens whose deposits are paused. */
  get paused(): readonly string[] {
    return [...stateOf(this.source).deposits.paused].sort();
  }

  /** Open deposits that the account registered and no attestor has seen on their chain. */
  unseenBy(account: number): number {
    return stateOf(this.source).deposits.unseen(account);
  }

  /** When each attestor signed its latest vote, by number. */
  get lastVoteTimes(): ReadonlyMap<number, number> {
    return this.lastVotes;
  }

  openOn(chain: Chain): OpenDeposits {
    const { byId } = stateOf(this.source).deposits;
    const seen = this.seen.get(chain)!;
    const [oldest] = seen.above(0, 1);
    return {
      unseen: this.open.get(chain)!.size - seen.size,
      seen: seen.size,
      oldestSeenAtMs: oldest === undefined ? null : byId.get(oldest)!.registeredAtMs,
    };
  }

  private placeIfKnown(deposit: DepositRecord | undefined): void {
    if (deposit !== undefined) this.place(deposit);
  }

  private dropForgotten({ words, length }: EventLog): void {
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      if (words[at] !== EVENT.DepositForgotten) continue;
      const id = words[at + DEPOSIT_FORGOTTEN.depositId]!;
      for (const index of [...this.open.values(), ...this.seen.values()]) index.delete(id);
    }
  }

  private noteSettled({ words, length }: EventLog): void {
    const { deposits, timeMs } = stateOf(this.source);
    const depositOf = (id: number | undefined) => deposits.byId.get(id!)!;
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      if (words[at] === EVENT.DepositPartCredited) {
        this.notePart(depositOf(words[at + DEPOSIT_PART_CREDITED.depositId]), timeMs);
      } else if (words[at] === EVENT.DepositSettled && words[at + DEPOSIT_SETTLED.credited] === 1) {
        this.noteCredit(depositOf(words[at + DEPOSIT_SETTLED.depositId]));
      }
    }
  }

  /** Updates the indexes. */
  private place(deposit: DepositRecord): void {
    const chain = chainOf(deposit.chain);
    keep(this.open.get(chain)!, deposit.id, isOpen(deposit));
    keep(this.seen.get(chain)!, deposit.id, isOpen(deposit) && !isUnseen(deposit));
  }

  private notePart({ id, chain }: DepositRecord, timeMs: number): void {
    this.partly.get(chainOf(chain))!.set(id, timeMs);
  }

  private noteCredit(deposit: DepositRecord): void {
    this.partly.get(chainOf(deposit.chain))!.delete(deposit.id);
    this.credited.get(chainOf(deposit.chain))!.add(deposit.id, deposit.settledAtMs);
  }

  private noteVote(attestor: number, votedAtMs: number): void {
    const last = this.lastVotes.get(attestor) ?? 0;
    if (votedAtMs > last) this.lastVotes.set(attestor, votedAtMs);
  }
}

/** Credited deposits of a chain in the order of their credits, paged from a time on. */
class CreditedLog {
  private readonly ids: number[] = [];
  /** Non-decreasing. */
  private readonly timesMs: number[] = [];

  add(id: number, creditedAtMs: number): void {
    this.ids.push(id);
    this.timesMs.push(creditedAtMs);
  }

  get size(): number {
    return this.ids.length;
  }

  /** The first position at or after `position` that was credited at or after that time. */
  firstFrom(sinceMs: number, position: number): number {
    return Math.max(position, this.firstSince(sinceMs));
  }

  slice(from: number, limit: number): readonly number[] {
    return this.ids.slice(from, from + limit);
  }

  private firstSince(timeMs: number): number {
    let low = 0;
    let high = this.timesMs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.timesMs[middle]! < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** How many of these deposits fit in a page, at least one. */
function rowsInPage<T>(deposits: readonly T[], creditsOf: (deposit: T) => number): number {
  let credits = 0;
  for (const [row, deposit] of deposits.entries()) {
    credits += creditsOf(deposit);
    if (row === PAGE_DEPOSITS || (row > 0 && credits > PAGE_CREDITS)) return row;
  }
  return deposits.length;
}

function pendingDeposit(deposit: DepositRecord, attestor: number): PendingDeposit {
  return {
    depositId: deposit.id,
    txHash: deposit.txHash,
    account: deposit.registrant,
    status: deposit.status === "queued" ? "queued" : "confirming",
    registeredAtMs: deposit.registeredAtMs,
    creditedParts: deposit.creditedParts,
    ...(deposit.credits.length === 0 ? {} : { lastCreditedLog: lastLogOf(deposit) }),
    ownVote: deposit.votes.get(attestor) ?? null,
  };
}

function lastLogOf({ credits }: DepositRecord): number {
  return Math.max(...credits.map(({ logIndex }) => logIndex));
}

function keep(index: SortedIds, id: number, isIn: boolean): void {
  if (isIn) index.add(id);
  else index.delete(id);
}

function isOpen({ status }: DepositRecord): boolean {
  return status === "queued" || status === "confirming";
}
