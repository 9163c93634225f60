/**
 * Withdrawals as users read them: the engine forgets one that was paid or has expired. And the signed votes:
 * each attestor's signature for the vault, and its latest sighting.
 */
import { EVENT } from "@perpgate/engine";
import { WITHDRAWAL_STATUSES } from "@perpgate/protocol/core";
import { sha256 } from "../blocks/merkle.js";
import {
  refusalIn,
  WITHDRAWAL_EXPIRED,
  WITHDRAWAL_PAID,
  WITHDRAWAL_PROGRESSED,
  WITHDRAWAL_REQUESTED,
} from "../event-fields.js";
import type { Applied } from "../replica.js";
import { hasFields, isHexOf, isInteger, isText } from "../stored-json.js";
import { HistoryDamaged } from "../venue-errors.js";
import { type ChangeProjection, FLAG } from "./change-projection.js";
import { encodeVote } from "./deposit-projection.js";
import { ROW_TABLES } from "./history-environment.js";
import { keyOf } from "./keys.js";
import { type ProjectedReader, type ProjectedWriter, sortedEntries } from "./projected-state.js";
import type { RowSink } from "./rows.js";
import { type WithdrawalRow, withdrawalWords } from "./withdrawal-row.js";

/** The place of a vote, after withdrawal and attestor; part of the store's format. */
export const WITHDRAWAL_VOTE = { SIGNED: 0, SIGHTING: 1 } as const;

const PAID = WITHDRAWAL_STATUSES.indexOf("paid");
const EXPIRED = WITHDRAWAL_STATUSES.indexOf("expired");

export class WithdrawalProjection {
  /** Those that have not ended, by id. */
  private readonly open = new Map<number, WithdrawalRow>();

  constructor(
    private readonly queue: RowSink,
    private readonly changes: ChangeProjection,
  ) {}

  save(writer: ProjectedWriter): void {
    writer.each(sortedEntries(this.open), ([id, row]) => {
      writer.words([id]);
      writer.bytes(encodeWithdrawal(row));
    });
  }

  load(reader: ProjectedReader): void {
    reader.each(() => {
      const [id = 0] = reader.words();
      this.open.set(id, decodeWithdrawal(reader.bytes()));
    });
  }

  /** `at` is the offset of an event; events that are not about withdrawals are ignored. */
  onEvent(applied: Applied, kind: number, words: Float64Array, at: number): void {
    const { timeMs } = applied;
    switch (kind) {
      case EVENT.WithdrawalRequested:
        this.onRequested(applied, words, at);
        return;
      case EVENT.WithdrawalProgressed: {
        const { account, withdrawalId, status } = WITHDRAWAL_PROGRESSED;
        const next = { status: words[at + status]!, ...transactionOf(applied) };
        this.change(words[at + account]!, words[at + withdrawalId]!, next);
        return;
      }
      case EVENT.WithdrawalPaid: {
        const { account, withdrawalId } = WITHDRAWAL_PAID;
        const next = { status: PAID, endedAtMs: timeMs, ...transactionOf(applied) };
        this.change(words[at + account]!, words[at + withdrawalId]!, next);
        return;
      }
      case EVENT.WithdrawalExpired: {
        const { account, withdrawalId } = WITHDRAWAL_EXPIRED;
        const next = { status: EXPIRED, endedAtMs: timeMs };
        this.change(words[at + account]!, words[at + withdrawalId]!, next);
      }
    }
  }

  /** Stores the signed form of an accepted vote. */
  onVote({ command, evidence, events }: Applied): void {
    if (command.kind !== "AttestWithdrawal" || evidence.signed.length === 0) return;
    if (refusalIn(events) !== "") return;
    const { withdrawalId, attestor, verdict } = command;
    const place = verdict === "signed" ? WITHDRAWAL_VOTE.SIGNED : WITHDRAWAL_VOTE.SIGHTING;
    const key = keyOf(withdrawalId, attestor, place);
    this.queue.put(ROW_TABLES.withdrawalVotes, key, encodeVote(0, evidence));
  }

  private onRequested(applied: Applied, words: Float64Array, at: number): void {
    const { command, evidence, timeMs } = applied;
    if (command.kind !== "Withdraw") return;
    const { account, withdrawalId, amountMicros, feeMicros, deadlineMs, nonce } =
      WITHDRAWAL_REQUESTED;
    const row: WithdrawalRow = {
      nonce: words[at + nonce]!,
      chain: command.chain,
      token: command.token,
      amountMicros: words[at + amountMicros]!,
      feeMicros: words[at + feeMicros]!,
      requestedAtMs: timeMs,
      deadlineMs: words[at + deadlineMs]!,
      status: 0,
      endedAtMs: 0,
      txHash: "",
      digest: sha256(evidence.signed).toString("hex"),
    };
    this.put(words[at + account]!, words[at + withdrawalId]!, row);
  }

  private change(account: number, id: number, next: Partial<WithdrawalRow>): void {
    const row = this.open.get(id);
    if (row === undefined) throw new Error(`withdrawal ${id} is not open`);
    this.put(account, id, { ...row, ...next });
  }

  private put(account: number, id: number, row: WithdrawalRow): void {
    if (row.endedAtMs === 0) this.open.set(id, row);
    else this.open.delete(id);
    this.queue.put(ROW_TABLES.withdrawals, keyOf(account, id), encodeWithdrawal(row));
    this.changes.onWithdrawal(account, id, withdrawalWords(row));
    this.changes.flag(account, FLAG.MONEY);
  }
}

function transactionOf({ command }: Applied): { txHash?: string } {
  if (command.kind !== "AttestWithdrawal" || command.txHash === "") return {};
  return { txHash: command.txHash };
}

export function encodeWithdrawal(row: WithdrawalRow): Buffer {
  return Buffer.from(JSON.stringify(row));
}

/** @throws HistoryDamaged */
export function decodeWithdrawal(bytes: Buffer): WithdrawalRow {
  const row: unknown = JSON.parse(bytes.toString());
  if (isWithdrawalRow(row)) return row;
  throw new HistoryDamaged("a withdrawal cannot be read");
}

export function isWithdrawalRow(value: unknown): value is WithdrawalRow {
  return hasFields(value, {
    nonce: isInteger,
    chain: isText,
    token: isText,
    amountMicros: isInteger,
    feeMicros: isInteger,
    requestedAtMs: isInteger,
    deadlineMs: isInteger,
    status: isInteger,
    endedAtMs: isInteger,
    txHash: isText,
    digest: isHexOf(64),
  });
}
