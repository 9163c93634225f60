/** Working memory of the command in progress, one per venue: nothing in it outlives a command. */
import { type ClientIdWords, NO_CLIENT_ID } from "@perpgate/protocol/client-order-id";
import { LIMIT_ORDER, LONG, type OrderTypeCode, type Side } from "./commands.js";
import type { DeleveragingOrder } from "./money/deleveraging-order.js";
import type { DeleveragingShares } from "./money/deleveraging-shares.js";
import { FillPlan } from "./money/fill.js";
import type { Liquidations } from "./money/liquidations.js";
import { FillBound } from "./orders/fill-bound.js";
import { StopChoice } from "./orders/stop-choice.js";
import { Taker } from "./orders/taker.js";
import { Trial } from "./orders/trial.js";
import type { SessionRow } from "./state/sessions.js";
import { UNITS_PER_MAKER, Work } from "./work.js";

export class Scratch {
  /** Only one order, liquidation or backstop reduction takes from a book at a time. */
  readonly taker = new Taker();
  readonly makerPlan = new FillPlan();
  readonly takerPlan = new FillPlan();
  /** What the terms of the maker leave for its fills. */
  readonly makerBound = new FillBound();
  /** What the checks of an order found and its execution needs. */
  readonly placement = {
    lots: 0,
    /** The lots that the client asked for; 0: money decides. */
    sizeLots: 0,
    /** Whether nothing of it can rest: a market order, or one that is canceled if it does not fill. */
    isImmediate: false,
    /** Half-width of the price band, in ticks. */
    bandTicks: 0,
    notionalMicros: 0,
    /** Lots of the position that an order of its side closes. */
    closableLots: 0,
    /** Of these, the lots that no resting order covers. */
    freeLots: 0,
    /** Lots of the order that the book shows within its price; for limit orders that close. */
    lotsNow: 0,
    /** The cap on the sum of its fills; 0: none. */
    orderCapMicros: 0,
  };
  /** What the checks of an amendment found and its execution needs. */
  readonly amendment = {
    orderId: 0,
    side: LONG as Side,
    type: LIMIT_ORDER as OrderTypeCode,
    priceTicks: 0,
    /** Of a stop, pending or triggered; 0: none. */
    limitTicks: 0,
    /** Its lots in all, and those of them that are not filled. */
    lots: 0,
    remainingLots: 0,
    /** Whether the new size leaves nothing to fill: the order ends. */
    isCancel: false,
    /** 0: never. */
    expiresAtMs: 0,
    /** Whether it keeps its place in the queue. */
    keepsRank: false,
    /** The cap on the sum of its fills; 0: none. */
    orderCapMicros: 0,
    /** Its filled lots at the price that the checks used. */
    filledMicros: 0,
  };
  /** What the account of an amended order would have without it. */
  readonly without = {
    /** Closing capacity that its other orders leave. */
    freeLots: 0,
    /** Money that returns to the wallet. */
    micros: 0,
    /** Notional that no longer counts as waiting to open. */
    notionalMicros: 0,
  };
  /** What the tick liquidates, by market. */
  readonly liquidations: Liquidations[] = [];
  /** Whom to deleverage, by 2 × market, plus 1 where a buy closes the liquidated position. */
  readonly deleveraging: DeleveragingOrder[] = [];
  /** The same in version 3: in which parts. */
  readonly shares: DeleveragingShares[] = [];
  readonly stopChoice = new StopChoice();
  /** Stops that the tick has looked at, and served, by market; those that have had a turn apart. */
  readonly stopsLooked: number[] = [];
  readonly stopsServed: number[] = [];
  /** Of an order that is undone unless it fills. */
  readonly trial = new Trial();
  readonly work = new Work();
  /** Orders that `settle` has ended in this command, whatever it was called for. */
  endedBySettle = 0;
  /** Orders of liquidated accounts that the liquidations of this command have canceled. */
  liquidatedOrders = 0;
  /** What `warmMakers` has read; of no meaning. */
  warmed = 0;
  /** Id of the stop that a tick is serving; 0: none. */
  serving = 0;
  /** Ids of exits that the command has given other lots, and of those that began to cover any. */
  readonly resizedExits: number[] = [];
  readonly coveringExits: number[] = [];
  /** The exits of the order that is placed: 1 a take profit, 2 a stop loss, 3 both. */
  attachedExits = 0;
  /** Orders that the command has queued again, by market; in version 2 all in the first place. */
  readonly queued: number[] = [];
  /** Session, client id and result of an order, for its acknowledgement. */
  session: SessionRow | null = null;
  clientId: ClientIdWords = NO_CLIENT_ID;
  readonly outcome = { status: 0, reason: 0, remainingLots: 0 };
  /** What a cancel of one order has ended. */
  readonly canceled = { orderId: 0, market: 0, remainingLots: 0 };
  /** Orders that a cancel-all or a disconnect has canceled. */
  canceledOrders = 0;
  /** Numbers of the expired sessions that the tick closes. */
  readonly expiredSessions: number[] = [];

  beginWork(units: number, unitsPerMarket = units, aside = 0): void {
    this.work.begin(units, unitsPerMarket, aside);
    this.endedBySettle = 0;
    this.liquidatedOrders = 0;
    this.resizedExits.length = 0;
    this.coveringExits.length = 0;
    this.attachedExits = 0;
    this.queued.length = 0;
    this.serving = 0;
  }

  /** Version 2: counts the orders that `settle` has ended since `endedBefore` as makers. */
  countMet(endedBefore: number, endsPerMaker: number): void {
    const ended = this.endedBySettle - endedBefore;
    this.work.charge(UNITS_PER_MAKER * Math.floor(ended / endsPerMaker));
  }
}

export type Placement = Scratch["placement"];
