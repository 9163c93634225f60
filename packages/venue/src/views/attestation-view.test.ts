import { creditVote } from "@perpgate/engine/testing";
import { MAX_CREDITS_PER_VOTE } from "@perpgate/protocol/core";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_PARAMETERS, venueConfigOf } from "../listing/venue-config.js";
import { removeFolder, TEST_MARKETS, TestVenue, temporaryFolder } from "../testing/test-venue.js";

const ATTESTORS = { venue: "test-venue", members: ["ab".repeat(32), "cd".repeat(32)] };
const DAY_MS = 86_400_000;

async function openVenue(attestorQuorum = 1): Promise<TestVenue> {
  const folder = await temporaryFolder();
  const config = venueConfigOf(TEST_MARKETS, {
    ...DEFAULT_PARAMETERS,
    attestorKind: "chain",
    attestors: 2,
    attestorQuorum,
    devCredit: 0,
  });
  const driver = await TestVenue.open(folder, { config, attestors: ATTESTORS });
  onTestFinished(async () => {
    await driver.venue.close();
    await removeFolder(folder);
  });
  return driver;
}

/** Registers a transaction and credits some of its parts, which are full; returns the deposit. */
async function deposit(
  driver: TestVenue,
  session: number,
  number: number,
  parts: number,
  of = parts,
) {
  const stampMs = driver.venue.views.timeMs;
  const txHash = number.toString(16).padStart(64, "0");
  const registration = { session, chain: "ethereum", txHash, token: "USDC" } as const;
  const { seq } = await driver.submit({ kind: "RegisterDeposit", stampMs, ...registration });
  for (let part = 1; part <= parts; part++) {
    const credits = Array.from({ length: MAX_CREDITS_PER_VOTE }, (_, i) => ({
      address: "1".padStart(40, "0"),
      amountMicros: 5_000_000,
      logIndex: part * MAX_CREDITS_PER_VOTE + i,
    }));
    const vote = { depositId: seq, votedAtMs: stampMs + part, credits, part, parts: of };
    await driver.submit(creditVote({ stampMs, ...vote }));
  }
  return seq;
}

test("credited deposits of many credits, also in part: pages of bounded size, every deposit once", async () => {
  const driver = await openVenue();
  const session = await driver.signIn(1);
  const whole: number[] = [];
  const partly: number[] = [];
  for (let i = 0; i < 6; i++) {
    whole.push(await deposit(driver, session, 2 * i, i === 3 ? 25 : 8));
    partly.push(await deposit(driver, session, 2 * i + 1, 9, 10));
  }
  const { attestation } = driver.venue.views;
  const found: number[] = [];
  const credits: number[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const { rows, next }: ReturnType<typeof attestation.creditedSince> = attestation.creditedSince(
      "ethereum",
      0,
      1,
      after,
    );
    found.push(...rows.map(({ depositId }) => depositId));
    credits.push(rows.reduce((sum, row) => sum + row.credits.length, 0));
    // Attestors refuse a page that does not advance.
    if (next !== null) expect(next).toBeGreaterThan(after);
    after = next;
  }
  expect(found).toEqual([...partly, ...whole]);
  // One deposit of 2,500 is a page of its own.
  expect(credits).toEqual([1_800, 1_800, 1_800, 1_600, 800, 2_500, 1_600]);
});

test("pending deposits that an attestor has voted to credit: pages of bounded size, each once", async () => {
  const driver = await openVenue(2);
  const session = await driver.signIn(1);
  const ids: number[] = [];
  for (let i = 0; i < 45; i++) ids.push(await deposit(driver, session, i, 1));
  const { attestation } = driver.venue.views;
  for (const order of ["ascending", "descending"] as const) {
    const found: number[] = [];
    const sizes: number[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page: ReturnType<typeof attestation.pending> = attestation.pending(
        "ethereum",
        0,
        order,
        after,
      );
      found.push(...page.rows.map(({ depositId }) => depositId));
      sizes.push(page.rows.length);
      after = page.next;
    }
    // 2,000 credits in a page.
    expect(sizes).toEqual([20, 20, 5]);
    expect(found).toEqual(order === "ascending" ? ids : ids.toReversed());
  }
  // The other attestor has not voted, so its page has no credits.
  const other = attestation.pending("ethereum", 1, "ascending", 0);
  expect([other.rows.length, other.next]).toEqual([45, null]);
});

test("deposits: forgotten ones do not shorten a page", async () => {
  const driver = await openVenue();
  const session = await driver.signIn(1);
  const kept: string[] = [];
  for (const [i, parts] of [0, 0, 1, 0, 1, 0, 0, 1, 0].entries()) {
    const id = await deposit(driver, session, i, parts);
    if (parts > 0) kept.push(String(id));
  }
  const { views } = driver.venue;
  expect(views.deposits(1).rows).toHaveLength(9);
  await driver.submit({ kind: "AskTime", stampMs: views.timeMs + DAY_MS });
  await driver.submit({ kind: "Tick", slot: Math.floor(views.timeMs / 200) + 1 });
  const page = (query: object) => views.deposits(1, query).rows.map(({ depositId }) => depositId);
  const [first, second, third] = kept;
  expect(page({})).toEqual([third, second, first]);
  expect(page({ limit: 2 })).toEqual([third, second]);
  expect(page({ limit: 2, before: second })).toEqual([first]);
  expect(page({ limit: 2, after: "0" })).toEqual([first, second]);
  expect(page({ limit: 2, after: second })).toEqual([third]);
  expect(views.deposits(1, { limit: 2 })).toMatchObject({ read: 5, stoppedAt: null });
});
