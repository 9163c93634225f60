/**
 * The judge: an honest venue keeps its receipts, and each way to break a promise is proven from the
 * trader's file and what the venue publishes. A second program, written from docs/receipts.md alone, must
 * confirm the evidence.
 */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newFolder } from "@perpgate/gateway/testing";
import {
  base64,
  EVIDENCE_FORMAT,
  type EvidenceFile,
  evidenceReceipt,
  joinBytes,
  type OpenedReceipt,
  openCheckpoint,
  openReceiptFile,
  parseNoteKey,
  type ReceiptFile,
  requestHashOf,
  rootOfLeafHashes,
} from "@perpgate/protocol/receipts";
import { TestCosigner } from "@perpgate/protocol/testing";
import { serve } from "@perpgate/protocol/testing/serve";
import {
  checkEvidence,
  checkOrderProof,
  type FetchBytes,
  judgeReceipt,
  LogReader,
  type Verdict,
  verifyEd25519,
} from "@perpgate/sdk";
import { newLogKey } from "@perpgate/venue";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type DishonestBlock, publish, publishedBlocks } from "../testing/dishonest-log.js";
import { signedAgain } from "../testing/dishonest-receipts.js";
import { BID, newClient, newSession, startVenue } from "../testing/venue.js";

const { key: logKey } = newLogKey("venue.example/log");
const promises = { logKey, checkpointMs: 60_000 };
const CHECKER = fileURLToPath(new URL("../../../../examples/check-evidence.mjs", import.meta.url));
const folder = newFolder(afterAll);

let url: string;
let file: ReceiptFile;
/** Of a cancel, in a later block. */
let canceled: ReceiptFile;
let nowMs: number;
let honest: DishonestBlock[];
let honestCheckpoint: string;
let proof: string;
let early: Verdict;

beforeAll(async () => {
  const at = await startVenue({ promises }, afterAll);
  url = at.url;
  const session = await newSession(newClient(at, { logKey: logKey.text }, afterAll));
  await session.placeOrder(BID);
  await at.advance(400);
  const { ackNonce } = await session.placeOrder({ ...BID, price: 60_001 });
  await session.placeOrder({ ...BID, price: 60_002 });
  await session.receipts.settled();
  const kept = session.receipts.of(ackNonce);
  if (kept === undefined) throw new Error("the receipt does not hold");
  file = kept;
  nowMs = at.nowMs();
  early = await judgeReceipt(file, { url, nowMs });
  await at.advance(400);
  const { orderId } = await session.placeOrder(BID);
  const cancel = await session.cancelOrder(orderId);
  await session.receipts.settled();
  canceled = session.receipts.of(cancel.ackNonce ?? "") ?? file;
  expect(canceled).toMatchObject({ request: "", ack: { orderId, status: "canceled" } });
  await at.advance(400);
  await at.venue.promises?.log.advance();
  const { published } = at.venue.promises!.log;
  honestCheckpoint = published!.note;
  honest = await publishedBlocks(url, published!);
  proof = await session.preconfirmProof(ackNonce);
});

/** Judges against a changed copy of the log. */
async function judged(
  change: (blocks: DishonestBlock[], at: number) => void,
  {
    withheld,
    checkpoints,
    of = file,
  }: { withheld?: string; checkpoints?: string[]; of?: ReceiptFile } = {},
): Promise<Verdict> {
  const blocks = honest.map(({ header, acks }) => ({ header, acks: [...acks] }));
  change(blocks, of.block - 1);
  const log = await publish(blocks, logKey, withheld);
  onTestFinished(() => log.close());
  return judgeReceipt(of, { url: log.url, nowMs, ...(checkpoints && { checkpoints }) });
}

/** The exit code and the output of the independent checker. */
function checked(evidence: EvidenceFile, ...options: string[]): [number | null, string] {
  const path = join(folder, `${evidence.verdict}.evidence`);
  writeFileSync(path, JSON.stringify(evidence));
  const command = [CHECKER, path, logKey.text, ...options];
  const { status, stdout } = spawnSync(process.execPath, command, { timeout: 30_000 });
  return [status, stdout.toString().trim()];
}

function confirmed(verdict: Verdict): [number | null, string] {
  if (verdict.verdict !== "broken") throw new Error(JSON.stringify(verdict));
  return checked(verdict.evidence);
}

