/**
 * One trader of the soak: its own account, client address, connection and nonces; one operation in
 * flight. It remembers which orders were acknowledged, and sends an order whose answer was lost again
 * with the same nonce, as a client that trusts the venue's promise does.
 */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { Connection } from "../orders/connection.js";
import type { SignedIn } from "../orders/sign-in.js";
import { orderRequest } from "../orders/wire.js";

export interface Acknowledged {
  readonly orderId: string;
  readonly nonce: number;
}

export type OnDone = (status: number, code: string) => void;

interface InFlight {
  readonly request: Buffer;
  readonly nonce: number | undefined;
  readonly onDone: OnDone;
}

/** Far below the market: rests until it is canceled. */
const RESTING_PRICE = 40_000;
/** Acknowledgements that are looked for after a restart: the newest, and some of all the others. */
const NEWEST = 12;
const OLDER = 12;

export class SoakTrader {
  /** Newest last. */
  private newest: Acknowledged[] = [];
  private readonly older: Acknowledged[] = [];
  private acknowledged = 0;
  private readonly key: KeyObject;
  private connection: Connection | undefined;
  private inFlight: InFlight | undefined;
  private resting: string | undefined;
  private nonce = 1;
  private operations = 0;
  private losses = 0;

  constructor(
    private readonly account: SignedIn,
    private readonly localAddress: string,
  ) {
    this.key = createPrivateKey(account.privateKeyPem);
  }

  get isConnected(): boolean {
    return this.connection !== undefined;
  }

  get token(): string {
    return this.account.token;
  }

  get orders(): number {
    return this.acknowledged;
  }

  /** Connections lost since the last call. */
  takeLosses(): number {
    const { losses } = this;
    this.losses = 0;
    return losses;
  }

  /** What must be found after a restart. */
  get sample(): readonly Acknowledged[] {
    return [...this.older, ...this.newest];
  }

  /** Connects, and sends again what was not answered. */
  connect(port: number): void {
    this.connection?.close();
    const connection = Connection.connecting(
      port,
      () => this.onLost(connection),
      this.localAddress,
    );
    this.connection = connection;
    if (this.inFlight !== undefined) this.send(connection, this.inFlight);
  }

  /** In turn: a resting order, its cancel, and two market orders that cancel each other out. */
  operate(onDone: OnDone): void {
    const turn = this.operations++ % 4;
    const canceled = turn === 1 ? this.resting : undefined;
    this.resting = turn === 1 ? undefined : this.resting;
    const operation =
      canceled === undefined
        ? this.order(turn)
        : { request: this.cancel(canceled), nonce: undefined };
    this.inFlight = { ...operation, onDone };
    if (this.connection !== undefined) this.send(this.connection, this.inFlight);
  }

  close(): void {
    this.connection?.close();
    this.connection = undefined;
  }

  private order(turn: number): { readonly request: Buffer; readonly nonce: number } {
    const nonce = this.nonce++;
    const side = turn === 3 ? "short" : "long";
    const type = turn === 0 ? `"limit","price":${RESTING_PRICE}` : '"market"';
    const body = `{"symbol":"BTCUSD","side":"${side}","type":${type},"margin":2,"leverage":5,"nonce":${nonce}}`;
    return { nonce, request: orderRequest({ token: this.token, key: this.key }, body) };
  }

  private cancel(orderId: string): Buffer {
    return Buffer.from(
      `POST /v1/orders/${orderId}/cancel HTTP/1.1\r\nhost: 127.0.0.1\r\n` +
        `authorization: Bearer ${this.token}\r\ncontent-length: 0\r\n\r\n`,
    );
  }

  private send(connection: Connection, operation: InFlight): void {
    connection.send(operation.request, (status, body) => {
      if (this.inFlight !== operation) return;
      this.inFlight = undefined;
      const answer: unknown = JSON.parse(body.toString());
      if (status === 200) this.remember(operation.nonce, answer);
      operation.onDone(status, status === 200 ? "" : String(field(answer, "code")));
    });
  }

  private remember(nonce: number | undefined, answer: unknown): void {
    const orderId = field(answer, "orderId");
    if (nonce === undefined || typeof orderId !== "string") return;
    if (field(answer, "status") === "resting") this.resting = orderId;
    this.acknowledged++;
    this.newest.push({ orderId, nonce });
    const old = this.newest.length > NEWEST ? this.newest.shift() : undefined;
    if (old === undefined) return;
    // Each of all older ones is kept with the same chance.
    const place = Math.floor(Math.random() * this.acknowledged);
    if (this.older.length < OLDER) this.older.push(old);
    else if (place < OLDER) this.older[place] = old;
  }

  private onLost(connection: Connection): void {
    if (this.connection !== connection) return;
    this.losses++;
    connection.close();
    this.connection = undefined;
  }
}

export function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
