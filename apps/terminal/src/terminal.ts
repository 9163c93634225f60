/**
 * The page's model: the client, the feeds, and the user's actions. Components get it from
 * `useTerminal`, read its stores and call its methods.
 */

import type { BridgeInfo, Order } from "@perpgate/protocol";
import {
  type PerpgateClient,
  PerpgateError,
  type ReceiptProblem,
  type Session,
} from "@perpgate/sdk";
import { createContext, useContext } from "react";
import { Drawings } from "./chart/drawings.js";
import { symbolInLink, writeLink } from "./market/market-link.js";
import { adviceOn } from "./order/advice.js";
import { type CancelPlan, cancelPlan } from "./order/cancel-plan.js";
import { clearPrices } from "./order/order-form-state.js";
import { orderSettings } from "./order/order-settings.js";
import type { ShownOutcome } from "./order/outcome.js";
import { reasonText } from "./order/reasons.js";
import { Store } from "./state/store.js";
import { countOf, t } from "./text/texts.js";
import { announcing } from "./ui/announce.js";
import { Toasts } from "./ui/toasts.js";
import { AccountFeed, type AccountListener } from "./venue/account-feed.js";
import { AccountNotices } from "./venue/account-notices.js";
import { BookFeed } from "./venue/book-feed.js";
import { GatewayFeed } from "./venue/gateway-feed.js";
import { HonestyFeed } from "./venue/honesty-feed.js";
import { KeptReceipts } from "./venue/kept-receipts.js";
import { Line } from "./venue/line.js";
import { LiveMarks } from "./venue/live-marks.js";
import { MarketFeed } from "./venue/market-feed.js";
import { priceText } from "./venue/market-view.js";
import { PageOrderClient } from "./venue/order-client.js";
import { alertText, type PriceAlert, PriceAlerts } from "./venue/price-alerts.js";
import { shownProblem } from "./venue/receipt-book.js";
import { ONCE, Refresher } from "./venue/refresher.js";
import { RiskWatch } from "./venue/risk-watch.js";
import { SandboxFeed } from "./venue/sandbox-feed.js";
import { SessionManager } from "./venue/session-manager.js";
import { TapeFeed } from "./venue/tape-feed.js";
import { isUnknown, type Settlement } from "./venue/unsettled-requests.js";
import { PageClock } from "./venue/venue-clock.js";

/**
 * How this venue takes deposits: vault and tokens of each chain, or the dev attestor. Loaded again
 * after every reconnection, because the venue may have been restarted with another configuration.
 */
class BridgeFeed {
  /** Undefined until loaded. */
  readonly info = new Store<BridgeInfo | undefined>(undefined);
  private readonly refresher: Refresher;

  constructor(client: PerpgateClient) {
    this.refresher = new Refresher(async () => this.info.set(await client.bridge(ONCE)));
  }

  load(): void {
    this.refresher.soon();
  }
}

type OpenDialog =
  | "none"
  | "sign-in"
  | "sign-out"
  | "deposit"
  | "withdraw"
  | "account"
  | "shortcuts"
  | "scale"
  | "settings"
  | "alerts"
  | "cancel-all";

/** Of an action whose outcome is unknown the page learns the outcome later, and shows it. */
type Attempt = "done" | "failed" | "unknown";

export class Terminal {
  readonly marketFeed: MarketFeed;
  readonly marks: LiveMarks;
  readonly book: BookFeed;
  readonly tape: TapeFeed;
  readonly bridge: BridgeFeed;
  readonly honesty: HonestyFeed;
  readonly gateways: GatewayFeed;
  /** Gates every action: see `attempt`. */
  readonly line: Line;
  readonly sessions: SessionManager;
  readonly account: AccountFeed;
  readonly orders: PageOrderClient;
  readonly toasts = new Toasts();
  readonly alerts: PriceAlerts;
  readonly drawings = new Drawings();
  readonly receipts = new KeptReceipts();
  readonly dialog = new Store<OpenDialog>("none", "immediate");
  /** Undefined: no sandbox, or one without a control API. */
  readonly sandbox: SandboxFeed | undefined;
  private readonly announced = announcing(this.toasts);
  private readonly notices: AccountNotices;
  private readonly risk: RiskWatch;
  private readonly settler = new Refresher(() => this.settle());

