/**
 * A client of the simulated venue: signs in, trades, cancels, rotates its key. It outlives the
 * venue's processes and knows only the answers it got. It resends an unanswered order with the same
 * nonce until it has an answer; after an unanswered sign-in or rotation it signs in again.
 */

import {
  type Command,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type OpenSession,
  type PlaceOrder,
  REFUSAL,
  SHORT,
  STOP_ORDER,
  type VenueEvent,
} from "@perpgate/engine";
import type { Random } from "@perpgate/protocol/random";
import { type Evidence, NO_EVIDENCE } from "@perpgate/venue";
import { START_TICKS } from "../listing.js";
import type { SimulatedGateway } from "./gateway.js";

const USD = 1_000_000;
const DAY_MS = 86_400_000;

/** Mostly orders that rest or cross. */
const ORDER_TYPES = [LIMIT_ORDER, LIMIT_ORDER, LIMIT_ORDER, MARKET_ORDER, STOP_ORDER] as const;

interface Session {
  readonly number: number;
  key: string;
  nonce: number;
}

export class Trader {
  private readonly address: string;
  private session: Session | undefined;
  private signingIn = false;
  /** Sent and not answered. */
  private unanswered: PlaceOrder[] = [];
  private readonly executed: PlaceOrder[] = [];
  private readonly orderIds: number[] = [];

  constructor(private readonly random: Random) {
    this.address = this.hex(20);
  }

  /** Does one thing. */
  act(gateway: SimulatedGateway, nowMs: number): void {
    const session = this.session;
    if (session === undefined) this.signIn(gateway, nowMs);
    else if (this.random.chance(0.72)) this.send(gateway, this.order(session, nowMs));
    else this.manage(gateway, session, nowMs);
  }

  /**
   * After a restart of the venue: resends at most `most` unanswered orders. Returns whether there
   * are more.
   */
  resend(gateway: SimulatedGateway, nowMs: number, most: number): boolean {
    const again = this.unanswered.splice(0, most);
    for (const order of again) this.send(gateway, { ...order, stampMs: nowMs });
    return this.unanswered.length > 0;
  }

  /** Resends some of the orders that it knows to be executed, the latest first. */
  repeat(gateway: SimulatedGateway, nowMs: number, from: number, most: number): boolean {
    const known = this.executed.toReversed().slice(from, from + most);
    for (const order of known) this.send(gateway, { ...order, stampMs: nowMs });
    return from + most < this.executed.length;
  }

  private signIn(gateway: SimulatedGateway, nowMs: number): void {
    if (this.signingIn) return;
    this.signingIn = true;
    const random = this.random;
    const command: OpenSession = {
      kind: "OpenSession",
      stampMs: nowMs,
      address: this.address,
      key: this.hex(32),
      tokenHash: this.hex(32),
      expiresAtMs: nowMs + (random.chance(0.1) ? 2_000 : DAY_MS),
      siweNonce: this.hex(8),
      siweNonceUntilMs: nowMs + 600_000,
      maxOrderNotionalMicros: 0,
      maxNotionalMicros: 0,
      markets: [],
    };
    gateway.submit(command, this.evidence(), (events) => {
      this.signingIn = false;
      const opened = events?.find((event) => event.kind === "SessionOpened");
      if (opened === undefined) return;
      this.session = { number: opened.session, key: command.key, nonce: 0 };
    });
  }

  /** Everything but placing orders. */
  private manage(gateway: SimulatedGateway, session: Session, nowMs: number): void {
    const command = this.lesserCommand(session, nowMs);
    gateway.submit(command, this.evidence(), (events) => {
      if (events === null || hasRefusal(events, SESSION_OVER)) this.forget(session);
      if (command.kind === "RotateSession" && events?.some(({ kind }) => kind === "SessionRotated"))
        session.key = command.newKey;
    });
  }

  private send(gateway: SimulatedGateway, order: PlaceOrder): void {
    gateway.submit(order, this.evidence(), (events) => this.onAnswer(order, events));
  }

  private onAnswer(order: PlaceOrder, events: readonly VenueEvent[] | null): void {
    if (events === null) {
      this.unanswered.push(order);
      return;
    }
    if (hasRefusal(events, SESSION_OVER) && this.session?.number === order.session) {
      this.session = undefined;
    }
    const executed = events.find((event) => event.kind === "OrderAcknowledged");
    if (executed === undefined) return;
    this.executed.push(order);
    this.orderIds.push(executed.orderId);
  }

  private order(session: Session, nowMs: number): PlaceOrder {
    const random = this.random;
    const market = random.below(START_TICKS.length);
    const near = START_TICKS[market] ?? START_TICKS[0];
    const type = ORDER_TYPES[random.below(ORDER_TYPES.length)] ?? LIMIT_ORDER;
    session.nonce += random.chance(0.05) ? 1 + random.below(5) : 1;
    return {
      kind: "PlaceOrder",
      stampMs: nowMs,
      session: session.number,
      key: session.key,
      nonce: session.nonce,
      market,
      side: random.pick([LONG, SHORT]),
      type,
      marginMicros: (1 + random.below(400)) * USD,
      leverage: 1 + random.below(random.pick([5, 20, 60])),
      priceTicks: type === MARKET_ORDER ? 0 : Math.round(near * (0.985 + random.next() * 0.03)),
      reduceOnly: random.chance(0.05),
      postOnly: type === LIMIT_ORDER && random.chance(0.1),
    };
  }

  private lesserCommand({ number: session, key }: Session, stampMs: number): Command {
    const random = this.random;
    const orderId = this.orderIds[random.below(this.orderIds.length)];
    if (orderId !== undefined && random.chance(0.6)) {
      return { kind: "CancelOrder", stampMs, session, orderId };
    }
    const newKey = this.hex(32);
    return random.pick<Command>([
      { kind: "CancelAll", stampMs, session, market: random.pick([-1, 0, 1]) },
      { kind: "CancelAfter", stampMs, session, afterMs: random.pick([0, 1_000, 5_000]) },
      {
        kind: "RegisterDeposit",
        stampMs,
        session,
        chain: "arbitrum",
        txHash: newKey,
        token: "USDC",
      },
      { kind: "RotateSession", stampMs, session, oldKey: key, newKey },
      { kind: "CloseSession", stampMs, session },
    ]);
  }

  /** A new sign-in will follow; orders of the old session keep its number and nonces. */
  private forget(session: Session): void {
    if (this.session === session) this.session = undefined;
  }

  private evidence(): Evidence {
    const random = this.random;
    if (random.chance(0.3)) return NO_EVIDENCE;
    const signed = random.bytes(random.below(180));
    return { signed, signature: random.bytes(64), publicKey: random.bytes(random.pick([0, 33])) };
  }

  private hex(bytes: number): string {
    return Buffer.from(this.random.bytes(bytes)).toString("hex");
  }
}

const SESSION_OVER: readonly number[] = [
  REFUSAL.session_unknown,
  REFUSAL.session_expired,
  REFUSAL.session_key_rotated,
];

function hasRefusal(events: readonly VenueEvent[], refusals: readonly number[]): boolean {
  return events.some(
    (event) => event.kind === "CommandRefused" && refusals.includes(event.refusal),
  );
}
