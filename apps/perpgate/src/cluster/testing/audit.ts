/**
 * What must hold after every test of a cluster, read from the gateways' mirrors: every order that was
 * acknowledged is in each of them at its position, once, with the same acknowledgement; nothing that was
 * answered `not_executed` ever ran; all mirrors lead to the same state and blocks.
 */

import { verify } from "@perpgate/venue";
import { expect } from "vitest";
import { MirrorLog } from "./mirror-log.js";

/** What clients were answered. */
export interface Answers {
  readonly acknowledged: readonly Acknowledged[];
  /** Session and nonce of what was never executed. */
  readonly notExecuted: readonly Sent[];
  /** Fails if one waited for too long. */
  expectShortWaits?(): void;
}

export interface Acknowledged extends Partial<Sent> {
  readonly ackNonce: number;
  readonly orderId: number;
}

export interface Sent {
  /** Position of the session. */
  readonly session: number;
  readonly nonce: number;
}

/** Returns the longest of the mirrors, for what else a test asks about. */
export async function auditMirrors(
  folders: readonly string[],
  ...given: readonly Answers[]
): Promise<MirrorLog> {
  for (const folder of folders) {
    expect(await verify(folder), folder).toMatchObject({ fault: null });
  }
  const logs = folders.map((folder) => new MirrorLog(folder));
  try {
    const [first, ...others] = replayed(logs);
    for (const other of others) expect(other).toEqual(first);
    for (const answers of given) expectAnswers(logs, answers);
    for (const log of logs) expectConsistent(log);
  } finally {
    for (const log of logs) log.close();
  }
  // The last: a run in which somebody only waited is repeated, one with another fault is not.
  for (const answers of given) answers.expectShortWaits?.();
  return logs.reduce((longest, log) => (log.end > longest.end ? log : longest));
}

/** Each to its own end; returns the states where the shortest one ends. */
function replayed(logs: readonly MirrorLog[]) {
  const common = Math.min(...logs.map(({ end }) => end));
  const states = logs.map((log) => log.replayTo(common));
  for (const log of logs) log.replayTo(log.end);
  return states;
}

function expectAnswers(logs: readonly MirrorLog[], answers: Answers): void {
  const { acknowledged, notExecuted } = answers;
  expect(acknowledged.length).toBeGreaterThan(0);
  for (const { session, nonce, ackNonce, orderId } of acknowledged) {
    const found = logs.map(({ executed }) => executed.get(ackNonce));
    const name = session === undefined ? found[0]?.name : `${session}/${nonce}`;
    const wanted = { name, orderId, acknowledgement: found[0]?.acknowledgement };
    for (const each of found) expect(each, `position ${ackNonce}`).toEqual(wanted);
  }
  const orders = logs.flatMap(({ executed }) => [...executed.values()]);
  const ran = new Set(orders.map(({ name }) => name));
  for (const { session, nonce } of notExecuted) {
    expect(ran.has(`${session}/${nonce}`), `nonce ${nonce}`).toBe(false);
  }
}

function expectConsistent({ executed }: MirrorLog): void {
  const ran = new Set<string>();
  for (const [position, { name }] of executed) {
    expect(ran.has(name), `position ${position} of ${name}`).toBe(false);
    ran.add(name);
  }
}
