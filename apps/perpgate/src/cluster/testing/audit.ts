/**
 * What must hold after every test of a cluster, read from the gateways' mirrors: every order that was
 * acknowledged is in each of them at its position, once, with the same acknowledgement; nothing that was
 * answered `not_executed` ever ran; all mirrors lead to the same state.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { inspectLog, LOG_START, LogReader, nodeDisk } from "@perpgate/journal";
import { type Applied, Replica, verify } from "@perpgate/venue";
import { expect } from "vitest";
import type { ClusterLoad } from "./cluster-load.js";

interface Executed {
  readonly position: number;
  readonly acknowledgement: string;
}

interface Read {
  /** By session and nonce; every execution. */
  readonly orders: ReadonlyMap<string, readonly Executed[]>;
  readonly stateHash: string;
  readonly drops: number;
}

export async function auditMirrors(folders: readonly string[], load: ClusterLoad): Promise<void> {
  for (const folder of folders) {
    expect(await verify(folder), folder).toMatchObject({ fault: null });
  }
  const ends = folders.map((folder) => endOf(folder));
  const common = Math.min(...ends);
  const reads = folders.map((folder) => read(folder, common));
  const [first] = reads;
  for (const { stateHash } of reads) expect(stateHash).toBe(first?.stateHash);
  const whole = read(folders[ends.indexOf(Math.max(...ends))] ?? "", Number.MAX_SAFE_INTEGER);
  for (const { session, nonce, ackNonce } of load.acknowledged) {
    const found = whole.orders.get(`${session}/${nonce}`) ?? [];
    expect(
      found.map(({ position }) => position),
      `nonce ${nonce}`,
    ).toEqual([ackNonce]);
    for (const { orders } of reads) {
      const [there] = orders.get(`${session}/${nonce}`) ?? [];
      if (there !== undefined) expect(there).toEqual(found[0]);
    }
  }
  for (const { session, nonce } of load.notExecuted) {
    expect(whole.orders.get(`${session}/${nonce}`), `nonce ${nonce}`).toBeUndefined();
  }
  for (const [name, found] of whole.orders) expect(found.length, name).toBe(1);
  load.expectShortWaits();
}

function endOf(folder: string): number {
  return inspectLog(nodeDisk, join(folder, "journal"))?.end.batch ?? 0;
}

function read(folder: string, until: number): Read {
  const orders = new Map<string, Executed[]>();
  const onCommand = ({ seq, command, events }: Applied): void => {
    if (command.kind !== "PlaceOrder") return;
    const acknowledgement = events.decode().find(({ kind }) => kind === "OrderAcknowledged");
    if (acknowledgement === undefined) return;
    const name = `${command.session}/${command.nonce}`;
    const found = { position: seq, acknowledgement: JSON.stringify(acknowledgement) };
    orders.set(name, [...(orders.get(name) ?? []), found]);
  };
  const replica = new Replica(undefined, [{ onCommand }]);
  const reader = new LogReader(nodeDisk, join(folder, "journal"), LOG_START);
  try {
    const end = Math.min(until, endOf(folder));
    for (let batch = reader.next(end); batch !== undefined; batch = reader.next(end)) {
      replica.applyBatch(batch);
    }
  } finally {
    reader.close();
  }
  const stateHash = replica.engine.stateHash((bytes) =>
    createHash("sha256").update(bytes).digest("hex"),
  );
  return { orders, stateHash, drops: replica.drops };
}
