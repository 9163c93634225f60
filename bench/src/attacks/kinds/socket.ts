/** Frames and messages of a WebSocket: control frames, fragments, garbage, refused operations. */
import { randomBytes } from "node:crypto";
import { type AttackEntry, attacksOf } from "../attack.js";
import { frame, message, OPCODE, upgrade } from "../wire/frames.js";
import { flood, openMany, paced } from "../wire/patterns.js";
import { pipeline } from "../wire/requests.js";
import { attackerAccount, OrderMaker, WRONG_SIGNATURE, WRONG_TOKEN } from "./accounts.js";
import { filled, HUGE_FRACTION, manyKeys } from "./json.js";

/** Sockets that one address may hold. */
const SOCKETS = 64;
const SOME = { connections: 16, socket: {} };
/** Messages a second that all sockets of one address may send. */
const MESSAGES_PER_SECOND = SOCKETS * 200;
const MESSAGE_BYTES = 65_536;

interface Flood {
  readonly name: string;
  readonly shows: string;
  readonly bytes: Buffer;
}

const FLOODS: readonly Flood[] = [
  {
    name: "pings",
    shows: "Pings without end, each answered by a pong.",
    bytes: pipeline(frame(OPCODE.ping, "x".repeat(125))),
  },
  {
    name: "pongs",
    shows: "Pongs that nobody asked for.",
    bytes: pipeline(frame(OPCODE.pong)),
  },
  {
    name: "empty-continuations",
    shows: "A message of empty fragments that never ends: no limit of messages counts it.",
    bytes: Buffer.concat([
      frame(OPCODE.text, "", { isFinal: false }),
      pipeline(frame(OPCODE.continuation, "", { isFinal: false })),
    ]),
  },
  {
    name: "unsolicited-continuations",
    shows: "Continuations of no message: the socket is closed and opened again.",
    bytes: pipeline(frame(OPCODE.continuation, "a")),
  },
  {
    name: "messages-of-one-byte",
    shows: "Messages of one byte: the limit of messages counts them, one refusal each.",
    bytes: pipeline(message("1")),
  },
  {
    name: "garbage",
    shows: "Random bytes after the handshake.",
    bytes: randomBytes(65_536),
  },
  {
    name: "unmasked-frames",
    shows: "Frames without a mask are malformed: the socket is closed and opened again.",
    bytes: pipeline(frame(OPCODE.text, "{}", { isMasked: false })),
  },
  {
    name: "large-messages",
    shows: "Messages of 64 KB of white space: bytes that are read and parsed.",
    bytes: message(filled("", " ", "1")),
  },
  {
    name: "fraction-of-zeros",
    shows: "The number literal of 65,000 zeros as a message.",
    bytes: message(HUGE_FRACTION),
  },
  {
    name: "nested-arrays",
    shows: "64 KB of opening brackets as a message.",
    bytes: message(filled("", "[", "")),
  },
  {
    name: "many-keys",
    shows: "Ten thousand keys in one message.",
    bytes: message(manyKeys(MESSAGE_BYTES - 100)),
  },
  {
    name: "not-utf8",
    shows: "Text that is not UTF-8 is checked to its end.",
    bytes: frame(OPCODE.text, Buffer.alloc(MESSAGE_BYTES - 100, 0xff)),
  },
  {
    name: "unknown-operations",
    shows: "Unknown operations are answered one by one.",
    bytes: pipeline(message({ op: "nothing" })),
  },
  {
    name: "wrong-tokens",
    shows: "Each wrong token in `auth` is hashed and looked up.",
    bytes: pipeline(message({ op: "auth", token: WRONG_TOKEN })),
  },
  {
    name: "order-with-fraction",
    shows: "The text of an order inside a message is parsed without a token.",
    bytes: message({ op: "order", body: HUGE_FRACTION.slice(0, 60_000), sig: WRONG_SIGNATURE }),
  },
  {
    name: "closes",
    shows: "Close frames in a row, each on a socket that is closing already.",
    bytes: pipeline(frame(OPCODE.close, Buffer.from([0x03, 0xe8]))),
  },
  {
    name: "messages-after-close",
    shows: "What arrives after a close frame is still read.",
    bytes: Buffer.concat([
      frame(OPCODE.close, Buffer.from([0x03, 0xe8])),
      pipeline(message({ op: "ping" })),
    ]),
  },
];

const floods: readonly AttackEntry[] = FLOODS.map(({ name, shows, bytes }, i) => ({
  name: `socket-${name}`,
  shows,
  trader: i % 3 === 0 ? "socket" : "rest",
  prepare: () => flood(bytes, SOME),
}));

export const SOCKET_ATTACKS = attacksOf("socket", [
  ...floods,
  {
    name: "socket-orders-wrong-signature",
    shows: "Orders with wrong signatures over sockets: checks that fail, at the limit of messages.",
    trader: "socket",
    prepare: async (target) => {
      const account = await attackerAccount(target);
      const orders = new OrderMaker(account);
      const wrong = orders.message(orders.body(), WRONG_SIGNATURE);
      return flood(pipeline(wrong), { connections: SOCKETS, socket: { token: account.token } });
    },
  },
  {
    name: "socket-fraction-at-the-limit",
    shows: "Literals of 4,000 zeros on 64 sockets, at the rate of messages that limits allow.",
    prepare: () => {
      const bytes = message(filled("[1.", "0", "1]", 4_000));
      return paced(bytes, MESSAGES_PER_SECOND, { connections: SOCKETS, socket: {} });
    },
  },
  {
    name: "socket-pings-at-the-limit",
    shows: "The operation `ping` on 64 sockets, at the rate that limits allow.",
    trader: "socket",
    prepare: () =>
      paced(message({ op: "ping" }), MESSAGES_PER_SECOND, { connections: SOCKETS, socket: {} }),
  },
  {
    name: "socket-pings-unread",
    shows: "Pings on sockets that never read their pongs.",
    prepare: () =>
      flood(pipeline(frame(OPCODE.ping, "x".repeat(125))), {
        connections: SOCKETS,
        socket: {},
        isUnread: true,
      }),
  },
  {
    name: "socket-open-and-drop",
    shows: "Sockets are opened and dropped after the handshake, as fast as possible.",
    prepare: () =>
      openMany(SOCKETS, { onStatus: (line) => line.destroy() }, (line) => line.write(upgrade())),
  },
  {
    name: "socket-close-unanswered",
    shows: "Sockets that never answer the close hold their place until a timer ends them.",
    prepare: () =>
      flood(frame(OPCODE.text, Buffer.alloc(70_000, 0x20)), {
        connections: SOCKETS,
        socket: {},
        isHalfOpen: true,
      }),
  },
]);
