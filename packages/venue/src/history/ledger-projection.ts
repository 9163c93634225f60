/**
 * Every change of an account's balance (wallet, margins and reserves), with the balance after it. The
 * amounts follow from the events of one command, and the balances from the engine's state after it:
 * counted back from there, so nothing has to be remembered from one command to the next.
 *
 * Fills hold their fee and PnL already, so their rows get the balance as one more word; everything else
 * has a row of its own: payments of funding in one table, the rest in another. A ledger is the three
 * merged (`ledger-reader.ts`).
 */
import { BACKSTOP_ACCOUNT, EVENT, TRADE_ADL } from "@perpgate/engine";
import {
  CASH_SETTLED,
  CREDITED,
  FUNDING_SETTLED,
  LIQUIDATED,
  MARGIN_CHANGED,
  SOCIALISED,
  TRADED,
  WALLET_CREDITED,
  WITHDRAWAL_EXPIRED,
  WITHDRAWAL_REQUESTED,
} from "../event-fields.js";
import { type ChangeProjection, FLAG } from "./change-projection.js";
import { FILL_ROW, type FillSink } from "./fill-projection.js";
import { ROW_TABLES } from "./history-environment.js";
import { accountGroup, NO_MARKET } from "./keys.js";
import type { PlacedRow } from "./row-pages.js";
import type { RowSink } from "./rows.js";

/** The number of a kind is part of the store's format. */
export const LEDGER = {
  DEPOSIT: 0,
  GRANT: 1,
  FEE: 2,
  PNL: 3,
  FUNDING: 4,
  LIQUIDATION: 5,
  ADL: 6,
  SETTLEMENT: 7,
  MARGIN: 8,
  WITHDRAWAL: 9,
  WITHDRAWAL_FEE: 10,
} as const;

export const LEDGER_ROW = {
  KIND: 0,
  /** `NO_MARKET` for none. */
  MARKET: 1,
  AMOUNT: 2,
  /** The balance after it. */
  BALANCE: 3,
  /**
   * The id of a deposit or a withdrawal; what moved into a position's margin (negative: out of it); what funding cost,
   * which is more than the amount where it raised the cost of a position without margin.
   */
  DETAIL: 4,
  TIME: 5,
} as const;
export const LEDGER_WORDS = 6;

/**
 * Places within a command: fill n has n × FILL_STEP + AT_FILL (its PnL) and the one after (its fee);
 * what happens before it and after the fill n − 1 lies between.
 */
export const FILL_STEP = 2 ** 18;
export const AT_FILL = 2 ** 17;

export interface LedgerContext {
  /** Wallet, margins and reserves of an account, as booked. */
  balanceMicros(account: number): number;
}

/** A change of the current command. Drafts are reused by later commands. */
interface Draft {
  account: number;
  amount: number;
  group: number;
  ordinal: number;
  /** A fill's row, or a ledger's. */
  row: number[];
  isFill: boolean;
}

export class LedgerProjection implements FillSink {
  private readonly drafts: Draft[] = [];
  private count = 0;
  /** Drafts of the last command. */
  private lastCount = 0;
  private lastSeq = 0;
  /** Fills so far, and other changes since the last of them. */
  private fillOrdinal = 0;
  private others = 0;
  private readonly balances = new Map<number, number>();

  constructor(
    private readonly queue: RowSink,
    private readonly changes: ChangeProjection,
    private readonly context: LedgerContext,
  ) {}

  wants(account: number): boolean {
    return this.changes.wantsFills(account);
  }

  onFill(account: number, market: number, ordinal: number, row: number[]): void {
    const amount = row[FILL_ROW.PNL]! - row[FILL_ROW.FEE]!;
    this.push(account, accountGroup(account, market), amount, ordinal, row, true);
    this.changes.flag(account, FLAG.FILLS);
    this.fillOrdinal = ordinal + 1 + ((ordinal + 1) % 2);
    this.others = 0;
  }

