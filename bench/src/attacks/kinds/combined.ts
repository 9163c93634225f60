/** Several attacks at once from one address. */
import { type Attack, type AttackEntry, attacksOf } from "../attack.js";
import { together } from "../wire/patterns.js";
import { CONNECTION_ATTACKS } from "./connections.js";
import { DEPOSIT_ATTACKS } from "./deposits.js";
import { HTTP_ATTACKS } from "./http.js";
import { JSON_ATTACKS } from "./json.js";
import { ORDER_ATTACKS } from "./orders.js";
import { READ_ATTACKS } from "./reads.js";
import { SIGN_IN_ATTACKS } from "./sign-in.js";
import { SOCKET_ATTACKS } from "./socket.js";
import { STREAM_ATTACKS } from "./streams.js";

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

function combined(name: string, shows: string, parts: readonly string[]): AttackEntry {
  return {
    name,
    shows,
    prepare: async (target) => {
      const traffics = [];
      for (const part of parts) {
        const attack = SINGLE.find((single) => single.name === part);
        if (attack === undefined) throw new Error(`there is no attack ${part}`);
        traffics.push(await attack.prepare(target));
      }
      return together(...traffics);
    },
  };
}

const COMBINED_ATTACKS = attacksOf("combined", [
  combined("everything-without-token", "A stranger does several things at once.", [
    "json-fraction-of-zeros",
    "sign-in-many-resources",
    "metrics-unread",
    "book-full-unread",
    "http-unknown-paths",
    "connections-open-and-drop",
    "slow-bodies",
    "socket-pings",
  ]),
  combined("everything-signed-in", "A trader does everything that limits allow, all at once.", [
    "orders-at-the-limit",
    "orders-wrong-signature",
    "fills-at-the-limit",
    "rotate-unsigned-paced",
    "book-full-at-the-limit",
    "streams-backfill-at-the-limit",
    "streams-subscribe-loop",
    "cancel-all-flood",
  ]),
]);

export const ATTACKS: readonly Attack[] = [...SINGLE, ...COMBINED_ATTACKS];

export function attackNamed(name: string): Attack {
  const attack = ATTACKS.find((each) => each.name === name);
  if (attack === undefined) throw new Error(`there is no attack ${name}`);
  return attack;
}
