/**
 * A bad network: a TCP proxy that cuts, stalls and swallows as it is told. It knows nothing of HTTP
 * or WebSocket, so what it does can happen at any byte.
 */

import { connect, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export type Direction = "up" | "down";
/**
 * What becomes of a chunk: it passes; the connection is cut before, within (4 KiB at most still
 * pass) or after it; or nothing passes toward the client any more.
 */
export type Fate = "pass" | "cut before" | "cut within" | "cut after" | "swallow";

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Nothing more comes through toward the client. */
  isSwallowed: boolean;
  readonly totalBytes: Record<Direction, number>;
}

export class CuttingProxy {
  /** Decides over each chunk; it is told how much has come on that way, the chunk included. */
  fate: (direction: Direction, totalBytes: number) => Fate = () => "pass";
  /** Whether new connections are cut at once. */
  isDown = false;
  /** Connections that were cut, for whatever reason. */
  cuts = 0;
  /** Connections that were made. */
  connections = 0;
  /** Chunks that have come from either side. */
  chunks = 0;
  private readonly pairs = new Set<Pair>();

  private constructor(
    private readonly server: Server,
    private target: { readonly host: string; readonly port: number },
  ) {
    server.on("connection", (client) => this.accept(client));
  }

  static async before(
    url: string,
    atEnd: (close: () => Promise<void>) => void = onTestFinished,
  ): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server, targetOf(url));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    atEnd(() => proxy.close());
    return proxy;
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  /** From now on, new connections lead elsewhere: a server that came back on another port. */
  leadTo(url: string): void {
    this.target = targetOf(url);
  }

  cutAll(): void {
    for (const pair of [...this.pairs]) this.cut(pair);
  }

  async close(): Promise<void> {
    this.cutAll();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(client: Socket): void {
    if (this.isDown) {
      client.resetAndDestroy();
      this.cuts++;
      return;
    }
    this.connections++;
    const upstream = connect(this.target.port, this.target.host);
    const pair: Pair = { client, upstream, isSwallowed: false, totalBytes: { up: 0, down: 0 } };
    this.pairs.add(pair);
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    client.on("data", (chunk: Buffer) => this.pass(pair, "up", upstream, chunk));
    upstream.on("data", (chunk: Buffer) => this.pass(pair, "down", client, chunk));
    for (const socket of [client, upstream]) {
      // A reset is one of the ways a connection ends; the end is what counts.
      socket.on("error", () => undefined);
      socket.on("close", () => this.end(pair));
    }
  }

  private pass(pair: Pair, direction: Direction, to: Socket, chunk: Buffer): void {
    this.chunks++;
    if (direction === "down" && pair.isSwallowed) return;
    pair.totalBytes[direction] += chunk.length;
    switch (this.fate(direction, pair.totalBytes[direction])) {
      case "pass":
        to.write(chunk);
        return;
      case "swallow":
        pair.isSwallowed = true;
        return;
      case "cut before":
        this.cut(pair);
        return;
      case "cut within":
        to.write(chunk.subarray(0, Math.min(4_096, Math.ceil(chunk.length / 2))), () =>
          this.cut(pair),
        );
        return;
      case "cut after":
        to.write(chunk, () => this.cut(pair));
        return;
    }
  }

  private cut(pair: Pair): void {
    if (!this.pairs.has(pair)) return;
    this.cuts++;
    this.end(pair);
  }

  private end(pair: Pair): void {
    if (!this.pairs.delete(pair)) return;
    pair.client.destroy();
    pair.upstream.destroy();
  }
}

function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
