/** Deposits and the votes of attestors. */
import { randomBytes } from "node:crypto";
import { attacksOf } from "../attack.js";
import { flood, inTurn, paced } from "../wire/patterns.js";
import { pipeline, request } from "../wire/requests.js";
import { attackerAccount, attackerAccounts, WRONG_SIGNATURE } from "./accounts.js";

const FEW = { connections: 4 };
/** Registrations a minute of one account. */
const DEPOSITS_PER_MINUTE = 10;

function deposit(token: string, txHash = `0x${randomBytes(32).toString("hex")}`): Buffer {
  const body = JSON.stringify({ chain: "ethereum", txHash, token: "USDC" });
  return request({ path: "/v1/bridge/deposit", token, body });
}

function votes(count: number, textBytes: number): string {
  const text = "perpgate deposit vote v1\n".padEnd(textBytes, "x");
  const vote = { text, signature: WRONG_SIGNATURE };
  return JSON.stringify({ votes: Array(count).fill(vote) });
}

export const DEPOSIT_ATTACKS = attacksOf("deposits", [
  {
    name: "deposits-of-many-accounts",
    shows: "Ten fresh accounts of one address, each within its own limit of deposits.",
    prepare: async (target) => {
      const accounts = await attackerAccounts(target, 10);
      const requests = accounts.flatMap(({ token }) =>
        Array.from({ length: DEPOSITS_PER_MINUTE }, () => deposit(token)),
      );
      return paced(inTurn(requests), 100, FEW);
    },
  },
  {
    name: "deposits-past-the-limit",
    shows: "Registrations past the limit are refused one by one.",
    prepare: async (target) => {
      const { token } = await attackerAccount(target);
      return flood(pipeline(deposit(token)), FEW);
    },
  },
  {
    name: "deposits-one-hash",
    shows: "One hash registered again and again by several accounts.",
    prepare: async (target) => {
      const accounts = await attackerAccounts(target, 5);
      const txHash = `0x${"ab".repeat(32)}`;
      return flood(pipeline(...accounts.map(({ token }) => deposit(token, txHash))), FEW);
    },
  },
  {
    name: "votes-wrong-signature",
    shows: "64 votes a request with wrong signatures.",
    prepare: () =>
      flood(pipeline(request({ path: "/v1/bridge/votes", body: votes(64, 300) })), FEW),
  },
  {
    name: "votes-large",
    shows: "One vote of 60 KB, without a key of any attestor.",
    prepare: () => flood(request({ path: "/v1/bridge/votes", body: votes(1, 60_000) }), FEW),
  },
  {
    name: "votes-queue",
    shows: "The queue of attestors, asked for without a key.",
    prepare: () => {
      const body = JSON.stringify({
        venue: "v",
        attestor: 0,
        chain: "ethereum",
        queue: "pending",
        after: "0",
        since: 0,
        time: Date.now(),
      });
      return flood(pipeline(request({ path: "/v1/bridge/queue", body })), FEW);
    },
  },
]);
