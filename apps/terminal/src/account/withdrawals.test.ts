import type { Reserves, Withdrawal } from "@perpgate/protocol";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { amountProblem, largestWithdrawal } from "../maths/withdrawal-terms.js";
import { reservesLine } from "./reserves-line.js";
import { WithdrawalSteps } from "./withdrawal-steps.js";

const RULES = {
  minWithdrawal: 10,
  fee: 0.5,
  accountPerDay: 1_000,
  venuePerHour: 5_000,
  venuePerDay: 5_000,
  lifeSeconds: 3_600,
  chains: [{ chain: "ethereum", tokens: ["USDC"] }],
};

const QUEUED: Withdrawal = {
  withdrawalId: "43",
  chain: "ethereum",
  token: "USDC",
  amount: 100,
  fee: 0.5,
  status: "queued",
  txHash: null,
  deadline: 1_700_086_400_000,
  nonce: 1,
  requestedAt: 1_700_000_000_000,
  endedAt: null,
};

describe("the amount of a withdrawal", () => {
  test("at most what is available without the fee, and the bound of a day, in whole cents", () => {
    expect(largestWithdrawal(RULES, 40)).toBe(39.5);
    expect(largestWithdrawal(RULES, 40.129_999)).toBe(39.62);
    expect(largestWithdrawal(RULES, 0.3)).toBe(0);
    expect(largestWithdrawal(RULES, 5_000)).toBe(1_000);
  });

  test("what is wrong with it is said before it is sent", () => {
    expect(amountProblem(RULES, 40, 39.5)).toBeUndefined();
    expect(amountProblem(RULES, 40, 10)).toBeUndefined();
    expect(amountProblem(RULES, 40, 39.51)).toBe("At most 39.50");
    expect(amountProblem(RULES, 40, 9.99)).toBe("At least 10.00");
    expect(amountProblem(RULES, 10.49, 5)).toContain("The least is 10.00");
  });
});

describe("the progress of a withdrawal", () => {
  const shown = (changes: Partial<Withdrawal>) =>
    renderToStaticMarkup(createElement(WithdrawalSteps, { withdrawal: { ...QUEUED, ...changes } }));
  const reached = (html: string) => html.match(/chip good/g)?.length ?? 0;

  test("each step marks those before it, and names the transaction once there is one", () => {
    const statuses = ["queued", "attested", "pending", "paid"] as const;
    expect(statuses.map((status) => reached(shown({ status })))).toEqual([1, 2, 3, 4]);
    expect(shown({})).toContain("Nothing is paid after");
    expect(shown({})).not.toContain("Transaction");
    const txHash = `0x${"ab".repeat(32)}`;
    const paid = shown({ status: "paid", txHash, endedAt: 1_700_000_600_000 });
    expect(paid).toContain(`Transaction ${txHash}`);
    expect(paid).not.toContain("Nothing is paid after");
  });

  test("expired: no step is reached, and the money is back", () => {
    const html = shown({ status: "expired", endedAt: 1_700_086_500_000 });
    expect(reached(html)).toBe(0);
    expect(html).toContain("in your wallet again");
  });
});

test("reserves in one line: more, less, or not known; a venue without a commitment shows none", () => {
  const reserves: Reserves = {
    liabilities: {
      position: "40",
      committedAt: "43",
      time: 1_700_000_000_000,
      root: `0x${"ab".repeat(32)}`,
      sum: 1_000.5,
      leaves: 5,
      proof: null,
    },
    vaults: [],
    pendingWithdrawals: 0,
    difference: 9.5,
  };
  expect(reservesLine(reserves)).toContain("hold 9.50 more");
  expect(reservesLine({ ...reserves, difference: -9.5 })).toContain("hold 9.50 LESS");
  expect(reservesLine({ ...reserves, difference: null })).toContain("not known");
  expect(reservesLine({ ...reserves, liabilities: null })).toBe("");
});
