/**
 * One trader of the soak: an account, a client address, a connection; one operation in flight. It
 * remembers which orders were acknowledged, and sends an order whose answer was lost again with the
 * same nonce, as a client does that relies on idempotency.
 */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { RawConnection } from "../harness/connection.js";
import type { BenchAccount } from "../harness/http.js";
import { cancelRequest, orderRequest, signatureOf } from "../harness/wire.js";

interface Acknowledged {
  readonly orderId: string;
  readonly nonce: number;
}

type OnDone = (status: number, code: string) => void;

interface Operation {
  readonly request: Buffer;
  /** Of an order. */
  readonly nonce?: number;
}

/** Far below the market: rests until it is canceled. */
const RESTING_PRICE = 40_000;
/** Acknowledgements that are looked for after a restart: the newest, and a sample of the others. */
const NEWEST = 12;
const OLDER = 12;

export class SoakTrader {
  acknowledged = 0;
  /** Newest last. */
  private readonly newest: Acknowledged[] = [];
  private readonly older: Acknowledged[] = [];
  private readonly key: KeyObject;
  private connection: RawConnection | undefined;
  private inFlight: (Operation & { readonly onDone: OnDone }) | undefined;
  private resting: string | undefined;
  private nonce = 1;
  private operations = 0;
  private losses = 0;

  constructor(
    private readonly account: BenchAccount,
    readonly localAddress: string,
  ) {
    this.key = createPrivateKey(account.privateKeyPem);
  }

  get isConnected(): boolean {
    return this.connection !== undefined;
  }

  get token(): string {
    return this.account.token;
  }

  /** What must be found after a restart. */
  get sample(): readonly Acknowledged[] {
    return [...this.older, ...this.newest];
  }

  /** Connections lost since the last call. */
  takeLosses(): number {
    const { losses } = this;
    this.losses = 0;
    return losses;
  }

  /** Connects, and sends again what was not answered. */
  connect(port: number): void {
    this.connection?.close();
    const connection = new RawConnection({ port, localAddress: this.localAddress }, () => {
      if (this.connection !== connection) return;
      this.losses++;
      this.connection = undefined;
    });
    connection.onAnswer = (status, body) => this.onAnswer(status, JSON.parse(body.toString()));
    this.connection = connection;
    if (this.inFlight !== undefined) connection.send(this.inFlight.request);
  }

  /** In rotation: a resting order, its cancel, and two market orders that offset each other. */
  operate(onDone: OnDone): void {
    const turn = this.operations++ % 4;
    const canceled = turn === 1 ? this.resting : undefined;
    if (turn === 1) this.resting = undefined;
    const operation: Operation =
      canceled === undefined ? this.order(turn) : { request: cancelRequest(this.token, canceled) };
    this.inFlight = { ...operation, onDone };
    this.connection?.send(operation.request);
  }

  private order(turn: number): Operation {
    const nonce = this.nonce++;
    const side = turn === 3 ? "short" : "long";
    const type = turn === 0 ? `"limit","price":${RESTING_PRICE}` : '"market"';
    const body = `{"symbol":"BTCUSD","side":"${side}","type":${type},"margin":2,"leverage":5,"nonce":${nonce}}`;
    return { nonce, request: orderRequest(this.token, body, signatureOf(this.key, body)) };
  }

  private onAnswer(status: number, answer: unknown): void {
    const { inFlight } = this;
    if (inFlight === undefined) return;
    this.inFlight = undefined;
    if (status === 200 && inFlight.nonce !== undefined) this.remember(inFlight.nonce, answer);
    inFlight.onDone(status, status === 200 ? "" : String(field(answer, "code")));
  }

  private remember(nonce: number, answer: unknown): void {
    const orderId = field(answer, "orderId");
    if (typeof orderId !== "string") return;
    if (field(answer, "status") === "resting") this.resting = orderId;
    this.acknowledged++;
    this.newest.push({ orderId, nonce });
    const old = this.newest.length > NEWEST ? this.newest.shift() : undefined;
    if (old === undefined) return;
    // Reservoir sampling: each older one is kept with the same probability.
    const place = Math.floor(Math.random() * this.acknowledged);
    if (this.older.length < OLDER) this.older.push(old);
    else if (place < OLDER) this.older[place] = old;
  }
}

export function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
