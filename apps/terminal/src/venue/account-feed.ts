/**
 * The signed-in account: balances, positions, open orders, fills, deposits.
 *
 * Positions, orders and deposits come from their streams, which begin with a snapshot and have no
 * gaps. Balances and fills are requested when the session begins and after every change on a stream.
 * Funding is no change of a stream: the positions are watched again after each hour of it, because a new
 * watch begins with a snapshot, which counts what has accrued as paid.
 */

import type { Account, Deposit, Fill, Order, Position } from "@perpgate/protocol";
import {
  type ClosedPosition,
  type FillsFrame,
  type OrdersFrame,
  PerpgateError,
  type Session,
  type Subscription,
  type WatchOptions,
} from "@perpgate/sdk";
import { Store } from "../state/store.js";
import { joinNewest, PAGE_ROWS, type RowList } from "./paged-list.js";
import { ONCE, Refresher } from "./refresher.js";

/** What others do with the frames of the streams. */
export interface AccountListener {
  /** The session is no longer valid. */
  onEnded(error: Error | undefined): void;
  /** Called before the frame is taken over; `known` are the open orders so far. */
  onOrders(frame: OrdersFrame, known: ReadonlyMap<string, Order> | undefined): void;
  onFills(frame: FillsFrame): void;
}

export class AccountFeed {
  readonly account = new Store<Account | undefined>(undefined);
  readonly positions = new Store<ReadonlyMap<string, Position> | undefined>(undefined);
  readonly orders = new Store<ReadonlyMap<string, Order> | undefined>(undefined);
  readonly deposits = new Store<ReadonlyMap<string, Deposit> | undefined>(undefined);
  readonly fills = new Store<RowList<Fill> | undefined>(undefined);
  private session: Session | undefined;
  private watches: readonly Subscription[] = [];
  private positionsWatch: Subscription | undefined;
  private refresher: Refresher | undefined;
  /** Ends the requests of a session that is left: it may have ended at the venue when they arrive. */
  private leaving = new AbortController();

  /** `nextFundingAt` is the end of the current hour of funding. */
  constructor(
    private readonly listener: AccountListener,
    nextFundingAt: Store<number | undefined>,
  ) {
    nextFundingAt.watch(() => this.watchPositions());
  }

  open(session: Session): void {
    this.close();
    this.session = session;
    this.leaving = new AbortController();
    const { stream } = session;
    const options = this.optionsOf(session);
    this.watchPositions();
    this.watches = [
      stream.watchOrders((frame) => {
        const { type, orders } = frame;
        this.listener.onOrders(frame, this.orders.get());
        const next = new Map(type === "snapshot" ? [] : this.orders.get());
        for (const order of orders) {
          if (isOpen(order)) next.set(order.orderId, order);
          else next.delete(order.orderId);
        }
        this.show(this.orders, next);
      }, options),
      stream.watchDeposits(({ type, deposits }) => {
        const next = new Map(type === "snapshot" ? [] : this.deposits.get());
        for (const deposit of deposits) next.set(deposit.depositId, deposit);
        this.show(this.deposits, next);
      }, options),
      stream.watchFills((frame) => this.listener.onFills(frame), options),
      stream.watchPreconfirms(() => this.refreshSoon(), options),
    ];
    this.refresher = new Refresher(() => this.refresh(session));
    void this.refresher.now();
  }

  close(): void {
    for (const watch of [...this.watches, this.positionsWatch]) watch?.close();
    this.watches = [];
    this.positionsWatch = undefined;
    this.refresher?.close();
    this.refresher = undefined;
    this.session = undefined;
    this.leaving.abort();
    for (const store of [this.account, this.positions, this.orders, this.deposits, this.fills]) {
      store.set(undefined);
    }
  }

  refreshSoon(): void {
    this.refresher?.soon();
  }

  /** Also while they are watched: see above. What is shown stays until the snapshot is there. */
  private watchPositions(): void {
    const { session } = this;
    if (session === undefined) return;
    this.positionsWatch?.close();
    this.positionsWatch = session.stream.watchPositions(({ type, positions }) => {
      const next = new Map(type === "snapshot" ? [] : this.positions.get());
      for (const position of positions) {
        if (isHeld(position)) next.set(position.symbol, position);
        else next.delete(position.symbol);
      }
      this.show(this.positions, next);
    }, this.optionsOf(session));
  }

  private optionsOf(session: Session): WatchOptions {
    return {
      onProblem: ({ kind, error }) => {
        if (kind === "refused" && this.session === session) this.listener.onEnded(error);
      },
    };
  }

  private async refresh(session: Session): Promise<void> {
    const once = { ...ONCE, signal: this.leaving.signal };
    try {
      const [account, newest] = await Promise.all([
        session.account(once),
        session.fills({ limit: PAGE_ROWS, ...once }),
      ]);
      if (this.session !== session) return;
      this.account.set(account);
      this.fills.update((known) => joinNewest(known, { rows: newest, isCut: false }, idOfFill));
    } catch (error) {
      // A retry cannot restore an ended session.
      if (isEnd(error) && this.session === session) this.listener.onEnded(error);
      throw error;
    }
  }

  private show<T>(store: Store<T>, value: T): void {
    store.set(value);
    this.refreshSoon();
  }
}

function isEnd(error: unknown): error is PerpgateError {
  return error instanceof PerpgateError && error.code === "invalid_token";
}

function isHeld(position: Position | ClosedPosition): position is Position {
  return position.size !== 0;
}

function isOpen({ status }: Order): boolean {
  return status === "resting" || status === "pending";
}

function idOfFill({ id }: Fill): string {
  return id;
}
