/** A session's receipts, where answers are changed or lost between a real venue and the client. */

import { checkEvidence, type FetchLike, type ReceiptProblem, type Session } from "@perpgate/sdk";
import { newLogKey } from "@perpgate/venue";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { signedAgain } from "../testing/dishonest-receipts.js";
import { BID, newClient, newSession, startVenue } from "../testing/venue.js";

const { key: logKey } = newLogKey("venue.example/log");

let url: string;

beforeAll(async () => {
  const at = await startVenue({ promises: { logKey, checkpointMs: 60_000 } }, afterAll);
  url = at.url;
});

interface Faults {
  /** Another venue than that of the file. */
  readonly at?: string;
  /** Reads of the log's key that fail. */
  readonly failedReads?: number;
  /** What replaces fields of the venue's answer about itself; may change between reads. */
  readonly honesty?: object;
  /** The error with which the venue answers about itself. */
  readonly refusal?: string;
  /** A pinned key. */
  readonly logKey?: string;
  /** What replaces fields of the answers to orders, in their order. */
  readonly answers?: readonly object[];
  /** The same of the answers to cancels. */
  readonly cancels?: readonly object[];
  readonly onReceiptProblem?: (problem: ReceiptProblem) => void;
}

interface Trader {
  readonly session: Session;
  readonly problems: readonly ReceiptProblem[];
  /** How often the venue was asked about itself. */
  reads(): number;
  /** From now on the venue answers about itself. */
  endRefusal(): void;
}

async function trader(faults: Faults): Promise<Trader> {
  const { failedReads = 0, honesty, answers = [], cancels = [], logKey: pinned } = faults;
  const refusal = { code: faults.refusal };
  const problems: ReceiptProblem[] = [];
  const { onReceiptProblem = (problem: ReceiptProblem) => void problems.push(problem) } = faults;
  let reads = 0;
  let orders = 0;
  let canceled = 0;
  const spoiling: FetchLike = async (to, init) => {
    const isHonesty = to.endsWith("/v1/honesty");
    if (isHonesty && ++reads <= failedReads) throw new TypeError("no connection");
    if (isHonesty && refusal.code !== undefined) return refused(refusal.code);
    const response = await fetch(to, init);
    const isOrder = init.method === "POST" && /\/v1\/orders(\/batch)?$/.test(to);
    const isCancel = init.method === "POST" && /\/v1\/orders\/.*cancel$/.test(to);
    const ofOrder = isOrder ? answers[orders++] : undefined;
    const ofCancel = isCancel ? cancels[canceled++] : undefined;
    const change = isHonesty ? honesty : (ofOrder ?? ofCancel);
    if (change === undefined) return response;
    const body = { ...Object(JSON.parse(await response.text())), ...change };
    const { status, headers } = response;
    return { status, headers, text: async () => JSON.stringify(body) };
  };
  const client = newClient(
    { url: faults.at ?? url },
    {
      fetch: spoiling,
      retries: 0,
      onReceiptProblem,
      ...(pinned === undefined ? {} : { logKey: pinned }),
    },
  );
  const endRefusal = () => {
    refusal.code = undefined;
  };
  return { session: await newSession(client), problems, reads: () => reads, endRefusal };
}

async function refused(code: string) {
  const body = JSON.stringify({ code, message: "No.", requestId: "x" });
  return new Response(body, { status: 404, headers: { "content-type": "application/json" } });
}

const kept = ({ receipts }: Session) => receipts.files.map(({ position }) => String(position));

test("the log's key cannot be read: the receipt is kept with the next one", async () => {
  const { session, problems } = await trader({ failedReads: 1 });
  const one = await session.placeOrder(BID);
  await session.receipts.settled();
  const two = await session.placeOrder(BID);
  await session.receipts.settled();
  expect(kept(session)).toEqual([one.ackNonce, two.ackNonce]);
  expect(problems).toEqual([]);
});

test("the log's key cannot be read: settled reads it again", async () => {
  const { session } = await trader({ failedReads: 1 });
  const { ackNonce } = await session.placeOrder(BID);
  await session.receipts.settled();
  await session.receipts.settled();
  expect(kept(session)).toEqual([ackNonce]);
});

test("the log's key can never be read: a thousand wait, the oldest beyond are reported", async () => {
  const answers: object[] = [{}];
  const { session, problems } = await trader({ failedReads: Number.POSITIVE_INFINITY, answers });
  const ack = await session.placeOrder(BID);
  answers.push({ results: Array(1_001).fill({ status: 200, ack }) });
  await session.batch([{ op: "cancel", orderId: ack.orderId }]);
  await session.receipts.settled();
  const reason = "it was not checked, the log's key could not be read";
  const { ackNonce } = ack;
  const kind = "not_checked";
  expect(problems).toEqual(Array(2).fill({ ackNonce, kind, reason, file: undefined }));
});

