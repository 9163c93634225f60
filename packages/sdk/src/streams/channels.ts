/**
 * Keeps streams subscribed, on every new connection and after a restart.
 *
 * Frames of a stream are passed on only after its latest subscription is confirmed, so frames of an
 * earlier subscription are dropped. A subscription that fails with a retryable error is tried again;
 * any other error ends the channel.
 */

import type { ServerFrame } from "@perpgate/protocol";
import { messageOf, socketSubscribe, socketUnsubscribe } from "@perpgate/protocol/operations";
import { backoffMs, isRetryable, RESUBSCRIBE_BACKOFF } from "../retry.js";
import { closedError, copiedFields, type SocketRequests, socketError } from "./requests.js";
import type { SocketLink } from "./socket-link.js";

export interface Channel {
  /** Its name, such as `book.BTCUSD`. */
  readonly stream: string;
  /** The seq to resume after; undefined starts with a snapshot. */
  since(): number | undefined;
  /** The subscription is confirmed; `isResumed` if `since` was sent. */
  onBegin(seq: number, isResumed: boolean): void;
  onPayload(payload: unknown): void;
  /** The channel is over. */
  onRefused(error: Error): void;
  /** The connection was lost and will be opened again. */
  onDown(): void;
}

interface Entry {
  readonly channel: Channel;
  /** The id of the unconfirmed subscription; 0 before it is sent. */
  awaiting: number | undefined;
  isResumed: boolean;
  failures: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const CONFIRM_WITHIN_MS = 10_000;
const MAX_STREAMS_PER_MESSAGE = 64;

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
    const message = messageOf(socketUnsubscribe, { streams: [channel.stream] });
    this.link
      .send(JSON.stringify({ id: this.requests.nextId(), ...message }))
      .catch(() => undefined);
  }

  /** Subscribes again, for a new snapshot. */
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

  /** The `ok` or `error` of a subscription. */
  onAnswer({ t, d }: ServerFrame): void {
    const fields = copiedFields(d);
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
    entry.awaiting = 0;
    if (this.unsent.size === 0) queueMicrotask(() => this.flush());
    this.unsent.add(entry);
  }

  /** Sends the subscriptions of one turn of the event loop in as few messages as possible. */
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
    const resumed = since === undefined ? { streams } : { streams, since };
    // If the connection is lost first, `onOpen` of the next one subscribes again.
    this.link
      .send(JSON.stringify({ id, ...messageOf(socketSubscribe, resumed) }))
      .catch(() => undefined);
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

  /** An error with `stream` refuses that stream, one without refuses all streams of the message. */
  private refuse(fields: Readonly<Record<string, unknown>>): void {
    const error = socketError(fields);
    for (const entry of [...this.entries.values()]) {
      if (entry.awaiting === undefined || entry.awaiting !== fields.id) continue;
      if (fields.stream !== undefined && fields.stream !== entry.channel.stream) continue;
      clearTimeout(entry.timer);
      if (isRetryable(error)) {
        const waitMs = backoffMs(entry.failures++, RESUBSCRIBE_BACKOFF);
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
