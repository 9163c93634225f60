/**
 * A push consumer of the stream: kept in memory by one server, without acknowledgements and without
 * flow control. It is used near the end of the stream only; far behind, the reader fetches.
 */

import {
  createInbox,
  type Msg,
  type NatsConnection,
  type Subscription,
} from "@nats-io/transport-node";
import { type Incoming, pushed } from "./incoming.js";
import { jetStreamRequest } from "./jetstream-api.js";

/** The least that a server accepts. It sends one when it had nothing else to send for this long. */
const HEARTBEAT_MS = 100;
/** Removed by its server when nobody has listened for this long. */
const UNUSED_MS = 5000;
const CREATE_MS = 1000;
const NANOSECONDS = 1e6;

export interface ConsumerEvents {
  message(message: Incoming): void;
  /** A heartbeat: the server has pushed everything up to this stream sequence. */
  heartbeat(pushedSeq: number): void;
}

export class Consumer {
  private constructor(
    readonly name: string,
    private readonly connection: NatsConnection,
    private readonly stream: string,
    private readonly subscription: Subscription,
  ) {}

  /** Creates a consumer that pushes from the sequence `from` on. */
  static async create(
    connection: NatsConnection,
    stream: string,
    from: number,
    events: ConsumerEvents,
  ): Promise<Consumer> {
    const inbox = createInbox();
    const name = `reader-${inbox.slice(inbox.lastIndexOf(".") + 1)}`;
    const subscription = connection.subscribe(inbox, {
      callback: (error, message) => {
        if (error === null) dispatch(message, events);
      },
    });
    const config = {
      name,
      deliver_subject: inbox,
      deliver_policy: "by_start_sequence",
      opt_start_seq: from,
      ack_policy: "none",
      max_deliver: 1,
      idle_heartbeat: HEARTBEAT_MS * NANOSECONDS,
      inactive_threshold: UNUSED_MS * NANOSECONDS,
      mem_storage: true,
      num_replicas: 1,
    };
    const body = { stream_name: stream, config, action: "create" };
    try {
      await jetStreamRequest(connection, `CONSUMER.CREATE.${stream}.${name}`, body, CREATE_MS);
    } catch (error) {
      subscription.unsubscribe();
      throw error;
    }
    return new Consumer(name, connection, stream, subscription);
  }

  /** Stops listening; the server removes the consumer when this does not reach it. */
  remove(): void {
    if (this.connection.isClosed()) return;
    this.subscription.unsubscribe();
    this.connection.publish(`$JS.API.CONSUMER.DELETE.${this.stream}.${this.name}`);
  }
}

function dispatch(message: Msg, events: ConsumerEvents): void {
  const incoming = pushed(message);
  if (incoming !== undefined) events.message(incoming);
  else if (message.headers?.code === 100) {
    events.heartbeat(Number(message.headers.last("Nats-Last-Stream")));
  }
}
