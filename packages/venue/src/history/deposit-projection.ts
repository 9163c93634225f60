/**
 * What the engine does not keep about deposits: who asked about one, and the signed votes on it.
 *
 * The engine knows one registrant of a hash. Whoever registers the same hash after somebody else
 * has as much reason to see how it goes, so all of them are noted, up to a bound: beyond it a
 * stranger's accounts could make each step of one deposit a thousand rows. Accounts that a deposit
 * credits are always noted. Votes are kept as they were signed: the latest of each attestor on each
 * part, and apart from it its vote that a credited transaction was reorganised away.
 */
import { EVENT } from "@perpgate/engine";
import type { Deposit } from "@perpgate/engine/reading";
import {
  CREDITED,
  DEPOSIT_PART_CREDITED,
  DEPOSIT_PROGRESSED,
  DEPOSIT_REOPENED,
  DEPOSIT_REORG_SETTLED,
  DEPOSIT_REORGED,
  DEPOSIT_SETTLED,
  REGISTERED,
} from "../events/event-fields.js";
import type { Evidence } from "../record/evidence.js";
import type { Applied } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";
import type { ChangeProjection } from "./change-projection.js";
import { depositWords } from "./deposit-row.js";
import { keyOf } from "./keys.js";
import type { RowSink, RowTable } from "./rows.js";
import { bytesOfWords, storedRow } from "./words.js";

export const MAX_REGISTRANTS = 16;

export interface DepositSurroundings {
  deposit(depositId: number): Deposit | undefined;
  /** Account of a session; 0 if there is none. */
  accountOfSession(session: number): number;
}

export interface DepositTables {
  /** Account, deposit: those that concern the account. */
  readonly deposits: RowTable;
  /** Deposit: accounts that it concerns. */
  readonly watchers: RowTable;
  /** Deposit, attestor, and which of its votes: see `voteKey`. */
  readonly votes: RowTable;
}

const NOTED = Buffer.from([1]);

export class DepositProjection {
  constructor(
    private readonly tables: DepositTables,
    private readonly queue: RowSink,
    private readonly changes: ChangeProjection,
    private readonly around: DepositSurroundings,
  ) {}

  /** `at` is the place of an event; others than those of deposits are passed over. */
  onEvent(applied: Applied, kind: number, words: Float64Array, at: number): void {
    switch (kind) {
      case EVENT.DepositRegistered:
        this.onRegistered(applied, words[at + REGISTERED.depositId]!);
        return;
      case EVENT.DepositProgressed:
        this.tellAll(words[at + DEPOSIT_PROGRESSED.depositId]!);
        return;
      case EVENT.DepositCredited: {
        const depositId = words[at + CREDITED.depositId]!;
        this.note(words[at + CREDITED.account]!, depositId, Number.POSITIVE_INFINITY);
        return;
      }
      case EVENT.DepositSettled:
        this.tellAll(words[at + DEPOSIT_SETTLED.depositId]!);
        return;
      case EVENT.DepositReorged:
        this.tellAll(words[at + DEPOSIT_REORGED.depositId]!);
        return;
      case EVENT.DepositPartCredited:
        this.tellAll(words[at + DEPOSIT_PART_CREDITED.depositId]!);
        return;
      case EVENT.DepositReopened:
        this.tellAll(words[at + DEPOSIT_REOPENED.depositId]!);
        return;
      case EVENT.DepositReorgSettled:
        this.tellAll(words[at + DEPOSIT_REORG_SETTLED.depositId]!);
    }
  }

  /** Keeps the signed form of a vote that was taken. */
  onVote({ command, evidence, events }: Applied): void {
    if (command.kind !== "AttestDeposit" || evidence.signed.length === 0) return;
    if (events.length > 0 && events.words[0] === EVENT.CommandRefused) return;
    const deposit = this.around.deposit(command.depositId);
    if (deposit === undefined) return;
    const { depositId, attestor, verdict, part = 1 } = command;
    const key = voteKey(depositId, attestor, verdict === "reorged" ? "reorged" : part);
    this.queue.put(this.tables.votes, key, encodeVote(deposit.registeredAtMs, evidence));
  }

  private onRegistered({ command, timeMs }: Applied, depositId: number): void {
    if (command.kind !== "RegisterDeposit") return;
    const account = this.around.accountOfSession(command.session);
    const isNoted = this.note(account, depositId, MAX_REGISTRANTS);
    const deposit = this.around.deposit(depositId);
    // New, or opened again: everyone hears. Merely asked for again: whoever asked.
    if (deposit?.registeredAtMs === timeMs) this.tellAll(depositId);
    else if (isNoted) this.tell(account, depositId);
  }

  /** Whether the account is noted now. */
  private note(account: number, depositId: number, limit: number): boolean {
    const watchers = watchersIn(this.tables.watchers, depositId);
    if (watchers.includes(account)) return true;
    if (watchers.length >= limit) return false;
    const row = bytesOfWords([...watchers, account]);
    this.queue.put(this.tables.watchers, keyOf(depositId), row);
    this.queue.put(this.tables.deposits, keyOf(account, depositId), NOTED);
    return true;
  }

  private tellAll(depositId: number): void {
    for (const account of watchersIn(this.tables.watchers, depositId)) {
      this.tell(account, depositId);
    }
  }

  private tell(account: number, depositId: number): void {
    const deposit = this.around.deposit(depositId);
    if (deposit === undefined) return;
    this.changes.onDeposit(account, depositId, () => depositWords(deposit));
  }
}

export function watchersIn(table: RowTable, depositId: number): readonly number[] {
  const bytes = table.get(keyOf(depositId));
  return bytes === undefined ? [] : [...storedRow(bytes, "watchers")];
}

export interface VoteRow {
  /** The registration that the vote was about; a rejected deposit may be registered again. */
  readonly registeredAtMs: number;
  readonly publicKey: Buffer;
  readonly signature: Buffer;
  /** The text that was signed. */
  readonly signed: Buffer;
}

/** Which of an attestor's votes on a deposit: that on a part, from 1, or on a reorganisation. */
export type VotePlace = number | "reorged";

/** The last number is 0 for the first part, 1 for a reorganisation, then the other parts. */
export function voteKey(depositId: number, attestor: number, place: VotePlace): Buffer {
  return keyOf(depositId, attestor, place === "reorged" ? 1 : place === 1 ? 0 : place);
}

/** Time of the registration (a double), lengths of key and signature, the three byte strings. */
function encodeVote(registeredAtMs: number, evidence: Evidence): Buffer {
  const { publicKey, signature, signed } = evidence;
  const head = Buffer.allocUnsafe(VOTE_HEAD_BYTES);
  head.writeDoubleLE(registeredAtMs, 0);
  head.writeUInt16LE(publicKey.length, 8);
  head.writeUInt16LE(signature.length, 10);
  return Buffer.concat([head, publicKey, signature, signed]);
}

const VOTE_HEAD_BYTES = 12;

export function decodeVote(bytes: Buffer): VoteRow {
  if (bytes.length < VOTE_HEAD_BYTES) throw new HistoryDamaged("a vote is cut short");
  const keyEnd = VOTE_HEAD_BYTES + bytes.readUInt16LE(8);
  const signatureEnd = keyEnd + bytes.readUInt16LE(10);
  if (signatureEnd > bytes.length) throw new HistoryDamaged("a vote is cut short");
  return {
    registeredAtMs: bytes.readDoubleLE(0),
    publicKey: bytes.subarray(VOTE_HEAD_BYTES, keyEnd),
    signature: bytes.subarray(keyEnd, signatureEnd),
    signed: bytes.subarray(signatureEnd),
  };
}
