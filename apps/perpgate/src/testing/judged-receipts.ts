/** Judges the receipts that clients were given, by what a venue publishes afterwards. */

import { setTimeout as delay } from "node:timers/promises";
import { bytesFromHex } from "@perpgate/protocol/core";
import { receiptFile, requestHashOf } from "@perpgate/protocol/receipts";
import { judgeReceipt, LogReader } from "@perpgate/sdk";
import { expect } from "vitest";

/** An acknowledgement with its receipt, and the request that it answers. */
export interface GivenReceipt {
  readonly address: string;
  readonly request: string;
  readonly ack: Readonly<Record<string, unknown>>;
}

/** A crash can only lose the newest. */
const JUDGED = 200;
/** A venue that stops may answer what it has in flight without one. */
const LEAST_SIGNED = 0.8;

/**
 * Fails unless the venue at `url` keeps what the newest receipts promise, at most this many of them, and
 * contradicts none of the checkpoints.
 */
export async function expectKept(
  given: readonly GivenReceipt[],
  url: string,
  checkpoints: readonly string[] = [],
  most = JUDGED,
): Promise<void> {
  const signed = given.filter(({ ack }) => typeof ack.receipt === "string");
  expect(signed.length, "receipts").toBeGreaterThanOrEqual(given.length * LEAST_SIGNED);
  const newest = signed.toSorted((a, b) => blockOf(a) - blockOf(b)).slice(-most);
  const last = newest.at(-1);
  if (last === undefined) throw new Error("no acknowledgement has a receipt");
  const { logKey, venueId } = await honestyOf(url);
  const covering = await checkpointOver(blockOf(last), url);
  const reader = readerUnder(covering, url);
  for (const [at, { address, request, ack }] of newest.entries()) {
    const context = {
      venueId: bytesFromHex(venueId) ?? new Uint8Array(0),
      address: bytesFromHex(address) ?? new Uint8Array(0),
      position: Number(ack.ackNonce),
      block: Number(ack.expectedBlock),
      requestHash: requestHashOf(request),
    };
    const file = receiptFile(logKey, context, String(ack.receipt));
    // All are judged by one checkpoint, which contradicts the others or does not.
    const others = at === 0 ? checkpoints : [];
    const verdict = await judgeReceipt(file, { url, checkpoints: others, reader });
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

/** Reads each tile once, and has one checkpoint for all. */
function readerUnder(checkpoint: string, url: string): LogReader {
  return new LogReader(url, async (address, init) =>
    address.endsWith("/tlog/checkpoint") ? new Response(checkpoint) : fetch(address, init),
  );
}
