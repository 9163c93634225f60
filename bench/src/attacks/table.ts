/** All attacks, and combinations of several from one address. */

import { randomBytes } from "node:crypto";
import { signIn, signInMany } from "../harness/http.js";
import { request } from "../harness/wire.js";
import { type Attack, attacksOf, type PrepareAttack } from "./attack.js";
import { CONNECTION_ATTACKS } from "./kinds/connections.js";
import { HTTP_ATTACKS } from "./kinds/http.js";
import { JSON_ATTACKS } from "./kinds/json.js";
import { ORDER_ATTACKS } from "./kinds/orders.js";
import { READ_ATTACKS } from "./kinds/reads.js";
import { FEW, times, WRONG_SIGNATURE } from "./kinds/shared.js";
import { SIGN_IN_ATTACKS } from "./kinds/sign-in.js";
import { SOCKET_ATTACKS } from "./kinds/socket.js";
import { STREAM_ATTACKS } from "./kinds/streams.js";
import { WITHDRAWAL_ATTACKS } from "./kinds/withdrawals.js";
import { flood, paced, pipeline, rotating, together } from "./wire/patterns.js";

/** Registrations a minute of one account. */
const DEPOSITS_PER_MINUTE = 10;

function deposit(token: string, txHash = `0x${randomBytes(32).toString("hex")}`): Buffer {
  const body = JSON.stringify({ chain: "ethereum", txHash, token: "USDC" });
  return request({ path: "/v1/bridge/deposit", token, body });
}

function votes(count: number, textBytes: number): Buffer {
  const text = "perpgate deposit vote v1\n".padEnd(textBytes, "x");
  const vote = { text, signature: WRONG_SIGNATURE };
  const body = JSON.stringify({ votes: Array(count).fill(vote) });
  return request({ path: "/v1/bridge/votes", body });
}

const TABLE = `
deposits-of-many-accounts: Ten fresh accounts of one address, each within its own limit of deposits.
deposits-past-the-limit: Registrations past the limit are refused one by one.
deposits-one-hash: One hash registered again and again by several accounts.
votes-wrong-signature: 64 votes a request with wrong signatures.
votes-large: One vote of 60 KB, without a key of any attestor.
votes-queue: The queue of attestors, requested without a key.
`;

const DEPOSIT_ATTACKS = attacksOf("deposits", TABLE, {
  "deposits-of-many-accounts": async ({ address }) => {
    const accounts = await signInMany(address, 10);
    const each = accounts.map(({ token }) => times(DEPOSITS_PER_MINUTE, () => deposit(token)));
    return paced(rotating(each.flat()), 100, FEW);
  },
  "deposits-past-the-limit": async ({ address }) =>
    flood(pipeline(deposit((await signIn(address)).token)), FEW),
  "deposits-one-hash": async ({ address }) => {
    const accounts = await signInMany(address, 5);
    const txHash = `0x${"ab".repeat(32)}`;
    return flood(pipeline(...accounts.map(({ token }) => deposit(token, txHash))), FEW);
  },
  "votes-wrong-signature": () => flood(pipeline(votes(64, 300)), FEW),
  "votes-large": () => flood(votes(1, 60_000), FEW),
  "votes-queue": () => {
    const queue = { chain: "ethereum", queue: "pending", after: "0", since: 0 };
    const body = JSON.stringify({ venue: "v", attestor: 0, ...queue, time: Date.now() });
    return flood(pipeline(request({ path: "/v1/bridge/queue", body })), FEW);
  },
});

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
  ...WITHDRAWAL_ATTACKS,
];

function combined(...parts: readonly string[]): PrepareAttack {
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
