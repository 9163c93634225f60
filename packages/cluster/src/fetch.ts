/** One direct get of many messages, answered by any replica that holds the stream. */

import {
  createInbox,
  type Msg,
  type NatsConnection,
  type Subscription,
} from "@nats-io/transport-node";
import { fetched, type Incoming } from "./incoming.js";

const MAX_MESSAGES = 1000;
const MAX_BYTES = 4 * 1024 * 1024;
/** Without an answer for this long it ends; the replica that had it may be gone. */
const SILENCE_MS = 500;

interface FetchEvents {
  message(message: Incoming): void;
  /** `pending`: how many messages follow, as the replica knows; undefined without an answer. */
  ended(pending: number | undefined): void;
}

export class Fetch {
  private subscription: Subscription | undefined;
  private silentMs = 0;

  constructor(
    private readonly connection: NatsConnection,
    private readonly stream: string,
    private readonly from: number,
    private readonly events: FetchEvents,
  ) {}

  start(): void {
    const inbox = createInbox();
    this.subscription = this.connection.subscribe(inbox, {
      callback: (error, message) => {
        if (error !== null) return;
        this.silentMs = 0;
        const incoming = fetched(message);
        if (incoming === undefined) {
          this.finish(pendingAfter(message));
          return;
        }
        this.events.message(incoming);
      },
    });
    const body = { seq: this.from, batch: MAX_MESSAGES, max_bytes: MAX_BYTES };
    const subject = `$JS.API.DIRECT.GET.${this.stream}`;
    this.connection.publish(subject, JSON.stringify(body), { reply: inbox });
  }

  tick(elapsedMs: number): void {
    this.silentMs += elapsedMs;
    if (this.silentMs >= SILENCE_MS) this.finish(undefined);
  }

  /** Stops without a call of `ended`. */
  end(): void {
    if (this.subscription === undefined) return;
    if (!this.connection.isClosed()) this.subscription.unsubscribe();
    this.subscription = undefined;
  }

  private finish(pending: number | undefined): void {
    if (this.subscription === undefined) return;
    this.end();
    this.events.ended(pending);
  }
}

/** 204: the end of the batch. 404: nothing at or after the sequence. Others: not answered. */
function pendingAfter({ headers }: Msg): number | undefined {
  if (headers?.code === 404) return 0;
  return headers?.code === 204 ? Number(headers.last("Nats-Num-Pending")) : undefined;
}
