/**
 * Requests over the socket: a message with an id is sent, and settles with the `ok` or `error` of that
 * id, or when the connection is lost.
 */

import { ERROR_TABLE, ErrorBody, isErrorCode, type ServerFrame } from "@perpgate/protocol";
import { ConnectionError, PerpgateError, TimeoutError } from "../errors.js";
import { hasShape } from "../http/answer-shape.js";
import { refusedError, unexpectedAnswer } from "../http/failures.js";
import { startTimer } from "../retry.js";
import type { RequestsInFlight, SocketLink } from "./socket-link.js";

export type Fields = Readonly<Record<string, unknown>>;

/** A request in flight. Each failure is a new error object: the retry loop writes to it. */
interface Pending {
  /** The connection is open. */
  send(): void;
  answer(fields: Fields): void;
  refuse(error: Error): void;
  /** The connection was lost; `isFinal` if it will not be opened again. */
  lose(reason: Error, isFinal: boolean): void;
  /** Set once the link has left the connection that the request was sent on. */
  onSettled?: () => void;
}

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export class SocketRequests {
  private readonly pending = new Map<number, Pending>();
  private readonly waitingForOpen = new Set<Pending>();
  private ids = 0;

  constructor(private readonly link: SocketLink) {}

  nextId(): number {
    this.ids++;
    return this.ids;
  }

  /** Opens the connection if necessary; the time-out includes that. */
  request(message: object, options: RequestOptions): Promise<Fields> {
    return new Promise<Fields>((resolve, reject) => {
      const pending = this.begin(message, options, resolve, reject);
      if (options.signal?.aborted === true) pending.refuse(options.signal.reason);
      else if (this.link.state === "open") pending.send();
      else if (this.link.state === "closed") pending.refuse(closedError());
      else {
        this.waitingForOpen.add(pending);
        this.link.open();
      }
    });
  }

  private begin(
    message: object,
    { timeoutMs, signal }: RequestOptions,
    resolve: (fields: Fields) => void,
    reject: (error: unknown) => void,
  ): Pending {
    const id = this.nextId();
    let sentAt: number | undefined;
    let gateway: string | undefined;
    // Removes the message from the send queue when the request settles first.
    const dequeue = new AbortController();
    const outcome = () => (sentAt === undefined ? "not_sent" : "unknown");
    const fail = (error: unknown) => {
      settle();
      if (error instanceof PerpgateError || error instanceof ConnectionError) {
        error.gateway = gateway;
      }
      reject(error);
    };
    const pending: Pending = {
      send: () => {
        this.pending.set(id, pending);
        gateway = this.link.gatewayOfSeveral;
        this.link.send(JSON.stringify({ id, ...message }), dequeue.signal).then(() => {
          sentAt = performance.now();
        }, fail);
      },
      answer: (fields) => {
        settle();
        resolve(fields);
      },
      refuse: fail,
      lose: (cause, isFinal) =>
        fail(new ConnectionError(cause.message, { cause, outcome: outcome(), isFinal })),
    };
    const abort = () => fail(signal?.reason);
    const timer = startTimer(timeoutMs, () => {
      fail(new TimeoutError(`no response within ${timeoutMs} ms`, { outcome: outcome() }));
      // Otherwise the next try would use the same dead connection.
      if (sentAt !== undefined) this.link.dropIfSilent(sentAt);
    });
    const settle = () => {
      dequeue.abort();
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      this.pending.delete(id);
      this.waitingForOpen.delete(pending);
      pending.onSettled?.();
    };
    signal?.addEventListener("abort", abort, { once: true });
    return pending;
  }

  onOpen(): void {
    const waiting = [...this.waitingForOpen];
    this.waitingForOpen.clear();
    for (const pending of waiting) pending.send();
  }

  /** Whether the frame belongs to a request of this class. */
  onAnswer({ t, d }: ServerFrame): boolean {
    const fields = copiedFields(d);
    const pending = typeof fields.id === "number" ? this.pending.get(fields.id) : undefined;
    if (pending === undefined) return false;
    if (t === "error") pending.refuse(socketError(fields));
    else pending.answer(fields);
    return true;
  }

  /** The requests that are to be answered on the connection that is left, not on one left before. */
  onMove(): RequestsInFlight {
    const left = [...this.pending.values()].filter(({ onSettled }) => onSettled === undefined);
    const settled = left.map(
      (pending) =>
        new Promise<void>((resolve) => {
          pending.onSettled = resolve;
        }),
    );
    return {
      settled: Promise.all(settled),
      lose: (error) => {
        for (const pending of left) pending.lose(error, false);
      },
    };
  }

  onDown(error: ConnectionError): void {
    for (const pending of [...this.pending.values()]) pending.lose(error, false);
  }

  onEnd(error: Error): void {
    for (const pending of [...this.pending.values(), ...this.waitingForOpen]) {
      pending.lose(error, true);
    }
  }
}

export function closedError(): ConnectionError {
  return new ConnectionError("the stream is closed", { outcome: "not_sent", isFinal: true });
}

export function copiedFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** The error of an `error` frame, as REST throws it. */
export function socketError(fields: Fields): PerpgateError {
  const body: unknown = fields;
  if (!hasShape(ErrorBody, body)) {
    return unexpectedAnswer("the server sent an error without code and message");
  }
  const { code, message, requestId, field, details } = body;
  const status = isErrorCode(code) ? ERROR_TABLE[code].status : 0;
  return refusedError(
    {
      code,
      message,
      requestId,
      ...(field === undefined ? {} : { field }),
      ...(details === undefined ? {} : { details }),
    },
    status,
  );
}
