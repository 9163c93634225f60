/**
 * Measures the journal beside a bare loop of write + fdatasync on the same disk in the same run.
 *
 *   npm run bench:journal [-- --json] [--records N] [--directory DIR]
 *
 * Every command is a batch of its own with its own promise, the dearest way to append. The bare
 * loop writes the same record into a preallocated file and syncs it, one after another. Recovery
 * opens a log of a million records (each in a batch of its own, and in batches of 32) and delivers
 * all of it to a reader that does nothing. What it leaves out: signatures, engine, network.
 */

import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LOG_START, openJournal } from "@perpgate/journal";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    records: { type: "string", default: "1000000" },
    directory: { type: "string", default: tmpdir() },
  },
});
const RECORD = new Uint8Array(400).fill(7);
const SECONDS = 1.5;
const ROUNDS = 3;

const rows = [];
const add = (metric, value, unit, against = null, ratio = null) =>
  rows.push({
    metric,
    value: round(value),
    unit,
    against,
    ratio: ratio === null ? null : round(ratio),
  });
const round = (value) => Number(value.toPrecision(4));

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function summarise(latencies, elapsedMs) {
  latencies.sort((a, b) => a - b);
  return {
    perSecond: (latencies.length / elapsedMs) * 1000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}

function bareLoop(directory) {
  const file = openSync(join(directory, "bare"), "w+");
  const zeros = new Uint8Array(1 << 20);
  for (let at = 0; at < 64; at++) writeSync(file, zeros, 0, zeros.length, at << 20);
  fdatasyncSync(file);
  const latencies = [];
  const started = performance.now();
  for (let now = started, at = 0; now - started < SECONDS * 1000; at += RECORD.length) {
    writeSync(file, RECORD, 0, RECORD.length, at);
    fdatasyncSync(file);
    const done = performance.now();
    latencies.push(done - now);
    now = done;
  }
  const result = summarise(latencies, performance.now() - started);
  closeSync(file);
  return result;
}

async function appendLoop(directory, inFlight) {
  const journal = await openJournal({ directory });
  await journal.read(journal.end, () => {}).live;
  const latencies = [];
  let counter = 0;
  const lane = async (until) => {
    for (let now = performance.now(); now < until; ) {
      await journal.append({ writer: 1, counter: counter++ }, [RECORD]);
      const done = performance.now();
      latencies.push(done - now);
      now = done;
    }
  };
  const lanes = (until) => Promise.all(Array.from({ length: inFlight }, () => lane(until)));
  await lanes(performance.now() + 300);
  latencies.length = 0;
  const started = performance.now();
  await lanes(started + SECONDS * 1000);
  const result = summarise(latencies, performance.now() - started);
  await journal.close();
  return result;
}

async function recovery(directory, records, perBatch) {
  const writer = await openJournal({ directory });
  const batch = Array.from({ length: perBatch }, () => RECORD);
  for (let counter = 0; counter * perBatch < records; ) {
    const group = [];
    for (; group.length < 512 && counter * perBatch < records; counter++) {
      group.push(writer.append({ writer: 1, counter }, batch));
    }
    await Promise.all(group);
  }
  await writer.close();
  const started = performance.now();
  const journal = await openJournal({ directory });
  const opened = performance.now();
  let seen = 0;
  await journal.read(LOG_START, (one) => {
    seen += one.records.length;
  }).live;
  const read = performance.now();
  await journal.close();
  if (seen < records) throw new Error(`${seen} of ${records} records came back`);
  return { open: opened - started, read: read - opened, total: read - started };
}

/** Runs in a new directory and removes it. */
async function inFresh(run) {
  const directory = mkdtempSync(join(options.directory, "bench-journal-"));
  try {
    return await run(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The middle one of each figure. */
function medians(results) {
  const middle = (figures) => figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)];
  return Object.fromEntries(
    Object.keys(results[0]).map((figure) => [figure, middle(results.map((one) => one[figure]))]),
  );
}

// The machine is not equally fast all the time, so the contestants take turns.
const runs = new Map([0, 1, 16, 256].map((inFlight) => [inFlight, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [inFlight, results] of runs) {
    const run = inFlight === 0 ? bareLoop : (directory) => appendLoop(directory, inFlight);
    results.push(await inFresh(run));
  }
}
const bare = medians(runs.get(0));
runs.delete(0);
const appends = new Map([...runs].map(([inFlight, results]) => [inFlight, medians(results)]));

add("bare write+fdatasync", bare.perSecond, "commands/s");
add("bare write+fdatasync p50", bare.p50, "ms");
add("bare write+fdatasync p99", bare.p99, "ms");
for (const [inFlight, { perSecond, p50, p99 }] of appends) {
  const name = `${inFlight} in flight`;
  add(`append, ${name}`, perSecond, "commands/s", "bare", perSecond / bare.perSecond);
  add(`append p50, ${name}`, p50, "ms", "bare", p50 / bare.p50);
  add(`append p99, ${name}`, p99, "ms", "bare", p99 / bare.p99);
}
const one = appends.get(1);
add(
  "added by the journal at 1 in flight, p50",
  one.p50 - bare.p50,
  "ms",
  "bar 0.2",
  (one.p50 - bare.p50) / 0.2,
);
const records = Number(options.records);
for (const perBatch of [1, 32]) {
  const { open, read, total } = await inFresh((directory) =>
    recovery(directory, records, perBatch),
  );
  const name = `${records} records, ${perBatch} a batch`;
  add(`open (whole log checked), ${name}`, open, "ms");
  add(`read, ${name}`, read, "ms");
  add(`open + read, ${name}`, records / (total / 1000), "records/s");
}

const [cpu] = cpus();
const machine = `${cpus().length} × ${cpu?.model.trim()}, Node ${process.versions.node}`;
if (options.json) {
  console.log(JSON.stringify({ bench: "journal", machine, rows }));
} else {
  console.log(machine);
  const width = Math.max(...rows.map((row) => row.metric.length));
  for (const { metric, value, unit, against, ratio } of rows) {
    const compared = against === null ? "" : `  ${ratio}× ${against}`;
    console.log(
      `${metric.padEnd(width)}  ${String(value).padStart(9)} ${unit.padEnd(10)}${compared}`,
    );
  }
}
