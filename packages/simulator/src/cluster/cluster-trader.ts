/**
 * A client of a simulated cluster. It signs in at one gateway and trades through any, keeps a socket
 * that it moves, and sends an order whose answer it lacks to another gateway with the same nonce.
 */
import {
  type Command,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type PlaceOrder,
  SHORT,
  type VenueEvent,
} from "@perpgate/engine";
import { addressOf, openSession, plainOrder } from "@perpgate/engine/testing";
import type { Random } from "@perpgate/protocol/random";
import { START_TICKS } from "../listing.js";
import type { Answer } from "./attempt.js";
import type { GatewayProcess } from "./gateway-process.js";

const USD = 1_000_000;
/** Without an answer for as long, a client asks another gateway too. */
const IMPATIENT_MS = 2_000;

/** What a client gets: the events of its command, or why there are none. */
export type OnAnswer = (events: readonly VenueEvent[] | null, why: Answer) => void;

export interface TraderWorld {
  readonly random: Random;
  after(ms: number, run: () => void): void;
  /** A gateway that accepts connections, if there is one. */
  gateway(): GatewayProcess | undefined;
  send(gateway: GatewayProcess, command: Command, onAnswer: OnAnswer): void;
}

interface Socket {
  readonly gateway: GatewayProcess;
  readonly token: object;
}

interface Order {
  readonly command: PlaceOrder;
  /** Tries that may still be executed. */
  doubtful: number;
  isSettled: boolean;
}

export class ClusterTrader {
  /** Orders without a final answer. */
  open = 0;
  /** Orders that were refused while no other try of them could still be executed. */
  readonly refused: PlaceOrder[] = [];
  private session = 0;
  private isSigningIn = false;
  private nonce = 0;
  private socket: Socket | undefined;
  private readonly orderIds: number[] = [];
  private readonly address: string;
  private readonly key: string;
  private signIns = 0;

  constructor(
    private readonly world: TraderWorld,
    number: number,
  ) {
    this.address = addressOf(number);
    this.key = number.toString(16).padStart(64, "0");
  }

  act(): void {
    const { random } = this.world;
    const gateway = this.reachable();
    if (gateway === undefined) return;
    if (this.session === 0) this.signIn(gateway);
    else if (this.socket === undefined && random.chance(0.5)) this.connect(gateway);
    else if (random.chance(0.65)) this.place(gateway);
    else if (random.chance(0.4)) this.moveSocket(gateway);
    else this.manage(gateway);
  }

  /** A gateway that has applied the session's opening; others answer that they lag. */
  private reachable(): GatewayProcess | undefined {
    const gateway = this.world.gateway();
    return gateway !== undefined && gateway.seq >= this.session ? gateway : undefined;
  }

  private signIn(gateway: GatewayProcess): void {
    if (this.isSigningIn) return;
    this.isSigningIn = true;
    this.signIns++;
    const command = openSession({
      stampMs: gateway.nowMs(),
      address: this.address,
      key: this.key,
      tokenHash: `${this.address}${this.signIns.toString(16).padStart(24, "0")}`,
      siweNonce: `nonce${this.signIns}`,
    });
    this.world.send(gateway, command, (events) => {
      this.isSigningIn = false;
      const opened = events?.find((event) => event.kind === "SessionOpened");
      if (opened !== undefined) this.session = opened.session;
    });
  }

  private place(gateway: GatewayProcess): void {
    const { random } = this.world;
    const market = random.below(START_TICKS.length);
    const isMarket = random.chance(0.2);
    this.nonce++;
    const command = plainOrder({
      stampMs: gateway.nowMs(),
      session: this.session,
      key: this.key,
      nonce: this.nonce,
      market,
      side: random.pick([LONG, SHORT]),
      type: isMarket ? MARKET_ORDER : LIMIT_ORDER,
      marginMicros: (1 + random.below(100)) * USD,
      leverage: 1 + random.below(5),
      priceTicks: isMarket ? 0 : Math.round(START_TICKS[market]! * (0.99 + random.next() * 0.02)),
    });
    const order = { command, doubtful: 0, isSettled: false };
    this.open++;
    this.send(order, gateway);
    // The same order to two gateways concurrently.
    if (random.chance(0.05)) this.sendElsewhere(order);
  }

  private send(order: Order, gateway: GatewayProcess): void {
    const { world } = this;
    let isAnswered = false;
    order.doubtful++;
    world.after(IMPATIENT_MS, () => {
      if (!isAnswered && !order.isSettled) this.sendElsewhere(order);
    });
    const command = { ...order.command, stampMs: gateway.nowMs() };
    world.send(gateway, command, (events, why) => {
      const wasAnswered = isAnswered;
      isAnswered = true;
      if (events !== null || why === "not_executed") order.doubtful--;
      if (events !== null) this.settle(order, events);
      else if (!order.isSettled && !(wasAnswered && why === "lost")) {
        world.after(20, () => this.sendElsewhere(order));
      }
    });
  }

  private sendElsewhere(order: Order): void {
    if (order.isSettled) return;
    const gateway = this.reachable();
    if (gateway === undefined) this.world.after(300, () => this.sendElsewhere(order));
    else this.send(order, gateway);
  }

  private settle(order: Order, events: readonly VenueEvent[]): void {
    let orderId = 0;
    for (const event of events) {
      if (event.kind === "OrderAcknowledged" || event.kind === "OrderReplayed") {
        orderId = event.orderId;
      }
    }
    if (order.isSettled) return;
    order.isSettled = true;
    this.open--;
    if (orderId !== 0) this.orderIds.push(orderId);
    else if (order.doubtful === 0) this.refused.push(order.command);
  }

  private manage(gateway: GatewayProcess): void {
    const { random } = this.world;
    const { session } = this;
    const stampMs = gateway.nowMs();
    const orderId = this.orderIds[random.below(this.orderIds.length)];
    const command: Command =
      orderId !== undefined && random.chance(0.6)
        ? { kind: "CancelOrder", stampMs, session, orderId }
        : {
            kind: "SetSessionOption",
            stampMs,
            session,
            cancelOnDisconnect: random.chance(0.85),
          };
    this.world.send(gateway, command, () => undefined);
  }

  private connect(gateway: GatewayProcess): void {
    const token = {};
    this.socket = { gateway, token };
    gateway.onKilled.add(() => this.drop(token));
    gateway.connect(this.session, token, (isConnected) => {
      if (!isConnected) this.drop(token);
    });
  }

  /** Opens the new one first, as a client does that must not lose its orders. */
  private moveSocket(gateway: GatewayProcess): void {
    const { socket: before, session } = this;
    if (before === undefined) return;
    if (gateway === before.gateway) {
      if (!this.world.random.chance(0.3)) return;
      this.socket = undefined;
      before.gateway.disconnect(session, before.token);
      return;
    }
    const token = {};
    gateway.onKilled.add(() => this.drop(token));
    gateway.connect(session, token, (isConnected) => {
      if (!isConnected || !gateway.isAlive) return;
      if (this.socket !== before && this.socket !== undefined) {
        gateway.disconnect(session, token);
        return;
      }
      this.socket = { gateway, token };
      if (before.gateway.isAlive) before.gateway.disconnect(session, before.token);
    });
  }

  private drop(token: object): void {
    if (this.socket?.token === token) this.socket = undefined;
  }
}
