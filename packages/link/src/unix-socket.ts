/**
 * Links between processes of one machine: a socket in the venue's data folder, for its user alone.
 *
 * The name of a Unix socket has at most 107 bytes (Linux; 103 elsewhere). In a folder with a longer path
 * Linux reaches it through the folder's descriptor.
 */

import { chmodSync, closeSync, openSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { SocketTransport } from "./socket-transport.js";
import type { LinkTransport, Receiver } from "./transport.js";

export type Connect = (receiver: Receiver) => LinkTransport;

export interface EdgeListener {
  /** Accepts no more edges; the links of those that are connected are their owner's to end. */
  close(): Promise<void>;
}

export const LINK_SOCKET = "link.sock";
const PRIVATE_FILE = 0o600;
const MAX_NAME_BYTES = process.platform === "linux" ? 107 : 103;
export const MAX_EDGES = 256;

/** The caller holds the lock of the folder: a socket that is found there is a killed core's. */
export async function listenForEdges(
  folder: string,
  onEdge: (connect: Connect) => void,
): Promise<EdgeListener> {
  rmSync(join(folder, LINK_SOCKET), { force: true });
  const place = reachable(folder);
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    onEdge((receiver) => new SocketTransport(socket, "core", receiver)),
  );
  server.maxConnections = MAX_EDGES;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(place.name, resolve);
    });
    // Of one connection, such as when no descriptor is left for it: its edge tries again.
    server.on("error", () => undefined);
    chmodSync(place.name, PRIVATE_FILE);
  } catch (error) {
    place.release();
    throw error;
  }
  return {
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      // `close` removes the file by its name.
      place.release();
      await closed;
    },
  };
}

/** Rejects if no core listens there. */
export async function connectToCore(folder: string): Promise<Connect> {
  const place = reachable(folder);
  try {
    const socket = await new Promise<Socket>((resolve, reject) => {
      const connecting = connect({ path: place.name, allowHalfOpen: true });
      connecting.once("error", reject);
      connecting.once("connect", () => {
        connecting.off("error", reject);
        resolve(connecting);
      });
    });
    return (receiver) => new SocketTransport(socket, "edge", receiver);
  } finally {
    place.release();
  }
}

/** A name of the socket that is short enough, until it is released. */
function reachable(folder: string): { readonly name: string; release(): void } {
  const name = join(folder, LINK_SOCKET);
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return { name, release: () => undefined };
  if (process.platform !== "linux") {
    throw new Error(`the path ${name} has over ${MAX_NAME_BYTES} bytes, too many for a socket`);
  }
  const descriptor = openSync(folder, "r");
  return {
    name: `/proc/self/fd/${descriptor}/${LINK_SOCKET}`,
    release: () => closeSync(descriptor),
  };
}
