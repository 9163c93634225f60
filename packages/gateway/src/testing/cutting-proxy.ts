/**
 * A bad network: a TCP proxy that cuts, stalls and swallows chunks as a test decides. It does not parse
 * HTTP or WebSocket, so a failure can happen at any byte.
 */

import { connect, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export type Direction = "up" | "down";
/**
 * The fate of a chunk: it passes; the connection is cut before, within (at most 4 KiB still pass) or
 * after it; or nothing passes to the client any more.
 */
export type Fate = "pass" | "cut before" | "cut within" | "cut after" | "swallow";

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Nothing more passes to the client. */
  isSwallowed: boolean;
  readonly totalBytes: Record<Direction, number>;
}

export class CuttingProxy {
  /** Decides the fate of each chunk, given the bytes so far in its direction, the chunk included. */
  fate: (direction: Direction, totalBytes: number) => Fate = () => "pass";
  /** Whether new connections are cut immediately. */
  isDown = false;
  /** Milliseconds that each chunk is on its way. */
  delayMs = 0;
  /** Connections cut so far. */
  cuts = 0;
  /** Connections accepted so far. */
  connections = 0;
  /** Chunks received from either side. */
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

  /** New connections go to another port, as of a restarted server. */
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
    client.on("data", (chunk: Buffer) => this.carry(pair, "up", upstream, chunk));
    upstream.on("data", (chunk: Buffer) => this.carry(pair, "down", client, chunk));
    for (const socket of [client, upstream]) {
      // A reset ends the connection like any other close.
      socket.on("error", () => undefined);
      socket.on("close", () => this.end(pair));
    }
  }

  private carry(pair: Pair, direction: Direction, to: Socket, chunk: Buffer): void {
    if (this.delayMs === 0) {
      this.pass(pair, direction, to, chunk);
      return;
    }
    setTimeout(() => {
      if (this.pairs.has(pair)) this.pass(pair, direction, to, chunk);
    }, this.delayMs);
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
