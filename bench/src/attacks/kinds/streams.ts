/** Subscriptions: snapshots in a loop, many slow readers, long backfills. */
import { frame, message, OPCODE } from "../../harness/wire.js";
import { attacksOf, type Target } from "../attack.js";
import { flood, paced, pipeline, rotating } from "../wire/patterns.js";
import { ALL, MESSAGES_PER_SECOND, SOCKETS } from "./socket.js";

const SYMBOLS = ["BTCUSD", "ETHUSD", "SOLUSD"];
const RESOLUTIONS = ["1m", "5m", "15m", "1h", "4h", "1d"];
const BOOKS = SYMBOLS.map((symbol) => `book.${symbol}`);
/** Every public stream. */
const PUBLIC = [
  ...BOOKS,
  ...SYMBOLS.flatMap((symbol) => [`trades.${symbol}`, `ticker.${symbol}`]),
  ...SYMBOLS.flatMap((symbol) => RESOLUTIONS.map((each) => `candles.${symbol}.${each}`)),
  "blocks",
];
const PRIVATE = ["preconfirms", "orders", "positions", "deposits"];

const subscribe = (streams: readonly string[], more: object = {}) =>
  message({ op: "subscribe", streams, ...more });
const unsubscribe = (streams: readonly string[]) => message({ op: "unsubscribe", streams });

/** Resumes every private stream of every veteran from the beginning. */
function backfills({ veterans }: Target): () => Buffer {
  return rotating(veterans.map(({ token }) => subscribe(PRIVATE, { since: 0, token })));
}

const TABLE = `
streams-subscribe-loop: Every subscription to a book makes a snapshot; in a loop on 64 sockets.
streams-subscribe-flood*: The same past the limit of messages.
streams-plain-snapshots: Snapshots as plain arrays, encoded for each socket.
streams-unread: 64 sockets subscribe to everything and never read.
streams-unread-pinging: The same, kept alive by pings of their own.
streams-unread-subscribing: The same, with new snapshots requested all the time.
streams-crowd*: 64 sockets read everything that is public: the fan-out must yield to orders.
streams-backfill: Resuming from position 0 reads an account's whole past, again and again.
streams-backfill-at-the-limit*: The same at the rate of messages that limits allow.
streams-backfill-unread: Backfills for sockets that never read.
streams-private-snapshots: Snapshots of orders and deposits for accounts that have a thousand of each.
streams-unknown: 256 unknown streams in one message are refused one by one.
streams-session-option*: Turning cancel-on-disconnect on and off writes a command of the log each time.
`;

export const STREAM_ATTACKS = attacksOf("streams", TABLE, {
  "streams-subscribe-loop": () =>
    paced(Buffer.concat([subscribe(BOOKS), unsubscribe(BOOKS)]), MESSAGES_PER_SECOND / 2, ALL),
  "streams-subscribe-flood": () => flood(pipeline(subscribe(BOOKS), unsubscribe(BOOKS)), ALL),
  "streams-plain-snapshots": () =>
    paced(subscribe(BOOKS, { format: "plain" }), MESSAGES_PER_SECOND, ALL),
  "streams-unread": () =>
    paced(subscribe(PUBLIC), 10, { ...ALL, opening: subscribe(PUBLIC), isUnread: true }),
  "streams-unread-pinging": () =>
    paced(frame(OPCODE.ping), SOCKETS * 2, {
      ...ALL,
      opening: subscribe(PUBLIC, { format: "plain" }),
      isUnread: true,
    }),
  "streams-unread-subscribing": () =>
    flood(pipeline(subscribe(PUBLIC, { format: "plain" })), { ...ALL, isUnread: true }),
  "streams-crowd": () =>
    paced(message({ op: "ping" }), SOCKETS, { ...ALL, opening: subscribe(PUBLIC) }),
  "streams-backfill": (target) => flood(backfills(target), ALL),
  "streams-backfill-at-the-limit": (target) => paced(backfills(target), MESSAGES_PER_SECOND, ALL),
  "streams-backfill-unread": (target) => flood(backfills(target), { ...ALL, isUnread: true }),
  "streams-private-snapshots": ({ veterans }) =>
    flood(rotating(veterans.map(({ token }) => subscribe(["orders", "deposits"], { token }))), ALL),
  "streams-unknown": () => {
    const unknown = Array.from({ length: 256 }, (_, i) => `book.NONE${i}`);
    return flood(pipeline(subscribe(unknown)), ALL);
  },
  "streams-session-option": ({ veterans }) => {
    const { token } = veterans[0]!;
    const flip = [true, false].map((on) => message({ op: "session", cancelOnDisconnect: on }));
    return flood(pipeline(...flip), { connections: 8, socket: { token } });
  },
});
