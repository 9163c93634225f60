/**
 * Each kind of broken promise, by a build of the gateway that breaks it on purpose: proven with
 * `perpgate judge` from the trader's files and what the venue publishes, and confirmed by a program that
 * was written from docs/receipts.md alone.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { judgeReceipt, PerpgateClient, type Session } from "@perpgate/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { MAIN, temporaryFolder } from "../testing/perpgate-process.js";
import { startGateway, TraderShell } from "../testing/trader-shell.js";

const DISHONEST = fileURLToPath(new URL("../testing/dishonest-build.mjs", import.meta.url));
const CHECKER = fileURLToPath(new URL("../../../../examples/check-evidence.mjs", import.meta.url));
const ORDER = { symbol: "BTCUSD", side: "long", margin: 100, leverage: 2 } as const;
const TIMEOUT_MS = 180_000;

/** Places an order, and waits until a checkpoint covers its block; returns its receipt as a file. */
async function sealedOrder(session: Session, url: string, path: string): Promise<void> {
  const { ackNonce } = await session.placeOrder({ ...ORDER, type: "limit", price: 50_000 });
  await session.receipts.settled();
  const receipt = session.receipts.of(ackNonce);
  if (receipt === undefined) throw new Error("the receipt does not hold");
  writeFileSync(path, JSON.stringify(receipt));
  await expect
    .poll(async () => (await judgeReceipt(receipt, { url })).verdict, { timeout: TIMEOUT_MS })
    .not.toBe("pending");
}

test("a build that seals something else: each broken promise is judged, and its evidence confirmed", async () => {
  const command = [process.execPath, "--import", DISHONEST, MAIN] as const;
  const url = await startGateway([], onTestFinished, command);
  const client = new PerpgateClient({ url });
  onTestFinished(() => client.close());
  const session = await client.signIn({ account: privateKeyToAccount(generatePrivateKey()) });
  const folder = temporaryFolder();
  const verdicts = ["kept", "absent", "elsewhere", "different", "forked"];
  const files = verdicts.map((verdict) => join(folder, `${verdict}.receipt`));
  for (const file of files) await sealedOrder(session, url, file);

  const evidence = join(folder, "evidence.json");
  const judged = await new TraderShell(url).run("judge", ...files, "--evidence", evidence);
  expect(judged.stdout.split("\n").map((line) => line.split("  ")[0])).toEqual([
    "kept",
    "broken: absent",
    "broken: elsewhere",
    "broken: different",
    "broken: forked",
    "",
  ]);
  expect(judged.code).toBe(1);
  const names = ["evidence.json", "evidence-2.json", "evidence-3.json", "evidence-4.json"];
  const { logKey } = await client.honesty();
  const confirmed = names.map((name) =>
    promisify(execFile)(process.execPath, [CHECKER, join(folder, name), logKey]),
  );
  expect((await Promise.all(confirmed)).map(({ stdout }) => stdout.trim())).toEqual([
    "proven: absent",
    "proven: elsewhere",
    "proven: different",
    "proven: forked",
  ]);
});
