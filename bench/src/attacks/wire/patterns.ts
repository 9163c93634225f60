/**
 * How attacks send. Each pattern runs until the network is over. A connection that the server closes
 * is opened again.
 */
import { upgrade } from "../../harness/wire.js";
import type { Traffic } from "../attack.js";
import type { AttackLine, LineOptions } from "./line.js";
import type { AttackNetwork } from "./network.js";

/** The bytes of every write, or a function that returns the next. */
type Source = Buffer | (() => Buffer);

export interface FloodOptions {
  readonly connections: number;
  readonly isUnread?: boolean;
  readonly isHalfOpen?: boolean;
  /** Makes each connection a WebSocket first, with this token if any. */
  readonly socket?: { readonly token?: string };
  /** Sent once, first, on each connection. */
  readonly opening?: Buffer;
}

/** About the size of one write. */
const PIPELINE_BYTES = 65_536;
const REFUSED_PAUSE_MS = 5;
const OPENED_PER_TURN = 32;
const FULL_PAUSE_MS = 1;
const PACING_MS = 5;
/** Long enough that the venue has accepted all connections and the budget of the address is full again. */
const VOLLEY_PAUSE_MS = 700;

/** The given requests repeated in one buffer of about a write's size. */
export function pipeline(...requests: readonly Buffer[]): Buffer {
  const once = Buffer.concat(requests);
  return repeated(once, Math.max(1, Math.floor(PIPELINE_BYTES / once.length)));
}

export function repeated(bytes: Buffer, count: number): Buffer {
  return Buffer.concat(Array<Buffer>(count).fill(bytes));
}

/** Writes as fast as the server reads, on all connections. */
export function flood(source: Source, options: FloodOptions): Traffic {
  return async (network) => {
    const pump = (line: AttackLine): void => {
      if (network.isOver || !line.isOpen) return;
      // One write per event-loop turn, so that all connections progress.
      if (line.write(nextOf(source))) setImmediate(pump, line);
    };
    keepOpen(network, options, pump, pump);
    await network.over;
  };
}

/** A fixed number of writes a second over all connections together, whatever the answers. */
export function paced(source: Source, perSecond: number, options: FloodOptions): Traffic {
  return async (network) => {
    const ready: AttackLine[] = [];
    keepOpen(network, options, (line) => ready.push(line));
    const startedMs = performance.now();
    let sent = 0;
    const timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedMs) * perSecond) / 1_000);
      for (; sent < due && ready.length > 0 && !network.isOver; sent++) {
        const line = ready.shift()!;
        if (!line.isOpen) continue;
        line.write(nextOf(source));
        ready.push(line);
      }
    }, PACING_MS);
    await network.over;
    clearInterval(timer);
  };
}

/** Rests, then writes once on every connection in the same moment; again and again. */
export function volleys(source: Source, options: FloodOptions): Traffic {
  return async (network) => {
    const ready = new Set<AttackLine>();
    keepOpen(network, options, (line) => ready.add(line));
    const timer = setInterval(() => {
      for (const line of ready) {
        if (network.isOver || !line.isOpen) ready.delete(line);
        else line.write(nextOf(source));
      }
    }, VOLLEY_PAUSE_MS);
    await network.over;
    clearInterval(timer);
  };
}

/** Where connections come from, in turn, and how many are opened a second over all. */
export interface AttackCrowd {
  readonly addresses: readonly string[];
  readonly perSecond: number;
}

/** Keeps `count` connections open, as fast as it can or as the crowd does; `onOpen` is called for each. */
export function openMany(
  count: number,
  options: LineOptions,
  onOpen: (line: AttackLine) => void,
  { addresses, perSecond }: AttackCrowd = { addresses: [], perSecond: Number.POSITIVE_INFINITY },
): Traffic {
  return async (network) => {
    let next = 0;
    const startedMs = performance.now();
    const fill = (): void => {
      const due = ((performance.now() - startedMs) * perSecond) / 1_000;
      let opened = 0;
      while (!network.isOver && opened < OPENED_PER_TURN && network.size < count && next < due) {
        const localAddress = addresses[next++ % addresses.length];
        const from = localAddress === undefined ? {} : { localAddress };
        network.open({ ...options, ...from, onConnect: onOpen });
        opened++;
      }
      if (network.isOver) return;
      if (opened > 0) setImmediate(fill);
      else setTimeout(fill, FULL_PAUSE_MS);
    };
    fill();
    await network.over;
  };
}

export function together(...traffics: readonly Traffic[]): Traffic {
  return async (network) => {
    await Promise.all(traffics.map((traffic) => traffic(network)));
  };
}

/** Each of the buffers in rotation. */
export function rotating(buffers: readonly Buffer[]): () => Buffer {
  let next = 0;
  return () => buffers[next++ % buffers.length]!;
}

function nextOf(source: Source): Buffer {
  return typeof source === "function" ? source() : source;
}

/** `onReady` is called for each connection that can send, `onDrain` when it has drained. */
function keepOpen(
  network: AttackNetwork,
  options: FloodOptions,
  onReady: (line: AttackLine) => void,
  onDrain: (line: AttackLine) => void = () => undefined,
): void {
  const { socket, opening, isUnread = false, isHalfOpen = false } = options;
  const openOne = (): void => {
    let wasConnected = false;
    const begin = (line: AttackLine): void => {
      if (opening !== undefined) line.write(opening);
      onReady(line);
    };
    network.open({
      isUnread,
      isHalfOpen,
      onConnect: (line) => {
        wasConnected = true;
        if (socket !== undefined) line.write(upgrade(socket.token));
        // An unread socket never sees the answer to its upgrade.
        if (socket === undefined || isUnread) begin(line);
      },
      onStatus: (line, status) => {
        if (socket !== undefined && !isUnread && status === "101") begin(line);
      },
      onDrain,
      onLost: () => {
        if (wasConnected) setImmediate(openOne);
        else setTimeout(openOne, REFUSED_PAUSE_MS);
      },
    });
  };
  for (let i = 0; i < options.connections; i++) openOne();
}
