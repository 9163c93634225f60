/** A session's receipts, where answers are changed or lost between a real venue and the client. */

import type { FetchLike, ReceiptProblem, Session } from "@perpgate/sdk";
import { newLogKey } from "@perpgate/venue";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { BID, newClient, newSession, startVenue } from "../testing/venue.js";

const { key: logKey } = newLogKey("venue.example/log");

let url: string;

beforeAll(async () => {
  const at = await startVenue({ promises: { logKey, checkpointMs: 60_000 } }, afterAll);
  url = at.url;
}, 120_000);

interface Faults {
  /** Another venue than that of the file. */
  readonly at?: string;
  /** Reads of the log's key that fail. */
  readonly failedReads?: number;
  /** What replaces fields of the venue's answer about itself. */
  readonly honesty?: object;
  /** What replaces fields of the answers to orders, in their order. */
  readonly answers?: readonly object[];
  readonly onReceiptProblem?: (problem: ReceiptProblem) => void;
}

interface Trader {
  readonly session: Session;
  readonly problems: readonly ReceiptProblem[];
  /** How often the venue was asked about itself. */
  reads(): number;
}

async function trader(faults: Faults): Promise<Trader> {
  const { failedReads = 0, honesty, answers = [] } = faults;
  const problems: ReceiptProblem[] = [];
  const { onReceiptProblem = (problem: ReceiptProblem) => void problems.push(problem) } = faults;
  let reads = 0;
  let orders = 0;
  const spoiling: FetchLike = async (to, init) => {
    const isHonesty = to.endsWith("/v1/honesty");
    if (isHonesty && ++reads <= failedReads) throw new TypeError("no connection");
    const response = await fetch(to, init);
    const isOrder = init.method === "POST" && /\/v1\/orders(\/batch)?$/.test(to);
    const change = isHonesty ? honesty : isOrder ? answers[orders++] : undefined;
    if (change === undefined) return response;
    const body = { ...Object(JSON.parse(await response.text())), ...change };
    const { status, headers } = response;
    return { status, headers, text: async () => JSON.stringify(body) };
  };
  const client = newClient(
    { url: faults.at ?? url },
    { fetch: spoiling, retries: 0, onReceiptProblem },
  );
  return { session: await newSession(client), problems, reads: () => reads };
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
  expect(problems).toEqual(Array(2).fill({ ackNonce, reason, file: undefined }));
});

test("acknowledgements that fit no statement: each is reported, the next one is kept", async () => {
  const answers = [{ expectedBlock: -1 }, { ackNonce: "x" }];
  const { session, problems } = await trader({ answers });
  const { ackNonce } = await session.placeOrder(BID);
  await session.placeOrder(BID);
  const last = await session.placeOrder(BID);
  await session.receipts.settled();
  const reason = "the receipt cannot be read";
  expect(problems).toEqual([
    { ackNonce, reason, file: undefined },
    { ackNonce: "x", reason, file: undefined },
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
    { ackNonce: one.ackNonce, reason, file: undefined },
    { ackNonce: "7", reason, file: undefined },
  ]);
  expect(kept(session)).toEqual([two.ackNonce]);
});

test("a venue that issues none, or has no log: no receipt is missed, and it is asked once", async () => {
  const other = await startVenue({}, onTestFinished);
  for (const faults of [
    { honesty: { issuesReceipts: false }, answers: Array(2).fill({ receipt: undefined }) },
    { at: other.url },
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
