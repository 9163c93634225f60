import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { watchReorgs } from "./bridge-metrics.js";
import { MEMBERS, registered } from "./testing/attested-venue.js";

/** A credited deposit, and what the alarm has counted and logged. */
async function watched() {
  const { venue, depositId, credits } = await registered();
  for (const attestor of [0, 1]) {
    await venue.submit(await venue.vote({ attestor, depositId, credits }));
  }
  const registry = new Registry();
  const lines: object[] = [];
  const ignored = () => undefined;
  const error = (fields: object) => void lines.push(fields);
  watchReorgs(venue.at.venue, { info: ignored, warn: ignored, error }, registry);
  const report = async (attestor: number) => {
    const vote = await venue.vote({ attestor, depositId, verdict: "reorged" });
    expect((await venue.submit(vote)).body).toEqual({ refusals: [null] });
  };
  const alarms = async () => {
    const text = await registry.metrics();
    return Number(/^perpgate_deposits_reorged_total (\d+)$/m.exec(text)?.[1]);
  };
  return { venue, depositId, lines, report, alarms };
}

test("a reorganisation that all three attestors report: one alarm", async () => {
  const { depositId, lines, report, alarms } = await watched();
  await report(0);
  expect(await alarms()).toBe(0);
  await report(1);
  await report(2);
  expect(await alarms()).toBe(1);
  expect(lines).toMatchObject([{ depositId, reason: "transaction_gone" }]);
});

test("a reorganisation that a smaller quorum suffices for: the configuration raises the alarm", async () => {
  const { venue, depositId, lines, report, alarms } = await watched();
  await report(2);
  expect(await alarms()).toBe(0);
  await venue.configure(MEMBERS, undefined, 1);
  expect(await alarms()).toBe(1);
  expect(lines).toMatchObject([{ depositId, reason: "transaction_gone" }]);
});
