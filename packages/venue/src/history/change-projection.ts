/**
 * What each command changed for each account, in log order: orders, acknowledgements, positions, deposits,
 * withdrawals, money, fills. It is the outbox of the private streams: a client that reconnects reads all rows after the
 * last seq it received, and gets the same as one that stayed connected.
 *
 * A row holds the state after its command. What changes twice within a command has one row, with the
 * final state.
 *
 * Only the changes of the last commands are kept. They are in two tables, which take turns of
 * `outboxCommands` commands: when one's turn comes again it is emptied, at the cost of a few pages, where
 * removing row by row would double the writes.
 */
import { ROW_TABLES } from "./history-environment.js";
import { accountGroup } from "./keys.js";
import type { RowSink } from "./rows.js";

/** First word of a row, with `FLAG`. The number of a kind is part of the store's format. */
export const CHANGE = { ORDER: 1, POSITION: 2, DEPOSIT: 3, NONE: 4, WITHDRAWAL: 5 } as const;
export const KINDS = 8;
/**
 * Added to the kind of one row per account and command, so that these need no further rows. MONEY: the row
 * ends with the account's money, `MONEY_WORDS` words. FILLS: the command has fills of the account, which the
 * table of fills holds. ACK: the command acknowledges an order of the account.
 */
export const FLAG = { MONEY: KINDS, FILLS: 2 * KINDS, ACK: 4 * KINDS } as const;
/** Wallet, reserves, margins (accrued funding paid), equity. */
export const MONEY_WORDS = 4;

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
/** A withdrawal's id, then its state: withdrawal-row.ts. */
export const CHANGED_WITHDRAWAL_ID = 1;
export const CHANGED_WITHDRAWAL = 2;

/** Minutes of a thousand orders a second, 10 to 20 MB. */
export const OUTBOX_COMMANDS = 2 ** 17;

/** The turn that a command belongs to. */
export function outboxTurn(seq: number, outboxCommands: number): number {
  return Math.floor(seq / outboxCommands);
}

/** The first command whose changes are kept once `seq` is applied. */
export function outboxStart(seq: number, outboxCommands: number): number {
  return Math.max(1, (outboxTurn(seq, outboxCommands) - 1) * outboxCommands);
}

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

const USUAL_WORDS = 40;

/** Writes the four figures of an account's money at `at`. */
type MoneyWriter = (account: number, words: Float64Array, at: number) => void;

export class ChangeProjection {
  private readonly drafts: Draft[] = [];
  /** Drafts in use by the current command, or by the last one. */
  private count = 0;
  private hasRows = false;
  /** Index of the draft of each position that the current command changed. */
  private readonly draftOfPosition = new Map<number, number>();
  private readonly seenDeposits = new Set<string>();
  /** The flags of accounts in the current command. */
  private readonly flags = new Map<number, number>();
  /** The changes of earlier commands are not kept. */
  from = 1;
  /** Whether the rows of all accounts are written, fills too. */
  private isWhole = false;
  /** Whether the changes of the current command are. */
  private isKept = false;
  /** Accounts whose changes are made otherwise. */
  isTold: (account: number) => boolean = () => false;

  constructor(
    private readonly queue: RowSink,
    private readonly writeMoney: MoneyWriter,
  ) {}

  /** Called before all others; `isWhole`: the rows of all accounts are written. */
  beginCommand(seq: number, isWhole: boolean): void {
    this.isWhole = isWhole;
    this.isKept = isWhole && seq >= this.from;
  }

  /** Whether the account's fills are made. */
  wantsFills(account: number): boolean {
    return this.isWhole || this.isTold(account);
  }

  /** Whether its changes are: a rebuild makes those of the last commands alone. */
  isWanted(account: number): boolean {
    return this.isKept || this.isTold(account);
  }

  /** Flags the account's rows of the command. */
  flag(account: number, flag: number): void {
    if (!this.isWanted(account)) return;
    this.flags.set(account, (this.flags.get(account) ?? 0) | flag);
  }

  /** The rows of the command that was applied last. */
  get last(): readonly ChangeRow[] {
    return this.drafts.slice(0, this.count).map(({ account, length, words }) => ({
      account,
      row: words.slice(0, length),
    }));
  }

  /** Called once for every order that the command changed. */
  onOrder(account: number, order: Float64Array): void {
    if (!this.isWanted(account)) return;
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
  onDeposit(account: number, depositId: number, state: readonly number[]): void {
    const key = `${account}.${depositId}`;
    if (!this.isWanted(account) || this.seenDeposits.has(key)) return;
    this.seenDeposits.add(key);
    const row = this.begin(account, CHANGED_DEPOSIT + state.length);
    row[0] = CHANGE.DEPOSIT;
    row[CHANGED_DEPOSIT_ID] = depositId;
    row.set(state, CHANGED_DEPOSIT);
  }

  onWithdrawal(account: number, withdrawalId: number, state: readonly number[]): void {
    if (!this.isWanted(account)) return;
    const row = this.begin(account, CHANGED_WITHDRAWAL + state.length);
    row[0] = CHANGE.WITHDRAWAL;
    row[CHANGED_WITHDRAWAL_ID] = withdrawalId;
    row.set(state, CHANGED_WITHDRAWAL);
  }

  endCommand(seq: number): void {
    const { isKept } = this;
    if (this.flags.size > 0) this.setFlags();
    if (!this.hasRows) {
      this.count = 0;
      return;
    }
    for (let ordinal = 0; isKept && ordinal < this.count; ordinal++) {
      const { account, words, length } = this.drafts[ordinal]!;
      this.queue.putWords(ROW_TABLES.changes, account, seq, ordinal, words, length);
    }
    this.hasRows = false;
    this.draftOfPosition.clear();
    this.seenDeposits.clear();
  }

  /** The last row of each flagged account gets its flags; one without a row gets one. */
  private setFlags(): void {
    const { flags } = this;
    for (let i = (this.hasRows ? this.count : 0) - 1; i >= 0 && flags.size > 0; i--) {
      const draft = this.drafts[i]!;
      const own = flags.get(draft.account);
      if (own === undefined) continue;
      flags.delete(draft.account);
      this.complete(draft, own);
    }
    for (const [account, own] of flags) {
      this.begin(account, 1)[0] = CHANGE.NONE;
      this.complete(this.drafts[this.count - 1]!, own);
    }
    flags.clear();
  }

  private complete(draft: Draft, flags: number): void {
    draft.words[0] = draft.words[0]! + flags;
    if ((flags & FLAG.MONEY) === 0) return;
    const { account, length } = draft;
    draft.length = length + MONEY_WORDS;
    if (draft.words.length < draft.length) {
      const words = new Float64Array(draft.length);
      words.set(draft.words.subarray(0, length));
      draft.words = words;
    }
    this.writeMoney(account, draft.words, length);
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
