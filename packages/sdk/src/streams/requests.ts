/**
 * Operations on the socket that have one answer: a message with an id goes out, and the `ok` or
 * `error` with that id comes back, or the connection ends first.
 */

import { ERROR_TABLE, ErrorBody, isErrorCode, type ServerFrame } from "@perpgate/protocol";
import { ConnectionError, type PerpgateError, TimeoutError } from "../errors.js";
import { hasShape } from "../http/answer-shape.js";
import { refusalOf } from "../http/http-client.js";
import type { SocketLink } from "./socket-link.js";

export type Fields = Readonly<Record<string, unknown>>;

interface Pending {
  resolve(fields: Fields): void;
  reject(error: unknown): void;
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

  /** Opens the connection if need be; the time-out covers that too. */
  request(message: object, { timeoutMs, signal }: RequestOptions): Promise<Fields> {
    const id = this.nextId();
    let sentAt: number | undefined;
    return new Promise<Fields>((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        this.pending.delete(id);
        this.waitingForOpen.delete(waiting);
      };
      const entry: Pending = {
        resolve: (fields) => {
          settle();
          resolve(fields);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      const abort = () => entry.reject(signal?.reason);
      const timer = setTimeout(() => {
        const outcome = sentAt === undefined ? "not_sent" : "unknown";
        entry.reject(new TimeoutError(`no answer within ${timeoutMs} ms`, { outcome }));
        // Otherwise the next try would wait on the same dead connection.
        if (sentAt !== undefined) this.link.suspect(sentAt);
      }, timeoutMs);
      const send = () => {
        this.pending.set(id, entry);
        this.link.send(JSON.stringify({ id, ...message })).then(() => {
          sentAt = performance.now();
        }, entry.reject);
      };
      const waiting: Pending = { resolve: send, reject: entry.reject };
      if (signal?.aborted === true) {
        entry.reject(signal.reason);
        return;
      }
      signal?.addEventListener("abort", abort, { once: true });
      if (this.link.state === "open") send();
      else if (this.link.state === "closed") entry.reject(closedError());
      else {
        this.waitingForOpen.add(waiting);
        this.link.open();
      }
    });
  }

  onOpen(): void {
    for (const { resolve } of [...this.waitingForOpen]) resolve({});
    this.waitingForOpen.clear();
  }

  /** Whether the frame was the answer to something asked here. */
  onAnswer({ t, d }: ServerFrame): boolean {
    const fields = fieldsOf(d);
    const pending = typeof fields.id === "number" ? this.pending.get(fields.id) : undefined;
    if (pending === undefined) return false;
    if (t === "error") pending.reject(socketError(fields));
    else pending.resolve(fields);
    return true;
  }

  onDown(error: ConnectionError): void {
    for (const { reject } of [...this.pending.values()]) reject(error);
  }

  onEnd(error: Error): void {
    for (const { reject } of [...this.pending.values(), ...this.waitingForOpen]) reject(error);
  }
}

export function closedError(): ConnectionError {
  return new ConnectionError("the stream is closed", { outcome: "not_sent" });
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** An `error` frame as the error that REST would have thrown. */
export function socketError(fields: Fields): PerpgateError {
  const body: unknown = fields;
  if (!hasShape(ErrorBody, body)) {
    const message = "the server sent an error without code and message";
    return refusalOf({ code: "unexpected_answer", message, requestId: "" }, 0);
  }
  const { code, message, requestId, field, details } = body;
  const status = isErrorCode(code) ? ERROR_TABLE[code].status : 0;
  return refusalOf(
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
