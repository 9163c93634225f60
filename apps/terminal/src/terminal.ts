/**
 * The page's model: the client, the feeds, and the user's actions. Components get it from
 * `useTerminal`, read its stores and call its methods.
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
import { MarketFeed } from "./venue/market-feed.js";
import { OrderClient } from "./venue/order-client.js";
import { SessionManager } from "./venue/session-manager.js";
import { TapeFeed } from "./venue/tape-feed.js";

export type OpenDialog = "none" | "sign-in" | "deposit";

export class Terminal {
  readonly marketFeed: MarketFeed;
  readonly book: BookFeed;
  readonly tape: TapeFeed;
  readonly bridge: BridgeFeed;
  readonly connection: Connection;
  readonly sessions: SessionManager;
  readonly account: AccountFeed;
  readonly orders: OrderClient;
  readonly toasts = new Toasts();
  readonly dialog = new Store<OpenDialog>("none", "immediate");

  constructor(readonly client: PerpgateClient) {
    this.marketFeed = new MarketFeed(client);
    this.orders = new OrderClient({
      client,
      markets: () => this.marketFeed.markets.get()?.map(({ market }) => market) ?? [],
    });
    this.book = new BookFeed(client);
    this.tape = new TapeFeed(client);
    this.bridge = new BridgeFeed(client);
    this.connection = new Connection(client);
    this.sessions = new SessionManager(client);
    this.account = new AccountFeed(() => this.endSession());
  }

  start(): void {
    let shown = "";
    this.marketFeed.current.watch(() => {
      const symbol = this.marketFeed.current.get()?.market.symbol ?? "";
      if (symbol === shown) return;
      shown = symbol;
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
      this.marketFeed.reload();
      this.tape.reload();
      this.bridge.load();
      this.account.refreshSoon();
      this.orders.reconnected(this.sessions.session);
    });
    this.client.stream.watchBlocks(({ number }) => {
      this.orders.sealedUpTo(number, this.sessions.session);
    });
    this.marketFeed.load();
    this.bridge.load();
  }

  /** Runs a user's action and reports its failure; resolves to whether it succeeded. */
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

  /** Signs out if the error says that the session has ended. */
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
  if (terminal === undefined) throw new Error("useTerminal outside of TerminalContext");
  return terminal;
}
