/** Judges the receipts that clients were given, by what a venue publishes afterwards. */

import { setTimeout as delay } from "node:timers/promises";
import { bytesFromHex } from "@perpgate/protocol/core";
import { receiptFile, requestHashOf } from "@perpgate/protocol/receipts";
import { type FetchBytes, judgeReceipt } from "@perpgate/sdk";
import { expect } from "vitest";

/** An acknowledgement with its receipt, and the request that it answers. */
export interface GivenReceipt {
  readonly address: string;
  readonly request: string;
  readonly ack: Readonly<Record<string, unknown>>;
}

/** Of the newest: a crash can only lose those. */
const JUDGED = 200;
/** A venue that stops may answer what it has in flight without one. */
const LEAST_SIGNED = 0.8;

/** Fails unless the venue at `url` keeps every promise, and contradicts none of the checkpoints. */
export async function expectKept(
  given: readonly GivenReceipt[],
  url: string,
  checkpoints: readonly string[] = [],
): Promise<void> {
  const signed = given.filter(({ ack }) => typeof ack.receipt === "string");
  expect(signed.length, "receipts").toBeGreaterThanOrEqual(given.length * LEAST_SIGNED);
  const newest = signed.toSorted((a, b) => blockOf(a) - blockOf(b)).slice(-JUDGED);
  const last = newest.at(-1);
  if (last === undefined) throw new Error("no acknowledgement has a receipt");
  const { logKey, venueId } = await honestyOf(url);
  const covering = await checkpointOver(blockOf(last), url);
  const fetch = cached(`${url}/tlog/checkpoint`, covering);
  for (const { address, request, ack } of newest) {
    const context = {
      venueId: bytesFromHex(venueId) ?? new Uint8Array(0),
      address: bytesFromHex(address) ?? new Uint8Array(0),
      position: Number(ack.ackNonce),
      block: Number(ack.expectedBlock),
      requestHash: requestHashOf(request),
    };
    const file = receiptFile(logKey, context, String(ack.receipt));
    const verdict = await judgeReceipt(file, { url, checkpoints, fetch });
    expect(verdict, `position ${context.position}`).toMatchObject({ verdict: "kept" });
  }
}

/** The last checkpoint that the venue has published; none before its first. */
export async function checkpointsAt(url: string): Promise<string[]> {
  const answer = await fetch(`${url}/tlog/checkpoint`);
  const text = await answer.text();
  return answer.ok ? [text] : [];
}

async function honestyOf(url: string): Promise<{ logKey: string; venueId: string }> {
  const answer = await fetch(`${url}/v1/honesty`);
  const honesty: { logKey: string; venueId: string } = JSON.parse(await answer.text());
  return honesty;
}

async function checkpointOver(block: number, url: string): Promise<string> {
  for (;;) {
    const [checkpoint] = await checkpointsAt(url);
    if (Number(checkpoint?.split("\n")[1] ?? 0) >= block) return checkpoint ?? "";
    await delay(50);
  }
}

const blockOf = ({ ack }: GivenReceipt): number => Number(ack.expectedBlock);

/** Reads each tile once, and one checkpoint for all. */
function cached(checkpointUrl: string, checkpoint: string): FetchBytes {
  const read = new Map<string, Promise<{ status: number; bytes: ArrayBuffer }>>();
  const get = async (url: string) => {
    const answer = await fetch(url);
    return { status: answer.status, bytes: await answer.arrayBuffer() };
  };
  const bytes = new TextEncoder().encode(checkpoint).buffer;
  read.set(checkpointUrl, Promise.resolve({ status: 200, bytes }));
  return async (url) => {
    const found = read.get(url) ?? get(url);
    read.set(url, found);
    const answer = await found;
    return { status: answer.status, arrayBuffer: async () => answer.bytes };
  };
}