  /** `previous` is the offset of the event before. Events that change no balance are ignored. */
  onEvent(kind: number, words: Float64Array, at: number, previous: number): void {
    const of = (field: number): number => words[at + field]!;
    switch (kind) {
      case EVENT.BalanceCredited: {
        const { account, amountMicros } = WALLET_CREDITED;
        // The credit of a deposit is named by the event that follows.
        this.add(LEDGER.GRANT, of(account), NO_MARKET, of(amountMicros));
        this.changes.flag(of(account), FLAG.MONEY);
        return;
      }
      case EVENT.DepositCredited: {
        const { row } = this.drafts[this.count - 1]!;
        row[LEDGER_ROW.KIND] = LEDGER.DEPOSIT;
        row[LEDGER_ROW.DETAIL] = of(CREDITED.depositId);
        return;
      }
      case EVENT.FundingSettled: {
        const { account, market, marginMicros, amountMicros } = FUNDING_SETTLED;
        this.add(LEDGER.FUNDING, of(account), of(market), of(marginMicros), of(amountMicros));
        return;
      }
      case EVENT.Liquidated: {
        const { account, market, feeMicros, dustMicros } = LIQUIDATED;
        const taken = of(feeMicros) + of(dustMicros);
        if (taken !== 0) this.add(LEDGER.LIQUIDATION, of(account), of(market), -taken);
        return;
      }
      case EVENT.LossSocialised: {
        // What the fund took over of a deleveraged account's loss; of funding, it was never booked.
        if (words[previous] !== EVENT.Traded) return;
        if (words[previous + TRADED.tradeKind] !== TRADE_ADL) return;
        const { account, market, amountMicros } = SOCIALISED;
        this.add(LEDGER.ADL, of(account), of(market), of(amountMicros));
        return;
      }
      case EVENT.CashSettled: {
        const { account, market, paidMicros, marginMicros } = CASH_SETTLED;
        this.add(LEDGER.SETTLEMENT, of(account), of(market), of(paidMicros) - of(marginMicros));
        return;
      }
      case EVENT.MarginChanged: {
        const { account, market, amountMicros } = MARGIN_CHANGED;
        // It moves between two parts of the balance.
        this.add(LEDGER.MARGIN, of(account), of(market), 0, of(amountMicros));
        return;
      }
      case EVENT.WithdrawalRequested: {
        const { account, withdrawalId, amountMicros, feeMicros } = WITHDRAWAL_REQUESTED;
        this.withdraw(of(account), of(withdrawalId), -of(amountMicros), -of(feeMicros));
        return;
      }
      case EVENT.WithdrawalExpired: {
        const { account, withdrawalId, amountMicros, feeMicros } = WITHDRAWAL_EXPIRED;
        this.withdraw(of(account), of(withdrawalId), of(amountMicros), of(feeMicros));
      }
    }
  }

  private withdraw(account: number, id: number, amount: number, fee: number): void {
    this.add(LEDGER.WITHDRAWAL, account, NO_MARKET, amount, id);
    if (fee !== 0) this.add(LEDGER.WITHDRAWAL_FEE, account, NO_MARKET, fee, id);
  }

  /** The fills of an account in the command that ended last, in order. */
  lastFillsOf(account: number): PlacedRow[] {
    const { lastSeq: seq } = this;
    return this.drafts.slice(0, this.lastCount).flatMap((draft) => {
      const { isFill, ordinal, row } = draft;
      return isFill && draft.account === account ? [{ seq, ordinal, row }] : [];
    });
  }

  endCommand(seq: number, timeMs: number): void {
    this.lastCount = this.count;
    this.lastSeq = seq;
    if (this.count === 0) return;
    const { balances, queue } = this;
    for (let i = this.count - 1; i >= 0; i--) {
      const { account, amount, group, ordinal, row, isFill } = this.drafts[i]!;
      const balance = balances.get(account) ?? this.context.balanceMicros(account);
      balances.set(account, balance - amount);
      row[isFill ? FILL_ROW.BALANCE : LEDGER_ROW.BALANCE] = balance;
      if (!isFill) row[LEDGER_ROW.TIME] = timeMs;
      const isPayment = !isFill && row[LEDGER_ROW.KIND] === LEDGER.FUNDING;
      const { fills, payments, ledger } = ROW_TABLES;
      const table = isFill ? fills : isPayment ? payments : ledger;
      queue.putWords(table, group, seq, ordinal, row);
    }
    balances.clear();
    this.count = 0;
    this.fillOrdinal = 0;
    this.others = 0;
  }

  private add(kind: number, account: number, market: number, amount: number, detail = 0): void {
    if (account === BACKSTOP_ACCOUNT) return;
    const ordinal = this.fillOrdinal * FILL_STEP + this.others++;
    const row = [kind, market, amount, 0, detail, 0];
    this.push(account, accountGroup(account, market), amount, ordinal, row, false);
  }

  private push(
    account: number,
    group: number,
    amount: number,
    ordinal: number,
    row: number[],
    isFill: boolean,
  ): void {
    const draft = this.drafts[this.count];
    if (draft === undefined) this.drafts.push({ account, amount, group, ordinal, row, isFill });
    else {
      draft.account = account;
      draft.amount = amount;
      draft.group = group;
      draft.ordinal = ordinal;
      draft.row = row;
      draft.isFill = isFill;
    }
    this.count++;
  }
}
