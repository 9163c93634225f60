import { expect, test } from "vitest";
import { creditedTo } from "./deposit.js";

const OWN = `0x${"aB".repeat(20)}`;
const OTHER = `0x${"cd".repeat(20)}`;

test("a transaction of several senders: only the own credits count", () => {
  const credits = [
    { account: OTHER, token: "USDC" as const, amount: 500, logIndex: 0 },
    { account: OWN.toLowerCase(), token: "USDT" as const, amount: 20, logIndex: 1 },
  ];
  expect(creditedTo(OWN, { credits })).toBe(20);
  expect(creditedTo(OWN, { credits: credits.slice(0, 1) })).toBe(0);
});