  constructor(
    readonly client: PerpgateClient,
    readonly clock = new PageClock(),
    control = "",
  ) {
    this.sandbox = control === "" ? undefined : new SandboxFeed(control, clock);
    this.alerts = new PriceAlerts((alert, price, isHere) => this.showAlert(alert, price, isHere));
    this.marketFeed = new MarketFeed(client, (ticker) => this.alerts.check(ticker));
    this.line = new Line(client);
    this.marks = new LiveMarks(this.marketFeed);
    this.orders = new PageOrderClient({
      client,
      markets: () => this.marketFeed.markets.get()?.map(({ market }) => market) ?? [],
      line: this.line,
      clock: this.clock,
    });
    this.book = new BookFeed(client);
    this.tape = new TapeFeed(client);
    this.bridge = new BridgeFeed(client);
    this.honesty = new HonestyFeed(client);
    this.gateways = new GatewayFeed(client);
    this.sessions = new SessionManager(client, {
      onOtherAccount: () => this.leaveAccount(),
      onOtherChain: () => {
        const text = t.notices.otherChainText;
        this.toasts.show("info", t.notices.otherChain, text, "chain");
      },
    });
    this.risk = new RiskWatch(this, this.announced);
    this.notices = new AccountNotices({
      toasts: this.announced,
      view: (symbol) => this.marketFeed.view(symbol),
      readOrder: async (orderId) => this.sessions.session?.order(orderId),
      readLedger: async (query) => (await this.sessions.session?.ledger(query)) ?? [],
      hasPlaced: (order) => this.orders.hasPlaced(order),
      hasCanceled: (order) => this.orders.hasCanceled(order),
      onChanged: (order) => this.orders.book.orderChanged(order),
    });
    const listener: AccountListener = {
      onEnded: () => this.endSession(),
      onOrders: (frame, known) => this.notices.orders(frame, known),
      onFills: (frame) => this.notices.fills(frame),
    };
    this.account = new AccountFeed(listener, this.marketFeed.nextFundingAt);
  }

  start(): void {
    let shown = "";
    this.marketFeed.current.watch(() => {
      const symbol = this.marketFeed.current.get()?.market.symbol ?? "";
      if (symbol === shown) return;
      shown = symbol;
      clearPrices();
      if (symbol !== "") writeLink(symbol);
      this.book.show(symbol);
      this.tape.show(symbol);
    });
    this.sessions.state.watch(() => {
      const { session } = this.sessions;
      if (session === undefined) {
        this.account.close();
        this.receipts.close();
        this.orders.forget();
      } else {
        this.receipts.open(session, this.sessions.isKept);
        this.account.open(session);
        this.orders.unsettled.resume(session);
      }
      this.line.follow(session?.stream);
    });
    this.line.onReturn(() => {
      this.readClock();
      this.settler.soon();
      this.marketFeed.reload();
      this.tape.reload();
      this.bridge.load();
      this.account.refreshSoon();
      this.orders.book.reconnected(this.sessions.session);
    });
    this.account.account.watch(() => {
      const { session, isKept } = this.sessions;
      if (session !== undefined) void this.receipts.collect(session, isKept);
    });
    this.orders.unsettled.list.watch(() => this.settler.soon());
    this.client.stream.watchBlocks(({ number, time }) => {
      this.clock.note(time);
      this.orders.book.sealedUpTo(number, this.sessions.session);
    });
    this.line.start();
    this.readClock();
    window.addEventListener("hashchange", () => this.marketFeed.select(symbolInLink() ?? ""));
    this.alerts.start();
    this.drawings.start();
    this.marketFeed.load();
    this.marks.start();
    this.marks.sample.watch(() => this.risk.check());
    this.bridge.load();
    this.honesty.start();
    this.gateways.start();
    this.sandbox?.start();
    void this.sessions.restore();
  }

  /** Runs a user's action and reports its failure, by a toast unless `report` is given. */
  async attempt(
    action: (session: Session) => Promise<unknown>,
    report: (error: unknown) => void = (error) => this.report(error),
  ): Promise<Attempt> {
    const { session } = this.sessions;
    if (session === undefined) {
      this.dialog.set("sign-in");
      return "failed";
    }
    try {
      this.line.requireLive();
      await action(session);
      return "done";
    } catch (error) {
      report(error);
      return isUnknown(error) ? "unknown" : "failed";
    }
  }

  /** *Cancel all*: asks first if the trader wants that, and if there is nothing but exits. */
  async cancelAll(): Promise<void> {
    if (orderSettings.get().asksFirst || this.cancelPlan().others.length === 0) {
      this.dialog.set("cancel-all");
    } else {
      await this.attempt((session) => this.cancelOpen(session, "orders"));
    }
  }

