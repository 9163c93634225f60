/** The rows of a deposit that credits many accounts. */
import { creditVote } from "@perpgate/engine/testing";
import { MAX_CREDITS_PER_VOTE } from "@perpgate/protocol/core";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_PARAMETERS, venueConfigOf } from "../listing/venue-config.js";
import { removeFolder, TEST_MARKETS, TestVenue, temporaryFolder } from "../testing/test-venue.js";

const SENDERS = 300;
const PARTS = SENDERS / MAX_CREDITS_PER_VOTE;
/** Far fewer than the three words of each credit. */
const MAX_ROW_WORDS = 40;

/** A venue with a deposit that was credited to all senders. */
async function manySenders() {
  const folder = await temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  const attestation = { attestorKind: "chain", attestors: 1, attestorQuorum: 1 } as const;
  const parameters = { ...DEFAULT_PARAMETERS, ...attestation, devCredit: 0 };
  const config = venueConfigOf(TEST_MARKETS, parameters);
  const attestors = { venue: "test-venue", members: ["ab".repeat(32)] };
  const driver = await TestVenue.open(folder, { config, attestors });
  const { views } = driver.venue;
  const session = await driver.signIn(1);
  const stampMs = views.timeMs;
  const registration = { chain: "ethereum", txHash: "ab".repeat(32), token: "USDC" } as const;
  const { seq: depositId } = await driver.submit({
    kind: "RegisterDeposit",
    stampMs,
    session,
    ...registration,
  });
  for (let part = 1; part <= PARTS; part++) {
    const credits = Array.from({ length: MAX_CREDITS_PER_VOTE }, (_, i) => {
      const logIndex = (part - 1) * MAX_CREDITS_PER_VOTE + i;
      // Account 1, which registered it, is the first sender.
      const address = (logIndex + 1).toString(16).padStart(40, "0");
      return { address, amountMicros: 5_000_000, logIndex, token: "USDC" };
    });
    const vote = { depositId, votedAtMs: stampMs + part, credits, part, parts: PARTS };
    await driver.submit(creditVote({ stampMs, ...vote }));
    const rows = views.lastChanges;
    expect(rows).toHaveLength(part * MAX_CREDITS_PER_VOTE);
    expect(Math.max(...rows.map(({ row }) => row.length))).toBeLessThan(MAX_ROW_WORDS);
  }
  return { folder, driver, depositId };
}

test("300 senders in 3 parts: rows of bounded length that show all credits so far", async () => {
  const { driver, depositId } = await manySenders();
  const { views } = driver.venue;
  for (const account of [1, SENDERS]) {
    const changes = views.changesSince(account, depositId, 10);
    const deposits = changes.map(({ row }) => views.change(row));
    const counts = deposits.map((change) =>
      change?.kind === "deposit" ? change.deposit.credits.length : 0,
    );
    expect(counts).toEqual(account === 1 ? [100, 200, 300] : [300]);
    const [now] = views.deposits(account).rows;
    expect(deposits.at(-1)).toEqual({ kind: "deposit", deposit: now });
  }
  await driver.venue.close();
});
