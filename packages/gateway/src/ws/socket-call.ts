/**
 * One message of a client under way, from the moment it was read to its answer.
 *
 * It is all that an operation sees of the message's surroundings, and at once the client whose
 * request the operation's REST twin believes to answer: an order over the socket costs this one
 * object. Names and texts that only a refusal shows are made when one is.
 */

import { ApiError } from "@perpgate/protocol";
import { roundedMs } from "../http/client.js";
import type { TimedClient } from "../http/operation.js";
import type { OverBudget } from "../limits/charge-operation.js";
import { COST } from "../limits/costs.js";
import { CLOSE } from "./close-codes.js";
import type { Connection } from "./connection.js";

export type MessageId = string | number;
export type FaultSink = (error: unknown, requestId: string) => void;

export class SocketCall implements TimedClient {
  /** What an answer repeats of the message, as far as it could be read. */
  id: MessageId | undefined;
  op: string | undefined;
  account: number | undefined;
  overBudget: OverBudget | undefined;
  /** Whether the answer is one that was given before. */
  isReplay = false;
  private whenAnswered: (() => void)[] | undefined;

  constructor(
    readonly connection: Connection,
    /** The message's place among those of its connection, from 1. */
    private readonly number: number,
    /** Monotonic milliseconds at which the message was read. */
    private readonly receivedAt: number,
    private readonly onFault: FaultSink,
  ) {}

  /** Names the message in logs and in refusals. */
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

  /** Of the headers that the answer would have carried, one has a place in a frame. */
  readonly header = (name: string, value: string): void => {
    if (name === "idempotent-replay") this.isReplay = value === "true";
  };

  elapsedMs(): number {
    return roundedMs(performance.now() - this.receivedAt);
  }

  ok(fields: object): void {
    this.connection.answer({ t: "ok", d: this.echoing(fields) });
  }

  /** An `error` frame, with the stream that it is about where a message names several. */
  refuse(error: unknown, about?: { readonly stream: string }): void {
    if (!(error instanceof ApiError)) this.onFault(error, this.requestId);
    this.connection.charge(COST.errorFrame);
    const refusal = error instanceof ApiError ? error : new ApiError("internal_error", {});
    const body = refusal.toBody(this.requestId);
    const d = this.echoing(about === undefined ? body : { ...about, ...body });
    this.connection.answer({ t: "error", d });
  }

  /** Something failed after the answer had promised it: the client has to start again. */
  fail(error: unknown): void {
    this.onFault(error, this.requestId);
    this.connection.close(CLOSE.internalError);
  }

  /** The answer comes later: `ok` with what `fieldsOf` makes of the value, or a refusal. */
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

  /** Resolves once an answer that comes later has come, whether or not anyone hears it. */
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
