/** All attacks, and combinations of several from one address. */
import { type Attack, attacksOf, type Prepare } from "./attack.js";
import { CONNECTION_ATTACKS } from "./kinds/connections.js";
import { DEPOSIT_ATTACKS } from "./kinds/deposits.js";
import { HTTP_ATTACKS } from "./kinds/http.js";
import { JSON_ATTACKS } from "./kinds/json.js";
import { ORDER_ATTACKS } from "./kinds/orders.js";
import { READ_ATTACKS } from "./kinds/reads.js";
import { SIGN_IN_ATTACKS } from "./kinds/sign-in.js";
import { SOCKET_ATTACKS } from "./kinds/socket.js";
import { STREAM_ATTACKS } from "./kinds/streams.js";
import { together } from "./wire/patterns.js";

const SINGLE: readonly Attack[] = [
  ...JSON_ATTACKS,
  ...ORDER_ATTACKS,
  ...SIGN_IN_ATTACKS,
  ...READ_ATTACKS,
  ...CONNECTION_ATTACKS,
  ...HTTP_ATTACKS,
  ...SOCKET_ATTACKS,
  ...STREAM_ATTACKS,
  ...DEPOSIT_ATTACKS,
];

function combined(...parts: readonly string[]): Prepare {
  return async (target) => {
    const traffics = [];
    for (const part of parts) traffics.push(await named(SINGLE, part).prepare(target));
    return together(...traffics);
  };
}

const COMBINED = `
everything-without-token: A client without a token does several things concurrently.
everything-signed-in: A trader does everything that limits allow, concurrently.
`;

export const ATTACKS: readonly Attack[] = [
  ...SINGLE,
  ...attacksOf("combined", COMBINED, {
    "everything-without-token": combined(
      ...["json-fraction-of-zeros", "sign-in-many-resources", "metrics-unread"],
      ...["book-full-unread", "http-unknown-paths", "connections-open-and-drop"],
      ...["slow-bodies", "socket-pings"],
    ),
    "everything-signed-in": combined(
      ...["orders-at-the-limit", "orders-wrong-signature", "fills-at-the-limit"],
      ...["rotate-unsigned-paced", "book-full-at-the-limit", "streams-backfill-at-the-limit"],
      ...["streams-subscribe-loop", "cancel-all-flood"],
    ),
  }),
];

export const ATTACK_KINDS: readonly string[] = [...new Set(ATTACKS.map(({ kind }) => kind))];

export function attackNamed(name: string): Attack {
  return named(ATTACKS, name);
}

function named(attacks: readonly Attack[], name: string): Attack {
  const attack = attacks.find((each) => each.name === name);
  if (attack === undefined) throw new Error(`there is no attack ${name}`);
  return attack;
}
