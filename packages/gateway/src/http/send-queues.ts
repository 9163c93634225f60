/**
 * What the kernel holds of a connection that its peer has not taken: Linux lists it in bytes, by the inode
 * of the socket. Elsewhere nothing is known of it.
 */

import { fstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

const TABLES = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
/** Columns of a line: `local remote state tx_queue:rx_queue … inode`; numbers are hex but for the inode, 0 without a process. */
const LINE = /^ *\d+: \S+ \S+ \S+ (?!00000000)([0-9A-F]{8}):\S+ \S+ \S+ +\d+ +\d+ ([1-9]\d*) /gm;

export type SendQueues = ReadonlyMap<number, number>;

/** Bytes by inode, of all connections for which the kernel holds any. */
export async function readSendQueues(): Promise<SendQueues> {
  const queues = new Map<number, number>();
  for (const table of TABLES) {
    const text = await readFile(table, "latin1").catch(() => "");
    for (const [, bytes = "", inode] of text.matchAll(LINE)) {
      queues.set(Number(inode), Number.parseInt(bytes, 16));
    }
  }
  return queues;
}

/** The part of a socket's handle that Node does not document. */
interface Handle {
  readonly fd: number;
  /** Bytes handed to libuv, and those of them that it has not given to the kernel. */
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

export function handleOf(socket: Socket): Handle | undefined {
  const handle: unknown = Reflect.get(socket, "_handle");
  return isHandle(handle) ? handle : undefined;
}

function isHandle(value: unknown): value is Handle {
  if (typeof value !== "object" || value === null) return false;
  return ["fd", "bytesWritten", "writeQueueSize"].every(
    (name) => typeof Reflect.get(value, name) === "number",
  );
}

/** The inode of an open socket; 0 if it is not known. */
export function inodeOf(socket: Socket): number {
  const fd = handleOf(socket)?.fd ?? -1;
  if (fd < 0) return 0;
  try {
    return fstatSync(fd).ino;
  } catch {
    return 0;
  }
}
