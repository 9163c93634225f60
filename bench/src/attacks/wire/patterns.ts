/**
 * The ways in which attacks send. Each runs until the network is over. A connection that the server
 * closes is opened again: an attacker that is shut out insists.
 */
import type { Traffic } from "../attack.js";
import { upgrade } from "./frames.js";
import type { Line, LineOptions } from "./line.js";
import type { Network } from "./network.js";

/** The next bytes of a connection; called for each write. */
export type Source = () => Buffer;

export interface FloodOptions {
  readonly connections: number;
  readonly isUnread?: boolean;
  readonly isHalfOpen?: boolean;
  /** Makes each connection a socket first, with this token if any. */
  readonly socket?: { readonly token?: string };
  /** Sent once, first, on each connection. */
  readonly opening?: Buffer;
}

/** A server that refuses connections is asked again after this time, as fast as a loop can. */
const REFUSED_PAUSE_MS = 5;

/** Writes as fast as the server reads, on all connections in turn. */
export function flood(source: Source | Buffer, options: FloodOptions): Traffic {
  const next = typeof source === "function" ? source : () => source;
  return async (network) => {
    keepOpen(network, options, (line) => {
      const pump = (): void => {
        if (network.isOver || !line.isOpen) return;
        // One write a turn: otherwise one connection would have the process to itself.
        if (line.write(next())) setImmediate(pump);
      };
      pump();
      return pump;
    });
    await network.over;
  };
}

/** So many writes a second over all connections together, whatever the answers. */
export function paced(source: Source | Buffer, perSecond: number, options: FloodOptions): Traffic {
  const next = typeof source === "function" ? source : () => source;
  return async (network) => {
    const ready: Line[] = [];
    keepOpen(network, options, (line) => {
      ready.push(line);
      return () => undefined;
    });
    const startedMs = performance.now();
    let sent = 0;
    const timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedMs) * perSecond) / 1_000);
      for (; sent < due && ready.length > 0 && !network.isOver; sent++) {
        const line = ready.shift()!;
        if (!line.isOpen) continue;
        line.write(next());
        ready.push(line);
      }
    }, 5);
    await network.over;
    clearInterval(timer);
  };
}

/** Opens connections as fast as it can; `onOpen` does what it wants with each. */
export function openMany(
  atOnce: number,
  options: LineOptions,
  onOpen: (line: Line) => void,
): Traffic {
  return async (network) => {
    const fill = (): void => {
      let opened = 0;
      while (!network.isOver && opened < OPENED_PER_TURN && network.size < atOnce) {
        network.open({ ...options, onConnect: onOpen });
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

const OPENED_PER_TURN = 32;
/** With all connections open, how often it is looked whether one is gone. */
const FULL_PAUSE_MS = 1;

export function together(...traffics: readonly Traffic[]): Traffic {
  return async (network) => {
    await Promise.all(traffics.map((traffic) => traffic(network)));
  };
}

/** In turn, each of the given buffers. */
export function inTurn(buffers: readonly Buffer[]): Source {
  let next = 0;
  return () => buffers[next++ % buffers.length]!;
}

/** Keeps connections open; `onReady` is called for each and returns what to do when it has drained. */
function keepOpen(
  network: Network,
  options: FloodOptions,
  onReady: (line: Line) => () => void,
): void {
  const { socket, opening, isUnread = false, isHalfOpen = false } = options;
  const openOne = (): void => {
    let onDrain: () => void = () => undefined;
    let wasConnected = false;
    const begin = (line: Line): void => {
      if (opening !== undefined) line.write(opening);
      onDrain = onReady(line);
    };
    network.open({
      isUnread,
      isHalfOpen,
      onConnect: (line) => {
        wasConnected = true;
        if (socket === undefined) begin(line);
        else line.write(upgrade(socket.token));
        // An unread socket never sees the answer to its upgrade.
        if (socket !== undefined && isUnread) begin(line);
      },
      onStatus: (line, status) => {
        if (socket !== undefined && !isUnread && status === "101") begin(line);
      },
      onDrain: () => onDrain(),
      onLost: () => {
        if (wasConnected) setImmediate(openOne);
        else setTimeout(openOne, REFUSED_PAUSE_MS);
      },
    });
  };
  for (let i = 0; i < options.connections; i++) openOne();
}
