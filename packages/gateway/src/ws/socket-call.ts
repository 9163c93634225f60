/**
 * One message of a client, from its arrival to its answer.
 *
 * It is also the `TimedClient` that the REST operation of the same meaning takes, so that an order over
 * the socket allocates one object. `requestId` is built only when an error shows it.
 */

import { ApiError } from "@perpgate/protocol/core";
import { roundedMs } from "../http/client.js";
import type { OverBudget, Payer } from "../limits/charge-operation.js";
import { COST } from "../limits/costs.js";
import type { RefusalCounts } from "../metrics/refusal-counts.js";
import type { TimesByStatus } from "../metrics/time-table.js";
import type { TimedClient } from "../operations/handler.js";
import { CLOSE } from "./close-codes.js";
import type { ClientSocket } from "./connection.js";

const OK = 200;

export type SocketMessageId = string | number;
export type FaultSink = (error: unknown, requestId: string) => void;

export class SocketCall implements TimedClient {
  /** Copied into the answer; undefined if the message has none or was not parsed. */
  id: SocketMessageId | undefined;
  op: string | undefined;
  account: number | undefined;
  overBudget: OverBudget | undefined;
  asExit: Payer["asExit"];
  /** Whether the acknowledgement is that of an earlier order with the same nonce. */
  isReplay = false;
  /** Where its time is counted: those of its operation, once that is known. */
  times: TimesByStatus;
  private isTimed = false;
  private whenAnswered: (() => void)[] | undefined;

  constructor(
    readonly connection: ClientSocket,
    /** Of the message within its connection, from 1. */
    private readonly number: number,
    /** Monotonic milliseconds at which the message was read. */
    private readonly receivedAt: number,
    private readonly onFault: FaultSink,
    private readonly refusals: RefusalCounts,
  ) {
    this.times = connection.counts.unknown;
  }

  get requestId(): string {
    return `${this.connection.id}-${this.number}`;
  }

  get address(): string {
    return this.connection.address;
  }

  get key(): string {
    return this.connection.address;
  }

  get isForwarded(): boolean {
    return false;
  }

  /** A frame has a field for one of the headers of the REST answer. */
  readonly header = (name: string, value: string): void => {
    if (name === "idempotent-replay") this.isReplay = value === "true";
  };

  elapsedMs(): number {
    return roundedMs(performance.now() - this.receivedAt);
  }

  ok(fields: object): void {
    this.noteAnswer(OK);
    this.connection.answer({ t: "ok", d: this.echoing(fields) });
  }

  /** Sends an `error` frame; `about` names the stream if the message names several. */
  refuse(error: unknown, about?: { readonly stream: string }): void {
    if (!(error instanceof ApiError)) this.onFault(error, this.requestId);
    this.connection.charge(COST.errorFrame);
    const refusal = error instanceof ApiError ? error : new ApiError("internal_error", {});
    this.refusals.onSocket(refusal);
    this.noteAnswer(refusal.status);
    const body = refusal.toBody(this.requestId);
    const d = this.echoing(about === undefined ? body : { ...about, ...body });
    this.connection.answer({ t: "error", d });
  }

  /** The status that the REST answer would have. A message of several answers counts by its first. */
  noteAnswer(status: number): void {
    if (this.isTimed) return;
    this.isTimed = true;
    this.times.observe(status, performance.now() - this.receivedAt);
  }

  /** Closes the socket: an operation failed after its `ok` was sent. */
  fail(error: unknown): void {
    this.onFault(error, this.requestId);
    this.connection.close(CLOSE.internalError);
  }

  /** Sends `ok` with `fieldsOf(value)` when the promise resolves, `error` when it rejects. */
  answerWith<T>(value: Promise<T>, fieldsOf: (value: T, call: this) => object): void {
    this.connection.begin(this);
    value.then(
      (settled) => {
        try {
          this.ok(fieldsOf(settled, this));
        } catch (error) {
          this.refuse(error);
        }
        this.end();
      },
      (error: unknown) => {
        this.refuse(error);
        this.end();
      },
    );
  }

  /** Resolves once the call is answered, even if the socket is closed by then. */
  answered(): Promise<void> {
    return new Promise((resolve) => {
      this.whenAnswered ??= [];
      this.whenAnswered.push(resolve);
    });
  }

  private end(): void {
    this.connection.end(this);
    if (this.whenAnswered === undefined) return;
    for (const resolve of this.whenAnswered) resolve();
  }

  private echoing(fields: object): object {
    const { id, op } = this;
    if (id === undefined) return op === undefined ? fields : { op, ...fields };
    return op === undefined ? { id, ...fields } : { id, op, ...fields };
  }
}
