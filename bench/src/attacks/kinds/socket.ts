/** Frames and messages of a WebSocket: control frames, fragments, garbage, refused operations. */
import { randomBytes } from "node:crypto";
import { frame, message, OPCODE, upgrade } from "../../harness/wire.js";
import { attacksOf, type PrepareAttack } from "../attack.js";
import { flood, openMany, paced, pipeline, repeated, volleys } from "../wire/patterns.js";
import { DEEP_ARRAYS, filled, HUGE_FRACTION, LONG_EXPONENT, manyKeys } from "./json.js";
import { MANY, OrderMaker, WRONG_SIGNATURE, WRONG_TOKEN } from "./shared.js";

/** Sockets that one address may hold. */
export const SOCKETS = 64;
export const ALL = { connections: SOCKETS, socket: {} };
/** Messages a second that all sockets of one address may send. */
export const MESSAGES_PER_SECOND = SOCKETS * 200;
const MESSAGE_BYTES = 65_536;
const CLOSE = frame(OPCODE.close, Buffer.from([0x03, 0xe8]));
const PING = frame(OPCODE.ping, "x".repeat(125));
const UNFINISHED = { isFinal: false };

const send =
  (bytes: Buffer): PrepareAttack =>
  () =>
    flood(bytes, { ...MANY, socket: {} });

const TABLE = `
socket-pings*: Pings without end, each answered by a pong.
socket-pongs: Pongs that nobody asked for.
socket-empty-continuations: A message of empty fragments that never ends: no limit of messages counts it.
socket-unsolicited-continuations*: Continuations of no message: the socket is closed and opened again.
socket-messages-of-one-byte: Messages of one byte: the limit of messages counts them, one refusal each.
socket-garbage: Random bytes after the handshake.
socket-unmasked-frames*: Frames without a mask are malformed: the socket is closed and opened again.
socket-large-messages: Messages of 64 KB of white space: bytes that are read and parsed.
socket-fraction-of-zeros: The number literal of 65,000 zeros as a message.
socket-nested-arrays*: 64 KB of opening brackets as a message.
socket-deep-arrays*: 60 KB of arrays, nested and closed again, on eight sockets.
socket-long-exponents*: An exponent of 60,000 digits in each message, on eight sockets.
socket-auth-again*: The same token in \`auth\`, again and again: each is hashed and looked up.
socket-many-keys: Ten thousand keys in one message.
socket-not-utf8: Text that is not UTF-8 is checked to its end.
socket-unknown-operations*: Unknown operations are answered one by one.
socket-wrong-tokens: Each wrong token in \`auth\` is hashed and looked up.
socket-order-with-fraction: The text of an order inside a message is parsed without a token.
socket-closes*: Close frames in a row, each on a socket that is closing already.
socket-messages-after-close: What arrives after a close frame is still read.
socket-orders-wrong-signature*: Orders with wrong signatures over sockets: checks that fail, at the limit of messages.
socket-subscribes-as-cancels*: Subscriptions whose text mentions a cancel: what is reserved for cancels must not pay for them.
socket-fraction-at-the-limit: Literals of 4,000 zeros on 64 sockets, at the rate of messages that limits allow.
socket-pings-at-the-limit*: The operation \`ping\` on 64 sockets, at the rate that limits allow.
socket-pings-unread: Pings on sockets that never read their pongs.
socket-open-and-drop: Sockets are opened and dropped after the handshake, as fast as possible.
socket-close-unanswered: Sockets that never answer the close hold their place until a timer ends them.
socket-in-one-moment: All sockets of an address send thousands of messages in the same moment.
`;

export const SOCKET_ATTACKS = attacksOf("socket", TABLE, {
  "socket-pings": send(pipeline(PING)),
  "socket-pongs": send(pipeline(frame(OPCODE.pong))),
  "socket-empty-continuations": () =>
    flood(pipeline(frame(OPCODE.continuation, "", UNFINISHED)), {
      ...MANY,
      socket: {},
      opening: frame(OPCODE.text, "", UNFINISHED),
    }),
  "socket-unsolicited-continuations": send(pipeline(frame(OPCODE.continuation, "a"))),
  "socket-messages-of-one-byte": send(pipeline(message("1"))),
  "socket-garbage": send(randomBytes(65_536)),
  "socket-unmasked-frames": send(pipeline(frame(OPCODE.text, "{}", { isMasked: false }))),
  "socket-large-messages": send(message(filled("", " ", "1"))),
  "socket-fraction-of-zeros": send(message(HUGE_FRACTION)),
  "socket-nested-arrays": send(message(filled("", "[", ""))),
  "socket-deep-arrays": () => flood(message(DEEP_ARRAYS), { connections: 8, socket: {} }),
  "socket-long-exponents": () => flood(message(LONG_EXPONENT), { connections: 8, socket: {} }),
  "socket-auth-again": ({ veterans }) => {
    const { token } = veterans[0]!;
    return flood(pipeline(message({ op: "auth", token })), { ...ALL, socket: { token } });
  },
  "socket-many-keys": send(message(manyKeys(MESSAGE_BYTES - 100))),
  "socket-not-utf8": send(frame(OPCODE.text, Buffer.alloc(MESSAGE_BYTES - 100, 0xff))),
  "socket-unknown-operations": send(pipeline(message({ op: "nothing" }))),
  "socket-wrong-tokens": send(pipeline(message({ op: "auth", token: WRONG_TOKEN }))),
  "socket-order-with-fraction": send(
    message({ op: "order", body: HUGE_FRACTION.slice(0, 60_000), sig: WRONG_SIGNATURE }),
  ),
  "socket-closes": send(pipeline(CLOSE)),
  "socket-messages-after-close": send(Buffer.concat([CLOSE, pipeline(message({ op: "ping" }))])),
  "socket-orders-wrong-signature": async (target) => {
    const maker = await OrderMaker.of(target);
    const wrong = maker.message(maker.body(), WRONG_SIGNATURE);
    return flood(pipeline(wrong), { connections: SOCKETS, socket: { token: maker.token } });
  },
  "socket-subscribes-as-cancels": ({ veterans }) => {
    const { token } = veterans[0]!;
    const mention = message({ op: "subscribe", streams: ["orders"], mentions: { op: "cancel" } });
    return flood(pipeline(mention), { connections: SOCKETS, socket: { token } });
  },
  "socket-fraction-at-the-limit": () =>
    paced(message(filled("[1.", "0", "1]", 4_000)), MESSAGES_PER_SECOND, ALL),
  "socket-pings-at-the-limit": () => paced(message({ op: "ping" }), MESSAGES_PER_SECOND, ALL),
  "socket-pings-unread": () => flood(pipeline(PING), { ...ALL, isUnread: true }),
  "socket-open-and-drop": () =>
    openMany(SOCKETS, { onStatus: (line) => line.destroy() }, (line) => line.write(upgrade())),
  "socket-close-unanswered": () =>
    flood(frame(OPCODE.text, Buffer.alloc(70_000, 0x20)), { ...ALL, isHalfOpen: true }),
  "socket-in-one-moment": () => volleys(repeated(message("1"), 9_000), ALL),
});