function openReceipt(receipt: ReceiptFile): OpenedReceipt {
  const opened = openReceiptFile(receipt);
  if (typeof opened === "string") throw new Error(opened);
  return opened;
}

describe("an honest venue", () => {
  test("pending before its first checkpoint, kept after it", async () => {
    expect(early.verdict).toBe("pending");
    const verdict = await judgeReceipt(file, { url, nowMs, checkpoints: [honestCheckpoint] });
    expect(verdict).toEqual({
      verdict: "kept",
      block: file.block,
      checkpointSize: honest.length,
      cosigners: [],
    });
  });

  test("a cancel: kept; differs where the answer is not what was signed", async () => {
    const options = { url, nowMs };
    expect(await judgeReceipt(canceled, options)).toMatchObject({
      verdict: "kept",
      block: canceled.block,
    });
    const shown = { ...Object(canceled.ack), remainingSize: 9 };
    expect(await judgeReceipt({ ...canceled, ack: shown }, options)).toEqual({
      verdict: "differs",
      reason: expect.stringMatching(/^remainingSize is [0-9.]+ in the leaf, 9 here$/),
    });
  });

  test("the proof: leads to the leaf of the receipt, without a network", async () => {
    const checked = await checkOrderProof(proof, logKey.text);
    if (typeof checked === "string") throw new Error(checked);
    expect(checked.leaf.ackNonce).toBe(file.position);
    for (const changed of [proof.replace("index", "indes"), proof.slice(0, -20), ""]) {
      expect(typeof (await checkOrderProof(changed, logKey.text))).toBe("string");
    }
  });

  test("a pinned key with spaces around it: the same key", async () => {
    const options = { url, nowMs, logKey: ` ${logKey.text}\n` };
    expect((await judgeReceipt(file, options)).verdict).toBe("kept");
  });

  test("a receipt that was changed, or of another key: proves nothing", async () => {
    const options = { url, nowMs };
    const changed = { ...file, block: file.block + 1 };
    expect((await judgeReceipt(changed, options)).verdict).toBe("invalid");
    const { text } = newLogKey("venue.example/log").key;
    expect((await judgeReceipt(file, { ...options, logKey: text })).verdict).toBe("invalid");
    expect((await judgeReceipt({ format: "x" }, options)).verdict).toBe("invalid");
    expect((await judgeReceipt({ ...file, block: -1 }, options)).verdict).toBe("invalid");
  });

  test("every path is over the rate limit once: kept", async () => {
    const limited = new Set<string>();
    const fetchBytes: FetchBytes = async (each, init) => {
      if (limited.has(each)) return fetch(each, init);
      limited.add(each);
      return new Response("", { status: 429, headers: { "retry-after": "0" } });
    };
    const verdict = await judgeReceipt(file, { url, nowMs, fetch: fetchBytes });
    expect(verdict.verdict).toBe("kept");
    expect([...limited].filter((each) => each.includes("/tile/")).length).toBeGreaterThan(0);
  });

  test("one reader for several receipts: the checkpoint alone is read again", async () => {
    const asked: string[] = [];
    const reader = new LogReader(url, (each, init) => {
      asked.push(each.slice(url.length));
      return fetch(each, init);
    });
    expect((await judgeReceipt(file, { url, nowMs, reader })).verdict).toBe("kept");
    const before = asked.length;
    expect((await judgeReceipt(file, { url, nowMs, reader })).verdict).toBe("kept");
    expect(asked.slice(before)).toEqual(["/tlog/checkpoint"]);
  });

  test("two checkpoints that agree: no hashes make them evidence of a fork", async () => {
    const { header } = honest[0]!;
    const blocks = Array.from({ length: 8 }, (_, i) => ({
      header: { ...header, number: i + 1 },
      acks: [],
    }));
    const log = await publish(blocks, logKey);
    onTestFinished(() => log.close());
    const tile = Buffer.from(await (await fetch(`${log.url}/tlog/tile/0/000.p/8`)).arrayBuffer());
    const leaves = blocks.map((_, i) => new Uint8Array(tile.subarray(i * 32, i * 32 + 32)));
    const rootOf = (start: number, end: number) => rootOfLeafHashes(leaves.slice(start, end));
    const noteOf = async (size: number) => {
      const part = await publish(blocks.slice(0, size), logKey);
      part.close();
      return part.checkpoint;
    };
    const receipt = evidenceReceipt(openReceipt(file));
    const evidenceOf = async (size: number, other: number, hashes: Uint8Array[]) => ({
      ...({ format: EVIDENCE_FORMAT, verdict: "forked", receipt } as const),
      checkpoint: await noteOf(size),
      other: { checkpoint: await noteOf(other), hashes: hashes.map(base64) },
    });
    const [one, two] = [rootOf(0, 2), rootOf(2, 4)];
    const shifted = [one.slice(0, 31), joinBytes(one.slice(31), two)];
    for (const [what, evidence] of [
      ["a proof", await evidenceOf(4, 2, [one, two])],
      ["a larger other one", await evidenceOf(4, 8, [rootOf(0, 4)])],
      ["an empty other one", await evidenceOf(4, 0, [leaves[0]!, leaves[1]!, two])],
      ["surplus hashes", await evidenceOf(4, 2, [leaves[2]!, leaves[3]!, one])],
      ["surplus hashes of one size", await evidenceOf(4, 4, [rootOf(0, 4), one])],
      ["hashes of other lengths", await evidenceOf(4, 2, shifted)],
      ["no hashes", await evidenceOf(4, 2, [])],
    ] as const) {
      expect(typeof (await checkEvidence(JSON.stringify(evidence))), what).toBe("string");
      expect(checked(evidence), what).toEqual([1, expect.stringMatching(/^not proven: /)]);
    }
    const cut = {
      ...(await evidenceOf(4, 2, [one, two])),
      receipt: { ...receipt, receipt: "AYA" },
    };
    expect(checked(cut)).toEqual([1, "not proven: the receipt is cut"]);
  });
});

