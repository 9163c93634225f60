/**
 * What the engine does not keep about deposits: the accounts that watch one, and the signed votes.
 *
 * The engine knows one registrant per hash. Every account that registers the same hash later becomes a
 * watcher too, up to a bound: otherwise one person with many accounts could turn each step of one
 * deposit into thousands of rows. Accounts that a deposit credits always become watchers. Votes are
 * kept as signed: the latest of each attestor on each part, and separately its `reorged` vote. The
 * votes for a part that was credited stay.
 */
import { EVENT } from "@perpgate/engine";
import type { DepositRecord } from "@perpgate/engine/reading";
import {
  DEPOSIT_PART_CREDITED,
  DEPOSIT_PROGRESSED,
  DEPOSIT_REOPENED,
  DEPOSIT_REORG_SETTLED,
  DEPOSIT_REORGED,
  DEPOSIT_SETTLED,
  REGISTERED,
} from "../event-fields.js";
import type { Evidence } from "../record/record.js";
import type { Applied } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";
import type { ChangeProjection } from "./change-projection.js";
import { depositWords } from "./deposit-row.js";
import { ROW_TABLES } from "./history-environment.js";
import { keyOf } from "./keys.js";
import { type ProjectedReader, type ProjectedWriter, sortedEntries } from "./projected-state.js";
import { bytesOfWords, type RowSink } from "./rows.js";

const MAX_REGISTRANTS = 16;

export interface DepositContext {
  deposit(depositId: number): DepositRecord | undefined;
  /** Account of a session; 0 if there is none. */
  accountOfSession(session: number): number;
}

const PRESENT = Buffer.from([1]);

export class DepositProjection {
  /** By deposit, the accounts that watch it. */
  private readonly watchers = new Map<number, readonly number[]>();

  constructor(
    private readonly queue: RowSink,
    private readonly changes: ChangeProjection,
    private readonly context: DepositContext,
  ) {}

  save(writer: ProjectedWriter): void {
    writer.each(sortedEntries(this.watchers), ([depositId, accounts]) =>
      writer.words([depositId, ...accounts]),
    );
  }

  load(reader: ProjectedReader): void {
    reader.each(() => {
      const [depositId = 0, ...accounts] = reader.words();
      this.watchers.set(depositId, accounts);
    });
  }

  watchersOf(depositId: number): readonly number[] {
    return this.watchers.get(depositId) ?? [];
  }

  /** `at` is the offset of an event; events that are not about deposits are ignored. */
  onEvent(applied: Applied, kind: number, words: Float64Array, at: number): void {
    switch (kind) {
      case EVENT.DepositRegistered:
        this.onRegistered(applied, words[at + REGISTERED.depositId]!);
        return;
      case EVENT.DepositProgressed:
        this.noteForAll(words[at + DEPOSIT_PROGRESSED.depositId]!);
        return;
      case EVENT.DepositSettled:
        this.onCredited(words[at + DEPOSIT_SETTLED.depositId]!);
        return;
      case EVENT.DepositReorged:
        this.noteForAll(words[at + DEPOSIT_REORGED.depositId]!);
        return;
      case EVENT.DepositPartCredited:
        this.onCredited(words[at + DEPOSIT_PART_CREDITED.depositId]!);
        return;
      case EVENT.DepositReopened:
        this.noteForAll(words[at + DEPOSIT_REOPENED.depositId]!);
        return;
      case EVENT.DepositReorgSettled:
        this.noteForAll(words[at + DEPOSIT_REORG_SETTLED.depositId]!);
    }
  }

  /** Stores the signed form of an accepted vote. */
  onVote({ command, evidence, events }: Applied): void {
    if (command.kind !== "AttestDeposit" || evidence.signed.length === 0) return;
    if (events.length > 0 && events.words[0] === EVENT.CommandRefused) return;
    const deposit = this.context.deposit(command.depositId);
    if (deposit === undefined) return;
    const { depositId, attestor, verdict, part = 1 } = command;
    // Votes without a part have the place of part 1, whose votes for its credit must stay.
    if (verdict === "confirming" && deposit.creditedParts > 0) return;
    const key = voteKey(depositId, attestor, verdict === "reorged" ? "reorged" : part);
    this.queue.put(ROW_TABLES.votes, key, encodeVote(deposit.registeredAtMs, evidence));
  }

  private onRegistered({ command, timeMs }: Applied, depositId: number): void {
    if (command.kind !== "RegisterDeposit") return;
    const account = this.context.accountOfSession(command.session);
    const watchers = this.watchersOf(depositId);
    const isWatching = watchers.includes(account) || watchers.length < MAX_REGISTRANTS;
    if (isWatching) this.watch([account], depositId);
    const deposit = this.context.deposit(depositId);
    // New or reopened: a change for all watchers. A repetition: only for the account that repeated it.
    if (deposit?.registeredAtMs === timeMs) this.noteForAll(depositId);
    else if (isWatching) this.noteFor([account], depositId);
  }

  /** Follows the credits of a part, or of the whole deposit. */
  private onCredited(depositId: number): void {
    const credits = this.context.deposit(depositId)?.credits ?? [];
    const accounts = credits.map(({ account }) => account);
    this.watch(accounts, depositId);
    this.noteForAll(depositId);
  }

  /** Adds the accounts that do not watch the deposit. */
  private watch(accounts: readonly number[], depositId: number): void {
    const watchers = new Set(this.watchersOf(depositId));
    const added = [...new Set(accounts)].filter((account) => !watchers.has(account));
    if (added.length === 0) return;
    const all = [...watchers, ...added];
    this.watchers.set(depositId, all);
    this.queue.put(ROW_TABLES.watchers, keyOf(depositId), bytesOfWords(all));
    for (const account of added) {
      this.queue.put(ROW_TABLES.deposits, keyOf(account, depositId), PRESENT);
    }
  }

  private noteForAll(depositId: number): void {
    this.noteFor(this.watchersOf(depositId), depositId);
  }

  private noteFor(accounts: readonly number[], depositId: number): void {
    const deposit = this.context.deposit(depositId);
    if (deposit === undefined) return;
    const words = depositWords(deposit);
    for (const account of accounts) this.changes.onDeposit(account, depositId, words);
  }
}

export interface VoteRow {
  /** Time of the registration that the vote is about; a rejected deposit may be registered again. */
  readonly registeredAtMs: number;
  readonly publicKey: Buffer;
  readonly signature: Buffer;
  /** The text that was signed. */
  readonly signed: Buffer;
}

/** The part (from 1) that an attestor's vote is about, or its vote on a reorganisation. */
export type VotePlace = number | "reorged";

/** The key's ordinal is 0 for the first part, 1 for a reorganisation, n for part n ≥ 2. */
export function voteKey(depositId: number, attestor: number, place: VotePlace): Buffer {
  return keyOf(depositId, attestor, place === "reorged" ? 1 : place === 1 ? 0 : place);
}

/** Time of the registration (a double), lengths of key and signature, the three byte strings. */
export function encodeVote(registeredAtMs: number, evidence: Evidence): Buffer {
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
