/** Requests of withdrawals over HTTP on a real venue with attestors. */

import { Trader } from "@perpgate/gateway/testing";
import { verify, type WithdrawalParameters } from "@perpgate/venue";
import { expect, test } from "vitest";
import { type AttestedVenue, recoverWallet, withdrawing } from "./testing/attested-venue.js";

const CENTS_25 = { amount: 25.25, nonce: 7 };

test("a withdrawal: queued, and gone from the wallet with its fee; the same bytes are executed once", async () => {
  const { venue, trader, ask } = await withdrawing();
  const first = await ask(CENTS_25);
  expect([first.status, first.body]).toMatchObject([
    202,
    { chain: "ethereum", token: "USDC", amount: 25.25, fee: 0.5, status: "queued", nonce: 7 },
  ]);
  const again = await ask(CENTS_25);
  expect([again.status, again.body]).toEqual([202, first.body]);
  expect(again.headers.get("idempotent-replay")).toBe("true");
  expect((await trader.get("/v1/account")).body.balance).toBe(14.25);
  const listed = await trader.list("/v1/bridge/withdrawals");
  expect(listed).toEqual([first.body]);
  expect(await ask({ ...CENTS_25, amount: 11 })).toMatchObject({
    status: 409,
    body: { code: "nonce_conflict", field: "nonce" },
  });
  const { body } = await trader.get("/v1/bridge");
  expect(body.withdrawals).toMatchObject({ fee: 0.5, chains: [{ chain: "ethereum" }] });
  const { directory } = venue.at;
  await venue.at.stop();
  expect((await verify(directory, { signatures: recoverWallet })).fault).toBeNull();
});

test("a repetition after a restart answers as before, and without a signature, too", async () => {
  const { venue, trader, ask } = await withdrawing();
  const first = await ask(CENTS_25);
  const restarted = await venue.restart();
  const text = JSON.stringify({ chain: "ethereum", token: "USDC", ...CENTS_25 });
  const again = await restarted.post("/v1/bridge/withdrawals", text, trader.bearer());
  expect(again.body).toEqual(first.body);
  const unsigned = text.replace("25.25", "12");
  const refused = await restarted.post("/v1/bridge/withdrawals", unsigned, trader.bearer());
  expect(refused.body.code).toBe("signature_required");
});

type Scene = Awaited<ReturnType<typeof withdrawing>>;
const pause =
  (scope: string) =>
  ({ venue }: Scene) =>
    venue.at.execute({
      kind: "PauseDeposits",
      stampMs: venue.at.nowMs(),
      scope,
      isPaused: true,
      expiresAtMs: venue.at.nowMs() + 60_000,
    });

async function reorged({ venue, depositId }: Scene): Promise<void> {
  for (const attestor of [0, 1]) {
    await venue.submit(await venue.vote({ depositId, attestor, verdict: "reorged" }));
  }
}

test.each<
  [
    code: string,
    status: number,
    body: object,
    terms?: Partial<WithdrawalParameters>,
    prepare?: (scene: Scene) => Promise<unknown>,
  ]
>([
  ["withdrawals_not_supported", 409, { chain: "tron" }],
  ["withdrawals_not_supported", 409, { token: "USDT" }],
  ["withdrawal_too_small", 400, { amount: 9.99 }],
  ["insufficient_balance", 400, { amount: 39.51 }],
  ["insufficient_balance", 400, { amount: 4_500_000_000 }],
  ["withdrawals_paused", 409, {}, {}, pause("USDC")],
  ["withdrawals_paused", 409, {}, {}, pause("ethereum")],
  ["reorged_credit", 409, {}, {}, reorged],
  [
    "unpaid_withdrawals",
    409,
    { amount: 15 },
    { chains: [{ chain: "ethereum", chainId: 1, tokens: ["USDC"], maxUnpaid: 14 }] },
  ],
  ["withdrawal_limit", 429, { amount: 15 }, { accountPerDay: 14 }],
  ["invalid_request", 400, { amount: -1 }],
  ["invalid_request", 400, { address: `0x${"66".repeat(20)}` }],
])(
  "refused, and nothing of it in the log: %s (%i) %o",
  async (code, status, body, terms = {}, prepare = async () => undefined) => {
    const scene = await withdrawing(terms);
    await prepare(scene);
    const before = scene.venue.at.venue.seq;
    const refused = await scene.ask({ amount: 10, nonce: 1, ...body });
    expect([refused.status, refused.body.code]).toEqual([status, code]);
    expect(scene.venue.at.venue.seq).toBe(before);
    expect((await scene.trader.get("/v1/account")).body.balance).toBe(40);
  },
);

test("over a bound of the day: 429 names when the amount fits; never, if it is above the bound", async () => {
  const { ask } = await withdrawing({ accountPerDay: 30 });
  expect((await ask({ amount: 25, nonce: 1 })).status).toBe(202);
  const { body } = await ask({ amount: 10, nonce: 2 });
  expect(body.message).toMatch(/it fits at 2026-06-02T13:00:00\.000Z\./);
  const rich = await withdrawing({ accountPerDay: 30 }, undefined, 100);
  expect((await rich.ask({ amount: 31, nonce: 3 })).body.message).toMatch(/it fits never\./);
});

test("money that came in by another token does not leave by this one", async () => {
  const { venue, trader, ask } = await withdrawing();
  await deposits(venue, trader, "USDT");
  expect((await ask({ amount: 45, nonce: 1 })).body).toMatchObject({
    code: "chain_balance_too_small",
    message: "Of USDC on ethereum at most 40 dollars can be paid; take another chain or token.",
  });
});

async function deposits(venue: AttestedVenue, trader: Trader, token: "USDT"): Promise<void> {
  const txHash = "ef".repeat(32);
  const depositId = Number((await venue.register(trader, txHash, token)).body.depositId);
  const address = trader.wallet.address.slice(2).toLowerCase();
  const credits = [{ logIndex: 1, token, address, amountMicros: 40_000_000 }];
  for (const attestor of [0, 1]) {
    await venue.submit(await venue.vote({ depositId, attestor, credits, txHash }));
  }
}

test("a flood: who has nothing writes nothing to the log, who has money as many as it pays for", async () => {
  const { venue, trader, ask } = await withdrawing();
  const strangers = await Promise.all(Array.from({ length: 10 }, () => Trader.enter(venue.at)));
  const before = venue.at.venue.seq;
  const body = { chain: "ethereum", token: "USDC", amount: 10 };
  const answers = await Promise.all(
    strangers.flatMap((each) =>
      Array.from({ length: 20 }, (_, i) =>
        each.signed("/v1/bridge/withdrawals", { ...body, nonce: i + 1 }),
      ),
    ),
  );
  expect(new Set(answers.map(({ body: { code } }) => code))).toEqual(
    new Set(["insufficient_balance"]),
  );
  expect(venue.at.venue.seq).toBe(before);
  // 40 dollars pay for three of 10.5; an honest request is not delayed by what was refused.
  const own = await Promise.all(
    Array.from({ length: 50 }, (_, i) => ask({ amount: 10, nonce: i + 1 })),
  );
  expect(own.filter(({ status }) => status === 202)).toHaveLength(3);
  expect(venue.at.venue.seq).toBe(before + 3);
  expect((await trader.get("/v1/account")).body.balance).toBe(8.5);
});
