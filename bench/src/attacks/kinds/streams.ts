/** Subscriptions: snapshots in a loop, crowds of slow readers, long backfills. */
import { attacksOf } from "../attack.js";
import { message } from "../wire/frames.js";
import { flood, inTurn, paced } from "../wire/patterns.js";
import { pipeline } from "../wire/requests.js";

const SOCKETS = 64;
const SYMBOLS = ["BTCUSD", "ETHUSD", "SOLUSD"];
const RESOLUTIONS = ["1m", "5m", "15m", "1h", "4h", "1d"];
const BOOKS = SYMBOLS.map((symbol) => `book.${symbol}`);
/** Every public stream there is. */
const PUBLIC = [
  ...BOOKS,
  ...SYMBOLS.flatMap((symbol) => [`trades.${symbol}`, `ticker.${symbol}`]),
  ...SYMBOLS.flatMap((symbol) =>
    RESOLUTIONS.map((resolution) => `candles.${symbol}.${resolution}`),
  ),
  "blocks",
];
const PRIVATE = ["preconfirms", "orders", "positions", "deposits"];
/** Messages a second that one socket may send. */
const MESSAGES_PER_SECOND = 200;

const subscribe = (streams: readonly string[], more: object = {}) =>
  message({ op: "subscribe", streams, ...more });
const unsubscribe = (streams: readonly string[]) => message({ op: "unsubscribe", streams });

export const STREAM_ATTACKS = attacksOf("streams", [
  {
    name: "streams-subscribe-loop",
    shows: "Every subscription to a book makes a snapshot; in a loop on 64 sockets.",
    prepare: () =>
      paced(
        Buffer.concat([subscribe(BOOKS), unsubscribe(BOOKS)]),
        (SOCKETS * MESSAGES_PER_SECOND) / 2,
        { connections: SOCKETS, socket: {} },
      ),
  },
  {
    name: "streams-subscribe-flood",
    shows: "The same past the limit of messages.",
    trader: "socket",
    prepare: () =>
      flood(pipeline(subscribe(BOOKS), unsubscribe(BOOKS)), { connections: SOCKETS, socket: {} }),
  },
  {
    name: "streams-plain-snapshots",
    shows: "Snapshots as plain arrays, encoded for each socket.",
    prepare: () =>
      paced(subscribe(BOOKS, { format: "plain" }), SOCKETS * MESSAGES_PER_SECOND, {
        connections: SOCKETS,
        socket: {},
      }),
  },
  {
    name: "streams-unread",
    shows: "64 sockets subscribe to everything and never read.",
    prepare: () =>
      paced(subscribe(PUBLIC), 10, {
        connections: SOCKETS,
        socket: {},
        opening: subscribe(PUBLIC),
        isUnread: true,
      }),
  },
  {
    name: "streams-unread-subscribing",
    shows: "The same, with new snapshots asked for all the time.",
    prepare: () =>
      flood(pipeline(subscribe(PUBLIC, { format: "plain" })), {
        connections: SOCKETS,
        socket: {},
        isUnread: true,
      }),
  },
  {
    name: "streams-crowd",
    shows: "64 sockets read everything that is public: the fan-out gives way to orders.",
    trader: "socket",
    prepare: () =>
      paced(message({ op: "ping" }), SOCKETS, {
        connections: SOCKETS,
        socket: {},
        opening: subscribe(PUBLIC),
      }),
  },
  {
    name: "streams-backfill",
    shows: "Resuming from position 0 reads an account's whole past, again and again.",
    prepare: ({ veterans }) => {
      const resumes = veterans.map(({ token }) => subscribe(PRIVATE, { since: 0, token }));
      return flood(inTurn(resumes), { connections: SOCKETS, socket: {} });
    },
  },
  {
    name: "streams-backfill-at-the-limit",
    shows: "The same at the rate of messages that limits allow.",
    trader: "socket",
    prepare: ({ veterans }) => {
      const resumes = veterans.map(({ token }) => subscribe(PRIVATE, { since: 0, token }));
      const rate = SOCKETS * MESSAGES_PER_SECOND;
      return paced(inTurn(resumes), rate, { connections: SOCKETS, socket: {} });
    },
  },
  {
    name: "streams-backfill-unread",
    shows: "Backfills for sockets that never read.",
    prepare: ({ veterans }) => {
      const resumes = veterans.map(({ token }) => subscribe(PRIVATE, { since: 0, token }));
      return flood(inTurn(resumes), { connections: SOCKETS, socket: {}, isUnread: true });
    },
  },
  {
    name: "streams-private-snapshots",
    shows: "Snapshots of orders and deposits for accounts that have a thousand of each.",
    prepare: ({ veterans }) => {
      const asked = veterans.map(({ token }) => subscribe(["orders", "deposits"], { token }));
      return flood(inTurn(asked), { connections: SOCKETS, socket: {} });
    },
  },
  {
    name: "streams-unknown",
    shows: "256 unknown streams in one message are refused one by one.",
    prepare: () => {
      const unknown = Array.from({ length: 256 }, (_, i) => `book.NONE${i}`);
      return flood(pipeline(subscribe(unknown)), { connections: SOCKETS, socket: {} });
    },
  },
  {
    name: "streams-session-option",
    shows: "Turning cancel-on-disconnect on and off writes a command of the log each time.",
    trader: "socket",
    prepare: ({ veterans }) => {
      const { token } = veterans[0]!;
      const flip = [true, false].map((on) => message({ op: "session", cancelOnDisconnect: on }));
      return flood(pipeline(...flip), { connections: 8, socket: { token } });
    },
  },
]);