test("an answer that is not what was signed: reported, and its receipt is kept", async () => {
  const answers = [{ avgFillPrice: 59_999 }, { time: 5 }, { symbol: "ETHUSD" }, {}];
  const { session, problems } = await trader({ answers });
  for (const _ of answers) await session.placeOrder(BID);
  await session.receipts.settled();
  expect(problems.map(({ kind, reason }) => [kind, reason])).toEqual([
    ["differs", "avgFillPrice is 0 in the leaf, 59999 here"],
    ["differs", expect.stringMatching(/^time is \d+ in the receipt, 5 here$/)],
    ["differs", "symbol is BTCUSD in the leaf, ETHUSD here"],
  ]);
  expect(kept(session)).toHaveLength(4);
});

test("cancels, by id, by name, over the socket and in a batch: each has a receipt; what differs is reported", async () => {
  const { session, problems } = await trader({ cancels: [{}, {}, { remainingSize: 0.5 }] });
  const { orderId } = await session.placeOrder(BID);
  await session.placeOrder({ ...BID, clientOrderId: "one" });
  const last = await session.placeOrder(BID);
  const overSocket = await session.placeOrder(BID);
  const canceled = [
    await session.cancelOrder(orderId),
    await session.cancelOrder({ clientOrderId: "one" }),
    await session.cancelOrder(last.orderId),
    await session.stream.cancelOrder(overSocket.orderId),
  ];
  onTestFinished(() => session.stream.close());
  const batch = await session.batch([
    { op: "place", ...BID, clientOrderId: "two" },
    { op: "cancel", clientOrderId: "two" },
    { op: "cancel", orderId },
  ]);
  await session.receipts.settled();
  const [placed, ended, refused] = batch.results;
  expect([placed?.status, ended?.status, refused?.status]).toEqual([200, 200, 409]);
  const answered = [...canceled, placed?.ack, ended?.canceled].map((answer) => answer?.ackNonce);
  expect(kept(session).slice(-6)).toEqual(answered);
  const sizes = `remainingSize is ${last.remainingSize} in the leaf, 0.5 here`;
  expect(problems).toMatchObject([
    { ackNonce: canceled[2]?.ackNonce, kind: "differs", reason: sizes },
  ]);
});

test("an answer without its leaf, or with another one: reported, and its receipt is kept", async () => {
  const answers = [{ leaf: undefined }, { leaf: "AAAA" }];
  const { session, problems } = await trader({ answers });
  for (const _ of answers) await session.placeOrder(BID);
  await session.receipts.settled();
  expect(problems.map(({ kind }) => kind)).toEqual(["differs", "differs"]);
  expect(problems.map(({ reason }) => reason)).toEqual([
    expect.stringContaining("left out the leaf"),
    "its leaf is not the one that the receipt is about",
  ]);
  expect(kept(session)).toHaveLength(2);
});

test("one nonce at two positions: reported with evidence", async () => {
  const answers: object[] = [{}];
  const { session, problems } = await trader({ answers });
  const order = { ...BID, nonce: 7 };
  await session.placeOrder(order);
  await session.receipts.settled();
  const [file] = session.receipts.files;
  const { request = "", leaf = "" } = file!;
  const changes = { position: file!.position + 5 };
  const { receipt } = signedAgain(file!, changes, logKey, { request, leaf });
  answers.push({ receipt, ackNonce: String(changes.position) });
  await session.placeOrder(order);
  await session.receipts.settled();
  const twice = problems.find(({ kind }) => kind === "twice");
  const checked = await checkEvidence(JSON.stringify(twice?.evidence), { logKey: logKey.text });
  expect(checked).toMatchObject({ verdict: "twice" });
});

test("acknowledgements that fit no statement: each is reported, the next one is kept", async () => {
  const answers = [{ expectedBlock: -1 }, { ackNonce: "x" }];
  const { session, problems } = await trader({ answers });
  const { ackNonce } = await session.placeOrder(BID);
  await session.placeOrder(BID);
  const last = await session.placeOrder(BID);
  await session.receipts.settled();
  expect(problems).toEqual([
    { ackNonce, kind: "broken", reason: "its receipt cannot be read", file: undefined },
    {
      ackNonce: "x",
      kind: "broken",
      reason: "it is no receipt of a known format",
      file: undefined,
    },
  ]);
  expect(kept(session)).toEqual([last.ackNonce]);
});

