/**
 * Closes connections whose peers do not read: what they are sent fills the memory of this process and, up
 * to 4 MB each, of the kernel.
 *
 *   unsent = in this process + in the kernel's send queue
 *
 * A connection with more than `SMALL_BYTES` unsent, of which the peer takes less than `LEAST_BYTES` in
 * `timeoutMs`, is closed. So is the one that has taken nothing for longest, again and again, while the
 * connections of one address have more than `bytesPerAddress` unsent. They are closed with a reset: after
 * a FIN the kernel would keep the bytes and offer them for minutes.
 */

import { fstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

interface UnreadOptions {
  readonly timeoutMs: number;
  readonly bytesPerAddress: number;
  onClosed(): void;
  readonly sendQueues?: () => Promise<SendQueues>;
  readonly monotonic?: () => number;
}

const SMALL_BYTES = 65_536;
const LEAST_BYTES = 16_384;
const CHECKS_PER_TIMEOUT = 5;

class Tracked {
  readonly inode: number;
  /** To be destroyed once little is unsent. */
  isEnding = false;
  unsent = 0;
  /** What the peer had taken when it last took enough, or when little was unsent. */
  private taken = 0;

  constructor(
    readonly socket: Socket,
    /** Undefined: a proxy, which has the connections of many clients. */
    readonly address: string | undefined,
    /** When the peer last took enough. */
    public progressMs: number,
  ) {
    this.inode = inodeOf(socket);
  }

  /** Whether anything that matters may be unsent. */
  get mayBeUnread(): boolean {
    return this.socket.bytesWritten - this.taken > SMALL_BYTES;
  }

  look(queues: SendQueues, nowMs: number): void {
    const { socket, inode } = this;
    const handle = handleOf(socket);
    const inKernel = queues.get(inode) ?? 0;
    const given =
      handle === undefined
        ? socket.bytesWritten - socket.writableLength
        : handle.bytesWritten - handle.writeQueueSize;
    const taken = given - inKernel;
    this.unsent = socket.bytesWritten - taken;
    if (this.unsent > SMALL_BYTES && taken - this.taken < LEAST_BYTES) return;
    this.taken = taken;
    this.progressMs = nowMs;
  }
}

export class UnreadConnections {
  private readonly tracked = new Map<Socket, Tracked>();
  private timer: NodeJS.Timeout | undefined;
  private readonly sendQueues: () => Promise<SendQueues>;
  private readonly monotonic: () => number;
  private isChecking = false;

  constructor(private readonly options: UnreadOptions) {
    this.sendQueues = options.sendQueues ?? readSendQueues;
    this.monotonic = options.monotonic ?? (() => performance.now());
  }

  start(): void {
    const everyMs = this.options.timeoutMs / CHECKS_PER_TIMEOUT;
    this.timer ??= setInterval(() => void this.check(), everyMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    for (const { isEnding, socket } of this.tracked.values()) if (isEnding) socket.destroy();
  }

  add(socket: Socket, address: string | undefined): void {
    const tracked = new Tracked(socket, address, this.monotonic());
    this.tracked.set(socket, tracked);
    socket.once("close", () => this.tracked.delete(socket));
  }

  /** Destroys a socket that has been ended, now or once its peer has taken what it was sent. */
  destroyWhenRead(socket: Socket): void {
    const tracked = this.tracked.get(socket);
    if (tracked?.mayBeUnread === true && this.timer !== undefined) tracked.isEnding = true;
    else socket.destroy();
  }

  /** Looks at connections that have been sent enough, and closes those that are not read. */
  async check(): Promise<void> {
    const suspects: Tracked[] = [];
    const startMs = this.monotonic();
    for (const each of this.tracked.values()) {
      if (each.isEnding || each.mayBeUnread) suspects.push(each);
      else each.progressMs = startMs;
    }
    if (suspects.length === 0 || this.isChecking) return;
    this.isChecking = true;
    const queues = await this.sendQueues();
    this.isChecking = false;
    const nowMs = this.monotonic();
    const byAddress = new Map<string, Tracked[]>();
    for (const each of suspects) {
      if (each.socket.destroyed) continue;
      each.look(queues, nowMs);
      if (each.isEnding && each.unsent <= SMALL_BYTES) each.socket.destroy();
      else if (nowMs - each.progressMs >= this.options.timeoutMs) this.close(each);
      else if (each.address !== undefined && each.unsent > SMALL_BYTES) {
        const others = byAddress.get(each.address);
        if (others === undefined) byAddress.set(each.address, [each]);
        else others.push(each);
      }
    }
    for (const connections of byAddress.values()) this.closeBeyondBound(connections);
  }

  private closeBeyondBound(connections: Tracked[]): void {
    let unsent = connections.reduce((sum, each) => sum + each.unsent, 0);
    connections.sort((a, b) => a.progressMs - b.progressMs || b.unsent - a.unsent);
    for (const each of connections) {
      if (unsent <= this.options.bytesPerAddress) return;
      unsent -= each.unsent;
      this.close(each);
    }
  }

  private close({ socket }: Tracked): void {
    this.options.onClosed();
    socket.resetAndDestroy();
  }
}

const TABLES = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
/** Columns of a line: `local remote state tx_queue:rx_queue … inode`; numbers are hex but for the inode, 0 without a process. */
const LINE = /^ *\d+: \S+ \S+ \S+ (?!00000000)([0-9A-F]{8}):\S+ \S+ \S+ +\d+ +\d+ ([1-9]\d*) /gm;

type SendQueues = ReadonlyMap<number, number>;

/**
 * What the kernel holds of a connection that its peer has not taken: Linux lists it in bytes, by the inode
 * of the socket. Elsewhere nothing is known of it.
 *
 * Bytes by inode, of all connections for which the kernel holds any.
 */
async function readSendQueues(): Promise<SendQueues> {
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
function inodeOf(socket: Socket): number {
  const fd = handleOf(socket)?.fd ?? -1;
  if (fd < 0) return 0;
  try {
    return fstatSync(fd).ino;
  } catch {
    return 0;
  }
}
