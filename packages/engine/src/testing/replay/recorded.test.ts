/**
 * Recorded logs replay to the recorded hashes: on every machine, every Node and every later release. The
 * batches are in the file, so a change of the generator cannot hide a change of the engine. `.ci/run` runs
 * this on the Node of the release and on a later one.
 */

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Engine } from "../../engine.js";
import { ENGINE_VERSION } from "../../versions.js";
import { applyBatch } from "../flow/log-batch.js";
import { hashesOf, type Recorded, record } from "./record.js";

const fileOf = (version: number) =>
  new URL(`./recorded/version-${version}.json.gz`, import.meta.url);

function recordedLogs(version: number): readonly Recorded[] {
  return JSON.parse(gunzipSync(readFileSync(fileOf(version))).toString());
}

if (process.env.RECORD_VERSION === String(ENGINE_VERSION)) record(fileOf(ENGINE_VERSION));

describe.each([2, 3])("recorded logs of version %i", (version) => {
  test.each(recordedLogs(version))(
    "the recorded events and state: $profile",
    ({ batches, events, state }) => {
      expect(hashesOf(batches)).toEqual({ events, state });
    },
  );
});

test("the log of withdrawals: some are paid, some end unpaid, some are refused", () => {
  const log = recordedLogs(3).find(({ profile }) => profile === "withdrawals");
  const seen = new Set<string>();
  const engine = new Engine();
  for (const batch of log?.batches ?? []) {
    applyBatch(engine, batch, (command, events) => {
      for (const { kind } of events.decode()) seen.add(`${command.kind} ${kind}`);
    });
  }
  expect([...seen]).toEqual(
    expect.arrayContaining([
      "Withdraw WithdrawalRequested",
      "Withdraw CommandRefused",
      "AttestWithdrawal WithdrawalPaid",
      "AttestWithdrawal WithdrawalExpired",
    ]),
  );
});
