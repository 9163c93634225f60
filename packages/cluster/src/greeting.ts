/**
 * Whether a server greets a new connection. A server whose process is stopped still accepts
 * connections, through its operating system, and the client library leaves such a socket open when
 * it gives up; this one is destroyed in every case.
 */

import { connect } from "node:net";

const DEFAULT_PORT = 4222;

/** Of a server in the settings, for a socket: without the brackets of an IPv6 address. */
export function addressOf(server: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(server.includes("://") ? server : `nats://${server}`);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: port === "" ? DEFAULT_PORT : Number(port) };
}

/** Rejects when the server sends nothing within the time. */
export function greets(server: string, withinMs: number): Promise<void> {
  const address = addressOf(server);
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    const end = (error?: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const timer = setTimeout(() => end(new Error(`silent for ${withinMs} ms`)), withinMs);
    socket.once("data", () => end());
    socket.once("error", end);
    socket.once("end", () => end(new Error("it closed the connection")));
  });
}