test("a receipt that is left out: reported, alone and in a batch; the others are kept", async () => {
  const answers: object[] = [{ receipt: undefined }, {}];
  const { session, problems } = await trader({ answers });
  const one = await session.placeOrder(BID);
  const two = await session.placeOrder(BID);
  const ack = { ...two, ackNonce: "7", receipt: undefined };
  answers.push({ results: [{ status: 200, ack }] });
  await session.batch([{ op: "cancel", orderId: one.orderId }]);
  await session.receipts.settled();
  const reason = expect.stringContaining("has left it out");
  expect(problems).toEqual([
    { ackNonce: one.ackNonce, kind: "left_out", reason, file: undefined },
    { ackNonce: "7", kind: "left_out", reason, file: undefined },
  ]);
  expect(kept(session)).toEqual([two.ackNonce]);
});

test("a venue that issues none, or has no log: no receipt is missed, and it is asked once", async () => {
  const other = await startVenue({}, onTestFinished);
  for (const faults of [
    { honesty: { issuesReceipts: false }, answers: Array(2).fill({ receipt: undefined }) },
    { at: other.url },
    // As a venue before 0.2, which does not have the path.
    { at: other.url, refusal: "not_found" },
  ]) {
    const { session, problems, reads } = await trader(faults);
    await session.placeOrder(BID);
    await session.receipts.settled();
    await session.placeOrder(BID);
    await session.receipts.settled();
    expect(problems).toEqual([]);
    expect(reads()).toBe(1);
  }
});

test("the log's key is pinned, and the venue says that it issues no receipts: each is missed", async () => {
  const none = { receipt: undefined };
  for (const faults of [
    { honesty: { issuesReceipts: false }, answers: [none] },
    { refusal: "no_transparency_log", answers: [none] },
  ]) {
    const { session, problems } = await trader({ ...faults, logKey: logKey.text });
    const { ackNonce } = await session.placeOrder(BID);
    await session.receipts.settled();
    const reason = expect.stringContaining("says that it issues none");
    expect(problems).toEqual([{ ackNonce, kind: "left_out", reason, file: undefined }]);
  }
});

test("a venue that issues none any more: it is asked again, and no receipt is missed", async () => {
  const honesty = { issuesReceipts: true };
  const answers = [{}, { receipt: undefined }, { receipt: undefined }];
  const { session, problems, reads } = await trader({ honesty, answers });
  const { ackNonce } = await session.placeOrder(BID);
  await session.receipts.settled();
  honesty.issuesReceipts = false;
  for (const _ of [1, 2]) {
    await session.placeOrder(BID);
    await session.receipts.settled();
  }
  expect(problems).toEqual([]);
  expect(kept(session)).toEqual([ackNonce]);
  expect(reads()).toBe(2);
});

test.each(["no_transparency_log", "not_found"])(
  "a venue that had no log (%s) and issues receipts now: they are kept",
  async (refusal) => {
    const { session, problems, endRefusal } = await trader({
      refusal,
      answers: [{ receipt: undefined }],
    });
    await session.placeOrder(BID);
    await session.receipts.settled();
    endRefusal();
    const { ackNonce } = await session.placeOrder(BID);
    await session.receipts.settled();
    expect(problems).toEqual([]);
    expect(kept(session)).toEqual([ackNonce]);
  },
);

test("another key after a receipt was left out: broken", async () => {
  const shown = [newLogKey("venue.example/log").key.text];
  const honesty = {
    get logKey() {
      return shown.shift() ?? logKey.text;
    },
  };
  const { session, problems, reads } = await trader({
    honesty,
    answers: [{ receipt: undefined }],
  });
  const one = await session.placeOrder(BID);
  await session.receipts.settled();
  // Signed with the key of the second answer.
  const two = await session.placeOrder(BID);
  await session.receipts.settled();
  expect(reads()).toBe(2);
  expect(problems).toMatchObject([
    { ackNonce: one.ackNonce, kind: "left_out" },
    { ackNonce: two.ackNonce, kind: "broken" },
  ]);
  expect(kept(session)).toEqual([]);
});

test("a venue id that is none: reported", async () => {
  const { session, problems } = await trader({ honesty: { venueId: "abc" } });
  await session.placeOrder(BID);
  await session.receipts.settled();
  expect(problems).toHaveLength(1);
});

test("a callback that throws: an unhandled error, the next receipt is kept", async () => {
  const thrown: unknown[] = [];
  const caught = (error: unknown) => thrown.push(error);
  const listeners = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", caught);
  try {
    const { session } = await trader({
      answers: [{ expectedBlock: -1 }],
      onReceiptProblem: () => {
        throw new Error("a bug of the caller");
      },
    });
    await session.placeOrder(BID);
    const { ackNonce } = await session.placeOrder(BID);
    await session.receipts.settled();
    expect(kept(session)).toEqual([ackNonce]);
    expect(thrown.map(String)).toEqual(["Error: a bug of the caller"]);
  } finally {
    process.off("uncaughtException", caught);
    for (const listener of listeners) process.on("uncaughtException", listener);
  }
});
