/**
 * Everything behind the page, put together once: the client, what it feeds, and what a person does.
 *
 * Components reach it through `useTerminal`. They read stores and call methods; none of them talks
 * to the client by itself.
 */

import { type PerpgateClient, PerpgateError, type Session } from "@perpgate/sdk";
import { createContext, useContext } from "react";
import { adviceOn } from "./order/advice.js";
import { changeForm } from "./order/order-form-state.js";
import { Store } from "./state/store.js";
import { Toasts } from "./ui/toasts.js";
import { AccountFeed } from "./venue/account-feed.js";
import { BookFeed } from "./venue/book-feed.js";
import { BridgeFeed } from "./venue/bridge-feed.js";
import { Connection } from "./venue/connection.js";
import { MarketBoard } from "./venue/market-board.js";
import { OrderDesk } from "./venue/order-desk.js";
import { SessionDesk } from "./venue/session-desk.js";
import { TapeFeed } from "./venue/tape-feed.js";

export type OpenDialog = "none" | "sign-in" | "deposit";

export class Terminal {
  readonly board: MarketBoard;
  readonly book: BookFeed;
  readonly tape: TapeFeed;
  readonly bridge: BridgeFeed;
  readonly connection: Connection;
  readonly sessions: SessionDesk;
  readonly account: AccountFeed;
  readonly orders: OrderDesk;
  readonly toasts = new Toasts();
  readonly dialog = new Store<OpenDialog>("none", "at-once");

  constructor(readonly client: PerpgateClient) {
    this.board = new MarketBoard(client);
    this.orders = new OrderDesk({
      client,
      markets: () => this.board.markets.get()?.map(({ market }) => market) ?? [],
    });
    this.book = new BookFeed(client);
    this.tape = new TapeFeed(client);
    this.bridge = new BridgeFeed(client);
    this.connection = new Connection(client);
    this.sessions = new SessionDesk(client);
    this.account = new AccountFeed(() => this.endSession());
  }

  start(): void {
    let shown = "";
    this.board.current.watch(() => {
      const symbol = this.board.current.get()?.market.symbol ?? "";
      if (symbol === shown) return;
      shown = symbol;
      // A price of one market means nothing in another.
      changeForm({ price: "" });
      this.book.show(symbol);
      this.tape.show(symbol);
    });
    this.sessions.state.watch(() => {
      const { session } = this.sessions;
      if (session === undefined) {
        this.account.close();
        this.orders.forget();
      } else this.account.open(session);
    });
    this.connection.onReturn(() => {
      void this.board.load();
      void this.tape.load();
      this.bridge.load();
      this.account.refreshSoon();
      this.orders.reconnected(this.sessions.session);
    });
    this.client.stream.watchBlocks(({ number }) => {
      this.orders.sealedUpTo(number, this.sessions.session);
    });
    void this.board.load();
    this.bridge.load();
  }

  /** Runs what a person asked for; a refusal is told with what to do about it. */
  async attempt(action: (session: Session) => Promise<unknown>): Promise<boolean> {
    const { session } = this.sessions;
    if (session === undefined) {
      this.dialog.set("sign-in");
      return false;
    }
    try {
      await action(session);
      return true;
    } catch (error) {
      this.report(error);
      return false;
    }
  }

  cancelAll(): Promise<boolean> {
    return this.attempt(async (session) => {
      const { canceled } = await session.cancelAll();
      const orders = canceled.length === 1 ? "order" : "orders";
      this.toasts.show("good", `${canceled.length} ${orders} canceled`);
    });
  }

  report(error: unknown): void {
    const { title, text } = adviceOn(error);
    this.toasts.show("bad", title, text);
    this.noteEndOfSession(error);
  }

  /** A session that the venue no longer knows is signed out here too. */
  noteEndOfSession(error: unknown): void {
    if (error instanceof PerpgateError && error.code === "invalid_token") this.endSession();
  }

  private endSession(): void {
    if (this.sessions.session === undefined) return;
    this.sessions.forget();
    this.toasts.show("info", "Signed out", "The session has ended. Sign in again to trade.");
  }
}

export const TerminalContext = createContext<Terminal | undefined>(undefined);

export function useTerminal(): Terminal {
  const terminal = useContext(TerminalContext);
  if (terminal === undefined) throw new Error("no terminal around this component");
  return terminal;
}
