/** Deposits and the votes of attestors. */
import { randomBytes } from "node:crypto";
import { signIn, signInMany } from "../../harness/http.js";
import { request } from "../../harness/wire.js";
import { attacksOf } from "../attack.js";
import { flood, paced, pipeline, rotating } from "../wire/patterns.js";
import { FEW, times, WRONG_SIGNATURE } from "./shared.js";

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

export const DEPOSIT_ATTACKS = attacksOf("deposits", TABLE, {
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
