/** A venue that has replaced its log key: who pinned the old or the new one follows the announcement. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newFolder } from "@perpgate/gateway/testing";
import {
  type EvidenceFile,
  type ReceiptFile,
  signatureLine,
  successorText,
} from "@perpgate/protocol/receipts";
import { checkEvidence, checkOrderProof, judgeReceipt, LogReader } from "@perpgate/sdk";
import { type LogKey, newLogKey, signWith, succeed, successorsFile } from "@perpgate/venue";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type DishonestBlock, publish, publishedBlocks } from "../testing/dishonest-log.js";
import { BID, newClient, newSession, startVenue } from "../testing/venue.js";

const [{ key: old }, { key: next }, { key: foreign }] = [
  newLogKey("venue.example/log"),
  newLogKey("venue.example/log"),
  newLogKey("venue.example/log"),
];
const CHECKER = fileURLToPath(new URL("../../../../examples/check-evidence.mjs", import.meta.url));
const directory = newFolder(afterAll);
type End = () => void | Promise<void>;

let url: string;
let nowMs: number;
/** Receipts of before and of after, with the old key pinned. */
let [early, late]: ReceiptFile[] = [];
let proof: string;
let notes: readonly string[];
let honest: DishonestBlock[];

beforeAll(async () => {
  const life = async (logKey: LogKey, onEnd: (end: End) => void) => {
    const at = await startVenue({ directory, promises: { logKey, checkpointMs: 60_000 } }, onEnd);
    const session = await newSession(newClient(at, { logKey: old.text }, afterAll));
    const { ackNonce } = await session.placeOrder(BID);
    await at.advance(400);
    await at.venue.promises!.log.advance();
    await session.receipts.settled();
    return { at, session, ackNonce, file: session.receipts.of(ackNonce) };
  };
  const ends: End[] = [];
  early = (await life(old, (end) => void ends.push(end))).file;
  for (const end of ends.reverse()) await end();
  await succeed(successorsFile(directory), old, next);
  const { at, session, ackNonce, file } = await life(next, afterAll);
  late = file;
  url = at.url;
  nowMs = at.nowMs();
  proof = await session.preconfirmProof(ackNonce);
  notes = at.venue.promises!.successors;
  honest = await publishedBlocks(url, at.venue.promises!.log.published!);
});

test("a session with the old key pinned: keeps receipts that the new one certified", () => {
  expect(early?.logKey).toBe(old.text);
  expect(late?.logKey).toBe(next.text);
});

test("judge: receipts of both keys are kept, whichever of them is pinned; another key is not of this log", async () => {
  for (const file of [early, late]) {
    for (const logKey of [undefined, old.text, next.text]) {
      const verdict = await judgeReceipt(file, { url, nowMs, ...(logKey && { logKey }) });
      expect(verdict).toMatchObject({ verdict: "kept" });
    }
    const verdict = await judgeReceipt(file, { url, nowMs, logKey: foreign.text });
    expect(verdict).toMatchObject({ verdict: "invalid" });
  }
});

test("check: a proof under the new key, with the old one pinned", async () => {
  for (const logKey of [old.text, next.text]) {
    expect(typeof (await checkOrderProof(proof, { logKey }))).not.toBe("string");
  }
  expect(typeof (await checkOrderProof(proof, { logKey: foreign.text }))).toBe("string");
});

/** Reads a log that serves these notes. */
function readerOf(at: string, served: readonly string[]): LogReader {
  return new LogReader(at, (each, init) =>
    each.endsWith("/tlog/successors")
      ? Promise.resolve(new Response(JSON.stringify(served)))
      : fetch(each, init),
  );
}

/** What the judge says of the old receipt where the new key's log has lost its acknowledgement. */
async function lostUnder(key: LogKey, served: readonly string[]) {
  const blocks = honest.map(({ header, acks }) => ({ header, acks: [...acks] }));
  blocks[early!.block - 1]!.acks = [];
  const log = await publish(blocks, key);
  onTestFinished(() => log.close());
  const reader = readerOf(log.url, served);
  return judgeReceipt(early, { url: log.url, nowMs: nowMs + 61_000, reader, logKey: old.text });
}

function checkedBy(evidence: EvidenceFile, logKey: LogKey): number | null {
  const path = join(directory, "evidence.json");
  writeFileSync(path, JSON.stringify(evidence));
  const { status } = spawnSync(process.execPath, [CHECKER, path, logKey.text], { timeout: 30_000 });
  return status;
}

test("a promise of the old key that the new key's log breaks: proven, with either key", async () => {
  const verdict = await lostUnder(next, notes);
  if (verdict.verdict !== "broken") throw new Error(JSON.stringify(verdict));
  const { evidence } = verdict;
  expect(evidence.successors).toEqual(notes);
  const { successors: _, ...alone } = evidence;
  for (const [given, logKey, isProven] of [
    [evidence, old, true],
    [evidence, next, true],
    [evidence, foreign, false],
    [alone, old, false],
    [{ ...evidence, successors: [notes[0]!, "x"] }, old, false],
  ] as const) {
    const result = await checkEvidence(JSON.stringify(given), { logKey: logKey.text });
    expect(typeof result !== "string").toBe(isProven);
    expect(checkedBy(given, logKey)).toBe(isProven ? 0 : 1);
  }
});

function note(from: LogKey, to: LogKey, signer = from): string {
  const text = successorText({ from, to });
  const line = (key: LogKey, by: LogKey) =>
    signatureLine(key, signWith(by.privateKey, Buffer.from(text)));
  return `${text}\n${line(from, signer)}${line(to, to)}`;
}

test.each([
  ["by a wrong key", () => [note(old, foreign, foreign)], /is not signed by/],
  ["two of one key", () => [note(old, next), note(old, foreign)], /has two successors/],
  ["a circle", () => [note(old, foreign), note(foreign, old)], /form a circle/],
] as const)("successor notes: %s, withheld and named", async (_, served, reason) => {
  const verdict = await lostUnder(foreign, served());
  expect(verdict).toMatchObject({ verdict: "withheld", reason: expect.stringMatching(reason) });
});
