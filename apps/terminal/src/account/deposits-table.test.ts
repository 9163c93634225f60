import type { Deposit } from "@perpgate/protocol";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { creditedText, DepositStatusCell } from "./deposits-table.js";

const OWN = `0x${"aB".repeat(20)}`;
const CREDITED: Deposit = {
  depositId: "7",
  chain: "ethereum",
  txHash: "11".repeat(32),
  token: "USDC",
  status: "credited",
  confirmations: 64,
  required: 64,
  credits: [
    { account: `0x${"cd".repeat(20)}`, token: "USDC", amount: 500, logIndex: 0 },
    { account: OWN.toLowerCase(), token: "USDT", amount: 20, logIndex: 1 },
    { account: OWN.toLowerCase(), token: "USDC", amount: 1.5, logIndex: 2 },
  ],
  reason: null,
  reorged: null,
  reorgSettled: false,
  registeredAt: 1_700_000_000_000,
  settledAt: null,
};

describe("deposits table", () => {
  test("a transaction of several senders: the own credits apart from those of other accounts", () => {
    const { credits } = CREDITED;
    expect(creditedText(OWN, credits)).toBe("21.50, 500.00 to other accounts");
    expect(creditedText(OWN, credits.slice(1))).toBe("21.50");
    expect(creditedText(OWN, credits.slice(0, 1))).toBe("500.00 to other accounts");
    expect(creditedText(OWN, [])).toBe("—");
  });

  test("a credited deposit that left its chain: shown until the operator settles it", () => {
    const shown = (changes: Partial<Deposit>) =>
      renderToStaticMarkup(createElement(DepositStatusCell, { ...CREDITED, ...changes }));
    const reorged = "transaction_gone";
    expect(shown({ reorged })).toMatch(/class="chip bad".*>left its chain<.*transaction_gone/);
    expect(shown({})).not.toContain("chip bad");
    expect(shown({ reorged, reorgSettled: true })).not.toContain("chip bad");
  });
});