  /** Cancels the open orders; exits only with `all`. */
  async cancelOpen(session: Session, scope: "orders" | "all"): Promise<void> {
    const { others, exits, kept } = this.cancelPlan();
    const ids = (orders: readonly Order[]) => orders.map(({ orderId }) => orderId);
    // Without exits the venue's own command leaves nothing out that was placed elsewhere meanwhile.
    const isAll = scope === "all" || exits.length === 0;
    const count = isAll
      ? (await this.orders.cancelAll(session, ids([...others, ...exits]))).canceled.length
      : await this.orders.cancelEach(session, ids(others));
    const canceled = countOf(count, t.counts.orders);
    const title =
      isAll || kept.length === 0
        ? t.orders.canceled(canceled)
        : t.orders.canceledLeft(canceled, countOf(kept.length, t.counts.exits));
    this.toasts.show("good", title);
  }

  /** *Sign out*: with open positions it asks first, and unless it is known that there are none. */
  askSignOut(): void {
    const hasNone = this.line.state.get() === "live" && this.account.positions.get()?.size === 0;
    if (!hasNone && orderSettings.get().asksFirst) this.dialog.set("sign-out");
    else this.signOut();
  }

  signOut(): void {
    this.sessions.signOut().catch((error: unknown) => this.report(error));
  }

  private cancelPlan(): CancelPlan {
    return cancelPlan(this.account.orders.get(), this.account.positions.get());
  }

  report(error: unknown): void {
    const { title, text } = adviceOn(error);
    this.toasts.show("bad", title, text);
    this.noteEndOfSession(error);
  }

  receiptProblem(problem: ReceiptProblem): void {
    this.orders.book.receiptProblem(problem);
    const { title, text } = shownProblem(problem);
    this.toasts.show("alarm", title, t.proof.ackNonce(problem.ackNonce, text), "receipt");
  }

  /** Signs out if the error says that the session has ended. */
  noteEndOfSession(error: unknown): void {
    if (error instanceof PerpgateError && error.code === "invalid_token") this.endSession();
  }

  /** Another tab that has noticed it notifies. */
  private showAlert(alert: PriceAlert, price: number, isHere: boolean): void {
    const view = this.marketFeed.view(alert.symbol);
    const text = t.alerts.isNow(priceText(view, price));
    const toasts = isHere ? this.announced : this.toasts;
    toasts.show("alarm", alertText(alert, view), text, `alert ${alert.id}`);
  }

  /** The wallet's user means another account than the one on the screen. */
  private leaveAccount(): void {
    this.toasts.show("info", t.notices.signedOut, t.notices.otherAccount);
    this.signOut();
  }

  private readClock(): void {
    this.clock.forget();
    this.client.time().then(
      (time) => this.clock.note(time),
      // A block will bring the time.
      () => undefined,
    );
  }

  /** Repeated until everything has an answer. */
  private async settle(): Promise<void> {
    const { unsettled } = this.orders;
    if (unsettled.list.get().length === 0) return;
    this.line.requireLive();
    for (const settlement of await unsettled.settle()) this.showSettlement(settlement);
    // No stream of the page has the money of a withdrawal or of a change of margin.
    this.account.refreshSoon();
    if (unsettled.list.get().length > 0) throw new Error("some have no answer yet");
  }

  private showSettlement({ title, ...settled }: Settlement): void {
    const kind = settled.outcome === "executed" ? "info" : "bad";
    const outcome = t.results.outcomes[settled.outcome];
    this.toasts.show(kind, `${title}: ${outcome}`, settlementText(settled));
  }

  private endSession(): void {
    if (this.sessions.session === undefined) return;
    this.sessions.forget();
    this.toasts.show("info", t.notices.signedOut, t.notices.sessionEnded);
  }
}

function settlementText({ outcome, error, reason }: ShownOutcome): string {
  if (error?.code === "too_late") return t.results.lineWasDown;
  if (error !== undefined) return adviceOn(error).text;
  if (outcome === "outcome unknown") {
    return t.results.notKnown;
  }
  if (typeof reason === "string") return reasonText(reason, outcome === "partly filled");
  return t.results.answerLost;
}

export const TerminalContext = createContext<Terminal | undefined>(undefined);

export function useTerminal(): Terminal {
  const terminal = useContext(TerminalContext);
  if (terminal === undefined) throw new Error("useTerminal outside of TerminalContext");
  return terminal;
}
