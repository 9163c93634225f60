/**
 * What each command changed for each account, in log order: acknowledgements, orders, positions,
 * deposits. It is the outbox of the private streams: a client that reconnects reads all rows after the
 * last seq it received, and gets the same as one that stayed connected.
 *
 * A row holds the state after its command. What changes twice within a command has one row, with the
 * final state.
 */
import { accountGroup } from "./keys.js";
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

/** A row of the current command. Drafts are reused by later commands. */
interface Draft {
  account: number;
  length: number;
  words: Float64Array;
}

const USUAL_WORDS = 32;

export class ChangeProjection {
  private readonly drafts: Draft[] = [];
  /** Drafts in use by the current command, or by the last one. */
  private count = 0;
  private hasRows = false;
  /** Index of the draft of each position that the current command changed. */
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
    const key = accountGroup(account, market);
    const known = this.hasRows ? this.draftOfPosition.get(key) : undefined;
    if (known !== undefined) return this.drafts[known]!.words;
    const row = this.begin(account, CHANGED_POSITION.TIME + 1);
    this.draftOfPosition.set(key, this.count - 1);
    row[0] = CHANGE.POSITION;
    row[CHANGED_POSITION.MARKET] = market;
    return row;
  }

  /** Events are read after the command was applied, so the first read gives the final state. */
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
    if (!this.hasRows) {
      this.count = 0;
      return;
    }
    for (let ordinal = 0; ordinal < this.count; ordinal++) {
      const { account, words, length } = this.drafts[ordinal]!;
      this.queue.putWords(this.changes, account, seq, ordinal, words, length);
    }
    this.hasRows = false;
    this.draftOfPosition.clear();
    this.seenDeposits.clear();
  }

  private begin(account: number, length: number): Float64Array {
    if (!this.hasRows) {
      this.hasRows = true;
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
