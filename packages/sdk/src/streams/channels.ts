/**
 * The streams that are wanted, kept subscribed: on every new connection, and again when asked.
 *
 * Frames of a stream are passed on only once its latest subscription has been confirmed, so what was
 * still on the way of an earlier one is never taken for the new. A refusal that says "later" is
 * tried again; any other ends the channel.
 */

import type { ServerFrame } from "@perpgate/protocol";
import { backoffMs } from "../http/backoff.js";
import { isRetryable } from "../http/retry.js";
import { closedError, fieldsOf, type SocketRequests, socketError } from "./requests.js";
import type { SocketLink } from "./socket-link.js";

export interface Channel {
  /** Its name, such as `book.BTCUSD`. */
  readonly stream: string;
  /** The position to go on from; undefined begins anew. */
  since(): number | undefined;
  /** Confirmed; `isResumed` if a position was given. */
  onBegin(seq: number, isResumed: boolean): void;
  onPayload(payload: unknown): void;
  /** It will not be subscribed again. */
  onRefused(error: Error): void;
  /** The connection is gone for now. */
  onDown(): void;
}

interface Entry {
  readonly channel: Channel;
  /** The id of the subscription that is not confirmed yet. */
  awaiting: number | undefined;
  isResumed: boolean;
  failures: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const CONFIRM_WITHIN_MS = 10_000;
const MAX_STREAMS_PER_MESSAGE = 64;
const RETRY = { firstMs: 500, longestMs: 15_000 };

export class Channels {
  private readonly entries = new Map<string, Entry>();
  private readonly unsent = new Set<Entry>();

  constructor(
    private readonly link: SocketLink,
    private readonly requests: SocketRequests,
  ) {}

  add(channel: Channel): void {
    const entry: Entry = {
      channel,
      awaiting: undefined,
      isResumed: false,
      failures: 0,
      timer: undefined,
    };
    if (this.link.state === "closed") {
      queueMicrotask(() => channel.onRefused(closedError()));
      return;
    }
    this.entries.set(channel.stream, entry);
    this.link.open();
    this.subscribe(entry);
  }

  remove(channel: Channel): void {
    const entry = this.entries.get(channel.stream);
    if (entry?.channel !== channel) return;
    this.forget(entry);
    if (this.link.state !== "open") return;
    const message = { op: "unsubscribe", id: this.requests.nextId(), streams: [channel.stream] };
    this.link.send(JSON.stringify(message)).catch(() => undefined);
  }

  /** Asks for the stream anew. */
  restart(channel: Channel): void {
    const entry = this.entries.get(channel.stream);
    if (entry?.channel === channel) this.subscribe(entry);
  }

  onOpen(): void {
    for (const entry of this.entries.values()) this.subscribe(entry);
  }

  onFrame({ t, s, d }: ServerFrame): void {
    const entry = this.entries.get(s === undefined ? t : `${t}.${s}`);
    if (entry === undefined || entry.awaiting !== undefined) return;
    entry.channel.onPayload(d);
  }

  /** An `ok` or `error` that answers a subscription. */
  onAnswer({ t, d }: ServerFrame): void {
    const fields = fieldsOf(d);
    if (t === "ok") this.confirm(fields);
    else if (t === "error") this.refuse(fields);
  }

  onDown(): void {
    this.unsent.clear();
    for (const entry of this.entries.values()) {
      clearTimeout(entry.timer);
      entry.awaiting = undefined;
      entry.channel.onDown();
    }
  }

  onEnd(error: Error): void {
    for (const entry of [...this.entries.values()]) {
      this.forget(entry);
      entry.channel.onRefused(error);
    }
  }

  private subscribe(entry: Entry): void {
    if (this.link.state !== "open") return;
    clearTimeout(entry.timer);
    // Until it is confirmed, nothing that comes is meant for it.
    entry.awaiting = 0;
    if (this.unsent.size === 0) queueMicrotask(() => this.flush());
    this.unsent.add(entry);
  }

  /** What was asked for in one go is sent in as few messages as possible. */
  private flush(): void {
    const groups = new Map<number | undefined, Entry[]>();
    for (const entry of this.unsent) {
      const since = entry.channel.since();
      const group = groups.get(since);
      if (group === undefined) groups.set(since, [entry]);
      else group.push(entry);
    }
    this.unsent.clear();
    for (const [since, entries] of groups) {
      for (let from = 0; from < entries.length; from += MAX_STREAMS_PER_MESSAGE) {
        this.send(since, entries.slice(from, from + MAX_STREAMS_PER_MESSAGE));
      }
    }
  }

  private send(since: number | undefined, entries: readonly Entry[]): void {
    const id = this.requests.nextId();
    for (const entry of entries) {
      entry.awaiting = id;
      entry.isResumed = since !== undefined;
      entry.timer = setTimeout(
        () => this.link.reconnect("a subscription was not confirmed in time"),
        CONFIRM_WITHIN_MS,
      );
    }
    const streams = entries.map(({ channel }) => channel.stream);
    const message = { op: "subscribe", id, streams, ...(since === undefined ? {} : { since }) };
    // If the connection goes first, all begins anew on the next one.
    this.link.send(JSON.stringify(message)).catch(() => undefined);
  }

  private confirm({ id, streams, seq }: Readonly<Record<string, unknown>>): void {
    if (!Array.isArray(streams) || typeof seq !== "number") return;
    for (const stream of streams) {
      const entry = this.entries.get(String(stream));
      if (entry === undefined || entry.awaiting !== id) continue;
      clearTimeout(entry.timer);
      entry.awaiting = undefined;
      entry.failures = 0;
      entry.channel.onBegin(seq, entry.isResumed);
    }
  }

  /** Refused by name, or, if the message itself was wrong, all that it asked for. */
  private refuse(fields: Readonly<Record<string, unknown>>): void {
    const error = socketError(fields);
    for (const entry of [...this.entries.values()]) {
      if (entry.awaiting === undefined || entry.awaiting !== fields.id) continue;
      if (fields.stream !== undefined && fields.stream !== entry.channel.stream) continue;
      clearTimeout(entry.timer);
      if (isRetryable(error)) {
        const waitMs = backoffMs(entry.failures++, RETRY);
        entry.timer = setTimeout(() => this.subscribe(entry), waitMs);
      } else {
        this.forget(entry);
        entry.channel.onRefused(error);
      }
    }
  }

  private forget(entry: Entry): void {
    clearTimeout(entry.timer);
    this.unsent.delete(entry);
    if (this.entries.get(entry.channel.stream) === entry) {
      this.entries.delete(entry.channel.stream);
    }
  }
}
