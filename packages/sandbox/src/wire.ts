/**
 * The network between clients and the gateway: a port that hands on bytes, later if the test says so. It
 * reads nothing of them, so what arrives is what a gateway sends.
 */

import { connect, createServer, type Server, type Socket } from "node:net";

export interface Latency {
  /** Milliseconds of the machine's clock that a request and its answer take together. */
  readonly ms: number;
  /** By which that differs at most, from chunk to chunk. Default: 0. */
  readonly jitter?: number;
}

/** Bytes on their way in one direction of a connection; more are not read. */
const MAX_UNDERWAY_BYTES = 2 ** 20;

export class Wire {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly latency: () => Required<Latency>,
    /** 0 ≤ x < 1. */
    private readonly random: () => number,
  ) {}

  /** `port` 0: any free one. */
  static async open(
    port: number,
    target: number,
    latency: () => Required<Latency>,
    random: () => number,
  ): Promise<Wire> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    const wire = new Wire(server, latency, random);
    server.on("connection", (client: Socket) => {
      const options = { port: target, host: HOST, allowHalfOpen: true, noDelay: true };
      wire.join(client, connect(options));
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, HOST, resolve);
    });
    return wire;
  }

  get port(): number {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("the port is closed");
    return address.port;
  }

  /** What is on its way arrives first. Resolves once the port is free and every connection is closed. */
  close(): Promise<void> {
    const { ms, jitter } = this.latency();
    const cut = setTimeout(
      () => {
        for (const socket of this.sockets) socket.destroy();
      },
      CLOSE_MS + ms + jitter,
    );
    return new Promise((resolve) => {
      this.server.close(() => {
        clearTimeout(cut);
        resolve();
      });
    });
  }

  private join(client: Socket, gateway: Socket): void {
    this.carry(client, gateway);
    this.carry(gateway, client);
  }

  private carry(from: Socket, to: Socket): void {
    this.sockets.add(from);
    const way = new Way(from, to, () => this.delayMs());
    from.on("data", (chunk) => way.add(chunk.length, () => to.write(chunk)));
    from.on("end", () => way.add(0, () => void to.end()));
    from.on("error", () => undefined);
    from.on("close", (hadError) => {
      this.sockets.delete(from);
      if (hadError) way.cut();
      else way.add(0, () => to.destroySoon());
    });
  }

  /** One way is half of both. */
  private delayMs(): number {
    const { ms, jitter } = this.latency();
    if (ms === 0 && jitter === 0) return 0;
    return Math.max(0, ms / 2 + jitter * (this.random() - 0.5));
  }
}

const HOST = "127.0.0.1";
/** For peers to close their side. */
const CLOSE_MS = 200;

/** One direction of a connection: chunks arrive in the order in which they were sent. */
class Way {
  private dueMs = 0;
  private waiting = 0;
  private bytes = 0;
  /** Whether what was handed on waits for its reader. */
  private isFull = false;
  private readonly timers = new Set<NodeJS.Timeout>();

  constructor(
    private readonly from: Socket,
    private readonly to: Socket,
    private readonly delayMs: () => number,
  ) {}

  add(bytes: number, deliver: () => unknown): void {
    const nowMs = performance.now();
    this.dueMs = Math.max(this.dueMs, nowMs + this.delayMs());
    if (this.waiting === 0 && this.dueMs <= nowMs) {
      this.hand(deliver);
      return;
    }
    this.waiting++;
    this.bytes += bytes;
    this.flow();
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.waiting--;
      this.bytes -= bytes;
      this.hand(deliver);
      this.flow();
    }, this.dueMs - nowMs);
    this.timers.add(timer);
  }

  /** As a reset does it: what is on its way is lost. */
  cut(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.to.resetAndDestroy();
  }

  private hand(deliver: () => unknown): void {
    if (this.to.destroyed || deliver() !== false || this.isFull) return;
    this.isFull = true;
    this.to.once("drain", () => {
      this.isFull = false;
      this.flow();
    });
    this.flow();
  }

  /** Reads no more while the reader is behind, or while enough is underway. */
  private flow(): void {
    if (this.isFull || this.bytes > MAX_UNDERWAY_BYTES) this.from.pause();
    else this.from.resume();
  }
}
