/**
 * What each command changed for each account, in the order of the log: acknowledgements, orders,
 * positions, deposits. It is the outbox of the private streams: a client that was away asks for all
 * after the last position it saw, and is told the same as one that stayed.
 *
 * A row holds the state after its command, so that it can be shown later as it was. What changes
 * twice within a command is noted once, as it ended.
 */
import type { RowSink, RowTable } from "./rows.js";

/** First word of a row. The number of a kind is part of the store's format. */
export const CHANGE = { ACK: 0, ORDER: 1, POSITION: 2, DEPOSIT: 3 } as const;

/** An order's row follows its kind. */
export const CHANGED_ORDER = 1;
export const CHANGED_POSITION = {
  MARKET: 1,
  LOTS: 2,
  COST: 3,
  MARGIN: 4,
  REALIZED: 5,
  FUNDING: 6,
  MARK: 7,
  TIME: 8,
} as const;
/** A deposit's id, then its state: deposit-row.ts. */
export const CHANGED_DEPOSIT_ID = 1;
export const CHANGED_DEPOSIT = 2;

export interface ChangeRow {
  readonly account: number;
  readonly row: Float64Array;
}

/** A row under way; its memory serves one command after another. */
interface Draft {
  account: number;
  length: number;
  words: Float64Array;
}

const MARKETS = 4_096;
const USUAL_WORDS = 32;

export class ChangeProjection {
  private readonly drafts: Draft[] = [];
  /** Drafts in use by the command under way, or by the last one. */
  private count = 0;
  private isUnderWay = false;
  /** Which draft a position of the command under way has. */
  private readonly draftOfPosition = new Map<number, number>();
  private readonly seenDeposits = new Set<string>();

  constructor(
    private readonly changes: RowTable,
    private readonly queue: RowSink,
  ) {}

  /** The rows of the command that was applied last. */
  get last(): readonly ChangeRow[] {
    return this.drafts.slice(0, this.count).map(({ account, length, words }) => ({
      account,
      row: words.slice(0, length),
    }));
  }

  onAcknowledged(account: number): void {
    this.begin(account, 1)[0] = CHANGE.ACK;
  }

  /** Called once for every order that the command changed. */
  onOrder(account: number, order: Float64Array): void {
    const row = this.begin(account, CHANGED_ORDER + order.length);
    row[0] = CHANGE.ORDER;
    row.set(order, CHANGED_ORDER);
  }

  /** The row of a position, to be filled by `CHANGED_POSITION`. */
  onPosition(account: number, market: number): Float64Array {
    const key = account * MARKETS + market;
    const known = this.isUnderWay ? this.draftOfPosition.get(key) : undefined;
    if (known !== undefined) return this.drafts[known]!.words;
    const row = this.begin(account, CHANGED_POSITION.TIME + 1);
    this.draftOfPosition.set(key, this.count - 1);
    row[0] = CHANGE.POSITION;
    row[CHANGED_POSITION.MARKET] = market;
    return row;
  }

  /** The engine has come to the end of the command: what is read first is how it ended. */
  onDeposit(account: number, depositId: number, words: () => readonly number[]): void {
    const key = `${account}.${depositId}`;
    if (this.seenDeposits.has(key)) return;
    this.seenDeposits.add(key);
    const state = words();
    const row = this.begin(account, CHANGED_DEPOSIT + state.length);
    row[0] = CHANGE.DEPOSIT;
    row[CHANGED_DEPOSIT_ID] = depositId;
    row.set(state, CHANGED_DEPOSIT);
  }

  endCommand(seq: number): void {
    if (!this.isUnderWay) {
      this.count = 0;
      return;
    }
    for (let ordinal = 0; ordinal < this.count; ordinal++) {
      const { account, words, length } = this.drafts[ordinal]!;
      this.queue.putWords(this.changes, account, seq, ordinal, words, length);
    }
    this.isUnderWay = false;
    this.draftOfPosition.clear();
    this.seenDeposits.clear();
  }

  private begin(account: number, length: number): Float64Array {
    if (!this.isUnderWay) {
      this.isUnderWay = true;
      this.count = 0;
    }
    if (this.count === this.drafts.length) {
      this.drafts.push({ account, length, words: new Float64Array(USUAL_WORDS) });
    }
    const draft = this.drafts[this.count++]!;
    draft.account = account;
    draft.length = length;
    if (draft.words.length < length) draft.words = new Float64Array(length);
    return draft.words;
  }
}
