/**
 * A venue whose store never answers a read: the table of funding becomes a view that has no end. It says what
 * becomes of orders and of reads. Arguments: the data folder.
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ApiError } from "@perpgate/protocol/core";
import { openEnvironment } from "../history/history-environment.js";
import { TestVenue } from "./test-venue.js";
import { traded } from "./traded-venue.js";

const ENDLESS = `
ALTER TABLE funding_rows RENAME TO kept_rows;
CREATE VIEW funding_rows AS
WITH RECURSIVE endless (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)
SELECT 0 AS market, n AS time, 0 AS rate, 0 AS mark FROM endless WHERE n < 0`;
const READS = 1_100;

const say = (line: string): void => void writeSync(1, `${line}\n`);

const [folder = ""] = process.argv.slice(2);
const driver = await TestVenue.open(folder, { commit: "thread" });
const { history, views } = driver.venue;
const { sessions } = await traded(driver);
await history.flush();
const other = openEnvironment(join(folder, "history"), false);
other.exec(ENDLESS);
other.close();

const refusals: string[] = [];
const reads = Array.from({ length: READS }, () =>
  history
    .read(() => views.funding("BTCUSD", { limit: 1 }))
    .catch((error: unknown) => refusals.push(error instanceof ApiError ? error.code : "?")),
);
await setImmediate();
const codesOf = (from: number) => [...new Set(refusals.slice(from))].join();
say(`${refusals.length} of ${READS} refused at once: ${codesOf(0)}`);
const atOnce = refusals.length;
let acknowledged = 0;
for (let nonce = 900; nonce < 920; nonce++) {
  const { outcome } = await driver.order(sessions[0] ?? 0, nonce, "long", 600_000, 20);
  if (outcome.kind === "acknowledged") acknowledged++;
}
say(`${acknowledged} orders acknowledged`);
await Promise.all(reads);
say(`${refusals.length - atOnce} refused: ${codesOf(atOnce)}`);
await driver.venue.close();
say("closed");
