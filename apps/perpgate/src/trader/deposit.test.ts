import { createSessionKey, type Deposit, PerpgateClient } from "@perpgate/sdk";
import { expect, onTestFinished, test } from "vitest";
import { Output } from "../cli/output.js";
import { creditedTo, followed } from "./deposit.js";
import { hintFor } from "./hint.js";

const OWN = `0x${"aB".repeat(20)}`;
const OTHER = `0x${"cd".repeat(20)}`;
const DEPOSIT: Deposit = {
  depositId: "43",
  chain: "ethereum",
  txHash: `0x${"17".repeat(32)}`,
  token: "USDC",
  status: "confirming",
  confirmations: 1,
  required: 12,
  credits: [],
  reason: null,
  reorged: null,
  reorgSettled: false,
  registeredAt: 1_700_000_000_000,
  settledAt: null,
};

test("a transaction of several senders: only the own credits count", () => {
  const credits = [
    { account: OTHER, token: "USDC" as const, amount: 500, logIndex: 0 },
    { account: OWN.toLowerCase(), token: "USDT" as const, amount: 20, logIndex: 1 },
  ];
  expect(creditedTo(OWN, { credits })).toBe(20);
  expect(creditedTo(OWN, { credits: credits.slice(0, 1) })).toBe(0);
});

test("a deposit that is already final: not waited for, since the stream may no longer show it", async () => {
  const client = new PerpgateClient({ url: "http://127.0.0.1:1" });
  onTestFinished(() => client.close());
  const { kind, publicKey, secret = "" } = await createSessionKey({ saveable: true });
  const session = client.restore({
    ...{ version: 1, address: OWN, token: "t", expiresAt: 1e15, lastNonce: 0 },
    sessionKey: { kind, publicKey, secret },
  });
  // A watch is refused.
  session.stream.close();
  const venue = { session, output: new Output(true), hint: hintFor("default", undefined) };
  for (const status of ["credited", "rejected"] as const) {
    const first: Deposit = { ...DEPOSIT, status };
    expect(await followed(venue, first)).toBe(first);
  }
  await expect(followed(venue, DEPOSIT)).rejects.toThrow("the stream is closed");
});