describe("a dishonest venue", () => {
  test("absent: the acknowledgement is left out", async () => {
    const verdict = await judged((blocks, at) => {
      blocks[at]!.acks = blocks[at]!.acks.filter(({ position }) => position !== file.position);
    });
    expect(verdict).toMatchObject({ verdict: "broken", kind: "absent" });
    expect(confirmed(verdict)).toEqual([0, "proven: absent"]);
  });

  test("absent: a cancel is left out; the evidence convinces others", async () => {
    const leaveOut = (blocks: DishonestBlock[], at: number) => {
      const { acks } = blocks[at]!;
      blocks[at]!.acks = acks.filter(({ position }) => position !== canceled.position);
    };
    const verdict = await judged(leaveOut, { of: canceled });
    expect(verdict).toMatchObject({ verdict: "broken", kind: "absent" });
    expect(confirmed(verdict)).toEqual([0, "proven: absent"]);
  });

  test("elsewhere: it is in the next block, or at another position", async () => {
    const moved = await judged((blocks, at) => {
      const acks = blocks[at]!.acks;
      const mine = acks.find(({ position }) => position === file.position)!;
      blocks[at]!.acks = acks.filter((ack) => ack !== mine);
      const position = blocks[at + 1]!.header.firstPosition;
      blocks[at + 1]!.acks.unshift({ ...mine, position });
    });
    expect(moved).toMatchObject({ verdict: "broken", kind: "elsewhere" });
    expect(confirmed(moved)).toEqual([0, "proven: elsewhere"]);
    const swapped = await judged((blocks, at) => {
      const { acks } = blocks[at]!;
      const [one, two] = [acks[0]!, acks[1]!];
      acks[0] = { ...one, leafHash: two.leafHash };
      acks[1] = { ...two, leafHash: one.leafHash };
    });
    expect(swapped).toMatchObject({ verdict: "broken", kind: "elsewhere" });
    expect(confirmed(swapped)).toEqual([0, "proven: elsewhere"]);
  });

  test("different: another acknowledgement has its position", async () => {
    const verdict = await judged((blocks, at) => {
      const { acks } = blocks[at]!;
      const index = acks.findIndex(({ position }) => position === file.position);
      acks[index] = { position: file.position, leafHash: new Uint8Array(32).fill(7) };
    });
    expect(verdict).toMatchObject({ verdict: "broken", kind: "different" });
    expect(confirmed(verdict)).toEqual([0, "proven: different"]);
  });

  test("forked: the history before the receipt was changed", async () => {
    const verdict = await judged((blocks, at) => {
      blocks[at - 1]!.acks = [];
    });
    expect(verdict).toMatchObject({ verdict: "broken", kind: "forked" });
    expect(confirmed(verdict)).toEqual([0, "proven: forked"]);
  });

  test("forked: it contradicts a checkpoint that the trader kept, of any size", async () => {
    const later = (blocks: DishonestBlock[]): void => {
      const last = blocks.at(-1)!;
      last.acks = [];
    };
    const same = await judged(later, { checkpoints: [honestCheckpoint] });
    expect(same).toMatchObject({ verdict: "broken", kind: "forked" });
    expect(confirmed(same)).toEqual([0, "proven: forked"]);
    const longer = await judged(
      (blocks) => {
        later(blocks);
        const { header } = blocks.at(-1)!;
        const number = header.number + 1;
        const firstPosition = header.lastPosition + 1;
        const next = { ...header, number, firstPosition, lastPosition: firstPosition + 1 };
        blocks.push({ header: next, acks: [] });
      },
      { checkpoints: [honestCheckpoint] },
    );
    expect(longer).toMatchObject({ verdict: "broken", kind: "forked" });
    expect(confirmed(longer)).toEqual([0, "proven: forked"]);
  });

  test("misdated: its time is before the block before, or after its block", async () => {
    const { timeMs } = openReceipt(file).receipt.statement;
    for (const change of [-3_600_000, 3_600_000]) {
      const misdated = signedAgain(file, { timeMs: timeMs + change }, logKey);
      const verdict = await judgeReceipt(misdated, { url, nowMs });
      expect(verdict).toMatchObject({ verdict: "broken", kind: "misdated" });
      expect(confirmed(verdict)).toEqual([0, "proven: misdated"]);
    }
    // The bounds themselves are honest: a block and the next order may have one time.
    const at = file.block - 1;
    for (const bound of [honest[at - 1]!.header.timeMs, honest[at]!.header.timeMs]) {
      const dated = signedAgain(file, { timeMs: bound }, logKey);
      expect((await judgeReceipt(dated, { url, nowMs })).verdict).toBe("kept");
    }
  });

  test("twice: one nonce has receipts at two positions", async () => {
    const { request = "", leaf = "" } = file;
    const again = signedAgain(file, { position: file.position + 1 }, logKey, { request, leaf });
    const verdict = await judgeReceipt(file, { url, nowMs, receipts: [file, again] });
    expect(verdict).toMatchObject({ verdict: "broken", kind: "twice" });
    expect(confirmed(verdict)).toEqual([0, "proven: twice"]);
    const requestHash = new Uint8Array(32).fill(9);
    const changes = { position: file.position - 1, requestHash };
    const other = signedAgain(file, changes, logKey, { leaf });
    const second = await judgeReceipt(file, { url, nowMs, receipts: [{}, other] });
    expect(second).toMatchObject({ verdict: "broken", kind: "twice" });
    expect(confirmed(second)).toEqual([0, "proven: twice"]);
  });

  test("twice: the operations of one batch, a retry, and receipts that do not hold are none", async () => {
    const batch = JSON.stringify({ nonce: 7, operations: [{}, {}, {}] });
    const requestHash = requestHashOf(batch);
    const { leaf = "", position } = file;
    const more = { request: batch, leaf };
    const operation = signedAgain(file, { requestHash }, logKey, more);
    const at = (distance: number) =>
      signedAgain(file, { requestHash, position: position + distance }, logKey, more);
    const verdictWith = async (one: ReceiptFile, ...receipts: unknown[]) => {
      const { verdict } = await judgeReceipt(one, { url, nowMs, receipts });
      return verdict;
    };
    expect(await verdictWith(operation, at(1), at(-2))).toBe("kept");
    expect(await verdictWith(operation, at(3))).toBe("broken");
    const retry = signedAgain(file, {}, logKey, { leaf });
    expect(await verdictWith(file, retry)).toBe("kept");
    const { session } = openReceipt(file).receipt.statement;
    const foreign = signedAgain(file, { session: session + 1, position: 1 }, logKey, { leaf });
    expect(await verdictWith(file, foreign)).toBe("kept");
    const forged = signedAgain(file, { position: 1 }, newLogKey(logKey.name).key, { leaf });
    expect(await verdictWith(file, forged, { ...forged, logKey: logKey.text })).toBe("kept");
  });

  test("differs: the JSON of the answer is not what was signed", async () => {
    const options = { url, nowMs };
    expect((await judgeReceipt(file, options)).verdict).toBe("kept");
    const shown = { ...Object(file.ack), remainingSize: 9 };
    expect(await judgeReceipt({ ...file, ack: shown }, options)).toEqual({
      verdict: "differs",
      reason: expect.stringMatching(/^remainingSize is [0-9.]+ in the leaf, 9 here$/),
    });
    const later = { ...Object(file.ack), time: 1 };
    expect(await judgeReceipt({ ...file, ack: later }, options)).toEqual({
      verdict: "differs",
      reason: expect.stringMatching(/^time is \d+ in the receipt, 1 here$/),
    });
    const { leaf = "" } = file;
    const changed = leaf.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    expect((await judgeReceipt({ ...file, leaf: changed }, options)).verdict).toBe("invalid");
  });

  test("a fork without cosignatures: its checkpoint counts as none where the witness's key is given", async () => {
    const witness = new TestCosigner();
    const witnessKeys = [witness.text];
    const fork = await publish(honest, logKey);
    onTestFinished(() => fork.close());
    const judge = (ms: number, require?: number) =>
      judgeReceipt(file, { url: fork.url, nowMs: nowMs + ms, witnessKeys, require });
    expect((await judge(1_000)).verdict).toBe("pending");
    expect(await judge(61_000)).toEqual({
      verdict: "withheld",
      reason:
        "there is no valid checkpoint: the checkpoint has 0 of the 1 cosignatures that are required",
    });
    expect((await judge(61_000, 0)).verdict).toBe("kept");
    const text = fork.checkpoint.slice(0, fork.checkpoint.indexOf("\n\n") + 1);
    const cosigned = fork.checkpoint + witness.line(text);
    const reader = new LogReader(fork.url, (each, init) =>
      each.endsWith("/checkpoint") ? Promise.resolve(new Response(cosigned)) : fetch(each, init),
    );
    const verdict = await judgeReceipt(file, { url: fork.url, nowMs, witnessKeys, reader });
    expect(verdict).toMatchObject({ verdict: "kept", cosigners: [witness.key.name] });
    const invalid = await judgeReceipt(file, { url, nowMs, witnessKeys: [logKey.text] });
    expect(invalid.verdict).toBe("invalid");
  });

  test("evidence: with the key of a witness, only under checkpoints that it cosigned", async () => {
    const witness = new TestCosigner();
    const verdict = await judged((blocks, at) => {
      blocks[at]!.acks = [];
    });
    if (verdict.verdict !== "broken" || verdict.kind === "twice") throw new Error(verdict.verdict);
    const { evidence } = verdict;
    if (!("checkpoint" in evidence)) throw new Error("no checkpoint");
    const witnessKeys = [witness.text];
    const text = evidence.checkpoint.slice(0, evidence.checkpoint.indexOf("\n\n") + 1);
    const cosigned = { ...evidence, checkpoint: evidence.checkpoint + witness.line(text) };
    for (const [given, require, isProven] of [
      [evidence, undefined, false],
      [evidence, 0, true],
      [cosigned, undefined, true],
    ] as const) {
      const result = await checkEvidence(JSON.stringify(given), { witnessKeys, require });
      expect(typeof result !== "string").toBe(isProven);
      const more = require === undefined ? [] : ["--require", String(require)];
      const [code] = checked(given, "--witness", witness.text, ...more);
      expect(code).toBe(isProven ? 0 : 1);
    }
  });

  test("withheld: the list, the entries or the tiles are not handed out", async () => {
    for (const withheld of ["/acks/", "/entries/", "/tile/0/"]) {
      expect((await judged(() => undefined, { withheld })).verdict, withheld).toBe("withheld");
    }
  });

  test("withheld: acknowledgements of before the venue's window are asked for once, and the reason says so", async () => {
    let asked = 0;
    const fetchBytes: FetchBytes = async (each, init) => {
      if (!each.includes("/acks/")) return fetch(each, init);
      asked++;
      return new Response(null, { status: 410 });
    };
    const verdict = await judgeReceipt(file, { url, nowMs, fetch: fetchBytes });
    expect(verdict).toEqual({
      verdict: "withheld",
      reason: `/tlog/acks/${file.block} is older than what the venue keeps online (410); its operator has the log`,
    });
    expect(asked).toBe(1);
  });

  test("overdue: no checkpoint covers the block after a minute; none at all is withholding", async () => {
    const log = await publish(honest.slice(0, file.block - 1), logKey);
    onTestFinished(() => log.close());
    const judge = (ms: number) => judgeReceipt(file, { url: log.url, nowMs: nowMs + ms });
    expect((await judge(1_000)).verdict).toBe("pending");
    expect((await judge(61_000)).verdict).toBe("overdue");
    const silent = await publish(honest, logKey, "/checkpoint");
    onTestFinished(() => silent.close());
    const verdict = await judgeReceipt(file, { url: silent.url, nowMs: nowMs + 61_000 });
    expect(verdict.verdict).toBe("withheld");
  });

  test("withheld: what is served is no checkpoint, or one of another key", async () => {
    const foreign = await publish(honest, newLogKey("venue.example/log").key);
    onTestFinished(() => foreign.close());
    const rubbish = await serve((_request, reply) => reply.end("x"));
    for (const [at, reason] of [
      [foreign.url, "the log's key did not sign the checkpoint"],
      [rubbish, "the checkpoint cannot be read"],
    ] as const) {
      const judge = (ms: number) => judgeReceipt(file, { url: at, nowMs: nowMs + ms });
      expect((await judge(1_000)).verdict).toBe("pending");
      expect(await judge(61_000)).toEqual({
        verdict: "withheld",
        reason: `there is no valid checkpoint: ${reason}`,
      });
    }
  });

  test("overdue: a receipt of a time to come, which is never a minute ago", async () => {
    const { timeMs } = openReceipt(file).receipt.statement;
    const log = await publish(honest.slice(0, file.block - 1), logKey);
    onTestFinished(() => log.close());
    const judge = (ms: number) => judgeReceipt(file, { url: log.url, nowMs: timeMs - ms });
    expect((await judge(59_000)).verdict).toBe("pending");
    expect((await judge(61_000)).verdict).toBe("overdue");
  });

  test("withheld: a response that does not come, drips, or does not end", async () => {
    const silent = await serve(() => undefined);
    const dripping = await serve((_request, reply) => {
      const timer = setInterval(() => reply.write("x"), 20);
      reply.once("close", () => clearInterval(timer));
    });
    const endless = await serve((_request, reply) => {
      const fill = (): void => {
        while (reply.write(Buffer.alloc(65_536)));
      };
      reply.on("drain", fill);
      fill();
    });
    for (const [bad, timeoutMs, reason] of [
      [silent, 300, /no complete response in 300 ms$/],
      [dripping, 300, /no complete response in 300 ms$/],
      [endless, 60_000, /the response has more than \d+ bytes$/],
    ] as const) {
      for (const part of ["/checkpoint", "/entries/", "/tile/0/", "/acks/"]) {
        const fetchBytes: FetchBytes = (each, init) =>
          fetch(each.includes(part) ? bad : each, init);
        const reader = new LogReader(url, fetchBytes, { timeoutMs });
        const verdict = await judgeReceipt(file, { url, nowMs: nowMs + 61_000, reader });
        expect(verdict, part).toEqual({
          verdict: "withheld",
          reason: expect.stringMatching(reason),
        });
      }
    }
  });

  test("evidence that was changed: not confirmed", async () => {
    const verdict = await judged((blocks, at) => {
      blocks[at]!.acks = [];
    });
    if (verdict.verdict !== "broken") throw new Error(verdict.verdict);
    const path = join(folder, "changed.evidence");
    for (const changed of [
      { ...verdict.evidence, verdict: "different" },
      { ...verdict.evidence, checkpoint: honestCheckpoint },
      { ...verdict.evidence, receipt: { ...file, position: file.position + 1 } },
    ]) {
      writeFileSync(path, JSON.stringify(changed));
      const { status } = spawnSync(process.execPath, [CHECKER, path, logKey.text]);
      expect(status).toBe(1);
    }
    const opened = await openCheckpoint(
      honestCheckpoint,
      parseNoteKey(logKey.text)!,
      verifyEd25519,
    );
    expect(typeof opened).not.toBe("string");
  });
});
