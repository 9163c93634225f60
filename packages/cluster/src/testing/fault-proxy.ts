/**
 * A proxy between a client and one nats-server that understands enough of the protocol to drop the
 * answers to publishes, to hold publishes back and release them later, to deliver late, and to fall
 * silent.
 */

import { connect, createServer, type Server, type Socket } from "node:net";

/** Splits the bytes of a NATS connection into whole frames: a line, and its payload if it has one. */

interface Frame {
  readonly bytes: Buffer;
  /** "HPUB", "MSG", "PING" and so on. */
  readonly verb: string;
  readonly args: readonly string[];
}

const WITH_PAYLOAD = new Set(["PUB", "HPUB", "MSG", "HMSG"]);
const END = "\r\n";

class FrameSplitter {
  private rest: Buffer = Buffer.alloc(0);

  /** The frames that are complete with these bytes. */
  push(chunk: Buffer): Frame[] {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const frames: Frame[] = [];
    for (let frame = this.next(); frame !== undefined; frame = this.next()) frames.push(frame);
    return frames;
  }

  private next(): Frame | undefined {
    const lineEnd = this.rest.indexOf(END);
    if (lineEnd < 0) return undefined;
    const [verb = "", ...args] = this.rest.toString("latin1", 0, lineEnd).split(/\s+/);
    const upper = verb.toUpperCase();
    const payload = WITH_PAYLOAD.has(upper) ? Number(args.at(-1)) + END.length : 0;
    const length = lineEnd + END.length + payload;
    if (this.rest.length < length) return undefined;
    const bytes = this.rest.subarray(0, length);
    this.rest = this.rest.subarray(length);
    return { bytes, verb: upper, args };
  }
}

interface LateFrame {
  readonly bytes: Buffer;
  readonly dueMs: number;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** What the server has sent and the client gets later, in order. */
  readonly late: LateFrame[];
  /** Publishes of the log that are held back. */
  held: Buffer[];
}

export class FaultProxy {
  /** The server's answers to publishes of the log do not reach the client. */
  dropsAnswers = false;
  /** Nothing is forwarded, in neither direction; connections stay open. */
  isSilent = false;
  /** By how much later whatever the server sends from now on reaches the client. */
  lateMs = 0;
  /** Publishes seen since the start. */
  publishes = 0;
  private holds = false;
  /** The publish that `holdFrom` waits for. */
  private awaited: { readonly text: string; readonly onSeen: () => void } | undefined;
  private readonly pairs = new Set<Pair>();
  /** Reply subjects of the log's publishes. */
  private readonly replies = new Set<string>();

  private constructor(
    private readonly listener: Server,
    private readonly target: number,
    private readonly isPublish: (subject: string) => boolean,
  ) {}

  /** `stream`: whose publishes it holds and whose answers it drops. */
  static async start(serverUrl: string, stream: string): Promise<FaultProxy> {
    const listener = createServer();
    const target = Number(new URL(serverUrl).port);
    const proxy = new FaultProxy(listener, target, (subject) =>
      subject.startsWith(`${stream}.log.`),
    );
    listener.on("connection", (client) => proxy.pair(client));
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    const address = this.listener.address();
    return `nats://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  }

  /** Publishes that are held back now. */
  get heldPublishes(): number {
    return [...this.pairs].reduce((sum, { held }) => sum + held.length, 0);
  }

  /** Holds back the log's publishes from now on, also after their client has left. */
  hold(): void {
    this.holds = true;
  }

  /** Holds back from the first publish on that contains the text; resolves then. */
  holdFrom(text: string): Promise<void> {
    return new Promise((onSeen) => {
      this.awaited = { text, onSeen };
    });
  }

  /** Sends what is held back, and holds no more. */
  release(): void {
    this.holds = false;
    for (const pair of this.pairs) {
      for (const bytes of pair.held) pair.server.write(bytes);
      pair.held = [];
      if (pair.client.destroyed) pair.server.end();
    }
  }

  /** Ends every connection; new ones are accepted. */
  cut(): void {
    for (const { client, server } of this.pairs) {
      client.destroy();
      server.destroy();
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.listener.close(resolve));
    this.cut();
    await closed;
  }

  private pair(client: Socket): void {
    const server = connect(this.target, "127.0.0.1");
    const pair: Pair = { client, server, late: [], held: [] };
    this.pairs.add(pair);
    client.setNoDelay(true);
    server.setNoDelay(true);
    const up = new FrameSplitter();
    const down = new FrameSplitter();
    client.on("data", (chunk: Buffer) => {
      for (const frame of up.push(chunk)) this.fromClient(pair, frame);
    });
    server.on("data", (chunk: Buffer) => {
      for (const frame of down.push(chunk)) this.fromServer(pair, frame);
    });
    client.on("error", () => undefined);
    server.on("error", () => undefined);
    client.on("close", () => {
      // Held publishes outlive their client.
      if (pair.held.length === 0) server.destroy();
    });
    server.on("close", () => {
      client.destroy();
      this.pairs.delete(pair);
    });
  }

  private fromClient(pair: Pair, { bytes, verb, args }: Frame): void {
    if (this.isSilent) return;
    const isPublish = (verb === "PUB" || verb === "HPUB") && this.isPublish(args[0] ?? "");
    if (isPublish) {
      this.publishes++;
      this.replies.add(args[1] ?? "");
      this.look(bytes);
    }
    if (isPublish && this.holds) pair.held.push(Buffer.from(bytes));
    else pair.server.write(bytes);
  }

  private look(bytes: Buffer): void {
    const { awaited } = this;
    if (awaited === undefined || !bytes.includes(awaited.text)) return;
    this.awaited = undefined;
    this.hold();
    awaited.onSeen();
  }

  private fromServer(pair: Pair, { bytes, verb, args }: Frame): void {
    if (this.isSilent) return;
    const isMessage = verb === "MSG" || verb === "HMSG";
    if (isMessage && this.dropsAnswers && this.replies.has(args[0] ?? "")) return;
    this.toClient(pair, bytes);
  }

  private toClient(pair: Pair, bytes: Buffer): void {
    const { client, late } = pair;
    if (this.lateMs === 0 && late.length === 0) {
      client.write(bytes);
      return;
    }
    late.push({ bytes, dueMs: performance.now() + this.lateMs });
    if (late.length === 1) writeLate(pair);
  }
}

/** Until nothing is late any more. */
function writeLate(pair: Pair): void {
  const { client, late } = pair;
  while (late[0] !== undefined && late[0].dueMs <= performance.now()) {
    client.write(late[0].bytes);
    late.shift();
  }
  if (late[0] === undefined || client.destroyed) return;
  setTimeout(() => writeLate(pair), late[0].dueMs - performance.now());
}
