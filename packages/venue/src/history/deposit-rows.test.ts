/** The rows of a deposit that credits many accounts. */
import { join } from "node:path";
import { creditVote } from "@perpgate/engine/testing";
import { MAX_CREDITS_PER_VOTE } from "@perpgate/protocol/core";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_PARAMETERS, venueConfigOf } from "../listing/venue-config.js";
import { removeFolder, TEST_MARKETS, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { verify } from "../verify/verify.js";
import { openEnvironment, openTables } from "./history-environment.js";
import { bytesOfWords, wordsOfBytes } from "./rows.js";

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
    const deposits = changes.map(({ seq, row }) => views.change(seq, row));
    const counts = deposits.map((change) =>
      change?.kind === "deposit" ? change.deposit.credits.length : 0,
    );
    expect(counts).toEqual(account === 1 ? [100, 200, 300] : [300]);
    const [now] = views.deposits(account).rows;
    expect(deposits.at(-1)).toEqual({ kind: "deposit", deposit: now });
  }
  await driver.venue.close();
});

test("verify: rows of earlier builds, with all credits, agree; with another credit: a fault", async () => {
  const { folder, driver } = await manySenders();
  await driver.venue.close();
  const store = (amountMicros: number) => withAllCredits(folder, amountMicros);
  expect(await store(5_000_000)).toBe(600);
  expect((await verify(folder)).fault).toBeNull();
  expect(await store(5_000_001)).toBe(600);
  expect((await verify(folder)).fault?.reason).toContain("changes, row");
});

/** Rewrites the rows of the deposit as builds before COUNTED did; returns how many there are. */
async function withAllCredits(folder: string, amountMicros: number): Promise<number> {
  const environment = openEnvironment(join(folder, "history"), false);
  const { changes } = openTables(environment, false);
  let rows = 0;
  for (const { key, value } of [...changes.getRange({})]) {
    const words = wordsOfBytes(Buffer.from(value));
    // Kind, deposit, token, status, confirmations, required, two empty texts, credits, money.
    if (words[0]! % 8 !== 3 || words[8] === undefined) continue;
    const [count, tail] = creditsIn(words);
    const credits = Array.from({ length: count }, (_, i) => [i + 1, amountMicros, i + 2 ** 40]);
    const status = words[3]! & ~16;
    const row = [...words.slice(0, 3), status, ...words.slice(4, 8), ...credits.flat(), ...tail];
    changes.putSync(Buffer.from(key), bytesOfWords(row));
    rows++;
  }
  await environment.close();
  return rows;
}

/** The number of credits in a row of either form, and what follows them. */
function creditsIn(words: number[]): [number, number[]] {
  const money = words[0]! & 8 ? 4 : 0;
  const end = words.length - money;
  const isCounted = (words[3]! & 16) !== 0;
  return [isCounted ? words[8]! : (end - 8) / 3, words.slice(end)];
}
