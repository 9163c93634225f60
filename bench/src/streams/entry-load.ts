/**
 * Order entry over REST and over sockets in one process, in short turns: a few hundred orders one
 * way, then the same number the next way, over connections that stay open. A machine's pace changes
 * from second to second; turns of some fifty milliseconds meet it alike, where turns of seconds in
 * processes of their own do not.
 *
 * All ways have the same traders. A REST connection has one order under way, as HTTP/1.1 has it; a
 * socket may have several.
 */
import { createPrivateKey, type KeyObject } from "node:crypto";
import type { Socket } from "node:net";
import { Connection } from "../orders/connection.js";
import { orderBody, orderRequest, signature } from "../orders/wire.js";
import { FrameCounter } from "./frame-counter.js";
import { isOk, openSocket, textMessage } from "./plain-socket.js";

/** A way for orders to come in. */
export interface EntryWay {
  readonly isSocket: boolean;
  readonly connections: number;
  /** Orders that each of them has under way. */
  readonly underWay: number;
}

export interface EntryPlan {
  readonly port: number;
  readonly price: number;
  readonly traders: readonly { readonly token: string; readonly privateKeyPem: string }[];
  readonly firstNonce: number;
  readonly ways: readonly EntryWay[];
  /** Orders of a turn. */
  readonly count: number;
  /** Turns of each way. */
  readonly turns: number;
}

/** By way, how many milliseconds each turn took. */
export interface EntryResult {
  readonly turnsMs: readonly (readonly number[])[];
}

/** How many times its share of a turn a trader may send. */
const SPARE = 3;

interface Trader {
  readonly token: string;
  readonly key: KeyObject;
}

/** A connection that takes orders. */
interface Lane {
  /** Sends one and calls back when it is acknowledged; throws if it is refused. */
  send(message: Buffer, answered: () => void): void;
  close(): void;
}

/** The connections of a way; the place of each is its trader's. */
interface OpenWay extends EntryWay {
  readonly lanes: readonly Lane[];
}

class RestLane implements Lane {
  private constructor(private readonly connection: Connection) {}

  static async open(port: number): Promise<RestLane> {
    return new RestLane(await Connection.open(port));
  }

  send(message: Buffer, answered: () => void): void {
    this.connection.send(message, (status, body) => {
      if (status !== 200) throw new Error(`refused: ${status} ${body.toString("utf8", 0, 80)}`);
      answered();
    });
  }

  close(): void {
    this.connection.close();
  }
}

/** What is sent while one piece of data is read goes out in one write, as a client would do it. */
class SocketLane implements Lane {
  private readonly counter = new FrameCounter();
  private readonly waiting: (() => void)[] = [];
  private socket: Socket | undefined;

  static async open(port: number, token: string): Promise<SocketLane> {
    const lane = new SocketLane();
    lane.socket = await openSocket(port, token, (chunk) => lane.onData(chunk));
    return lane;
  }

  send(message: Buffer, answered: () => void): void {
    this.waiting.push(answered);
    this.socket?.write(message);
  }

  close(): void {
    this.socket?.destroy();
  }

  private onData(chunk: Buffer): void {
    const before = this.counter.frames;
    this.counter.push(chunk, refuseOthers);
    const answers = this.counter.frames - before;
    if (answers > 1) this.socket?.cork();
    for (let i = 0; i < answers; i++) this.waiting.shift()?.();
    if (answers > 1) this.socket?.uncork();
  }
}

function refuseOthers(chunk: Buffer, at: number): void {
  if (!isOk(chunk, at)) throw new Error(`refused: ${chunk.toString("latin1", at, at + 80)}`);
}

/** A trader's next orders, each with its own nonce, signed before the clock starts. */
class Orders {
  private at = 0;

  constructor(private readonly messages: readonly Buffer[]) {}

  next(): Buffer {
    const message = this.messages[this.at++];
    if (message === undefined) throw new Error("no order is left");
    return message;
  }
}

class Entry {
  private readonly traders: readonly Trader[];
  private nonce: number;

  constructor(private readonly plan: EntryPlan) {
    this.nonce = plan.firstNonce;
    this.traders = plan.traders.map(({ token, privateKeyPem }) => ({
      token,
      key: createPrivateKey(privateKeyPem),
    }));
  }

  async open(way: EntryWay): Promise<OpenWay> {
    const { port } = this.plan;
    const lanes: Lane[] = [];
    for (let i = 0; i < way.connections; i++) {
      const { token } = this.traderAt(i);
      lanes.push(await (way.isSocket ? SocketLane.open(port, token) : RestLane.open(port)));
    }
    return { ...way, lanes };
  }

  /** By trader, what one turn of a way may send at most. */
  prepare({ isSocket }: EntryWay): readonly Orders[] {
    const { count, price } = this.plan;
    // Some are served faster than others.
    const each = SPARE * Math.ceil(count / this.traders.length);
    const first = this.nonce;
    this.nonce += each;
    return this.traders.map((trader) => {
      const messages = Array.from({ length: each }, (_, i) => {
        const body = orderBody(first + i, price);
        if (!isSocket) return orderRequest(trader, body);
        const sig = signature(trader.key, body);
        return textMessage(JSON.stringify({ op: "order", id: i, body, sig }));
      });
      return new Orders(messages);
    });
  }

  /** Milliseconds for `count` orders. */
  turn({ lanes, underWay }: OpenWay, orders: readonly Orders[]): Promise<number> {
    const { count } = this.plan;
    const startedMs = performance.now();
    let sent = 0;
    let answers = 0;
    return new Promise((resolve) => {
      const sendNext = (lane: Lane, own: Orders): void => {
        if (sent === count) return;
        sent++;
        lane.send(own.next(), () => {
          answers++;
          if (answers === count) resolve(performance.now() - startedMs);
          else sendNext(lane, own);
        });
      };
      for (const [i, lane] of lanes.entries()) {
        for (let j = 0; j < underWay; j++) sendNext(lane, orders[i % orders.length]!);
      }
    });
  }

  async run(onTurn: (done: number) => void): Promise<EntryResult> {
    const ways: OpenWay[] = [];
    for (const way of this.plan.ways) ways.push(await this.open(way));
    const turnsMs = ways.map((): number[] => []);
    for (let i = 0; i < this.plan.turns; i++) {
      // Each way comes first, second and last as often as the others.
      for (let j = 0; j < ways.length; j++) {
        const at = (i + j) % ways.length;
        const orders = this.prepare(ways[at]!);
        turnsMs[at]!.push(await this.turn(ways[at]!, orders));
      }
      onTurn(i + 1);
    }
    for (const { lanes } of ways) for (const lane of lanes) lane.close();
    return { turnsMs };
  }

  private traderAt(place: number): Trader {
    return this.traders[place % this.traders.length]!;
  }
}

process.once("message", async (plan: EntryPlan) => {
  const result = await new Entry(plan).run((done) => process.send?.({ done }));
  process.send?.(result, () => process.disconnect());
});
