/**
 * Readers in a process of their own: so many sockets that subscribe and count frames. Told to expect
 * a frame, they say when the last of them has it; told to, they leave the stream and join it again
 * over the same sockets.
 */
import type { Socket } from "node:net";
import { FrameCounter, type FrameSink } from "./frame-counter.js";
import { isOk, openSocket, textMessage } from "./plain-socket.js";

export interface ReadersPlan {
  readonly port: number;
  readonly sockets: number;
  /** null: the server sends by itself. */
  readonly subscribe: string | null;
}

export type ReadersRequest = ReadersPlan | "expect" | "join" | "leave" | "count";

/** Frames that all sockets have read so far. */
export interface Counted {
  readonly frames: number;
}

export interface Arrival {
  /** Of the clock that all processes of a machine share. */
  readonly lastAtNs: string;
  readonly frameBytes: number;
}

class Reader {
  readonly counter = new FrameCounter();
  /** Operations that were answered. */
  answers = 0;
  private socket: Socket | undefined;
  private readonly onFrame: FrameSink = (chunk, at) => {
    if (isOk(chunk, at)) this.answers++;
  };

  constructor(private readonly onFrames: (reader: Reader, before: number) => void) {}

  async open(port: number): Promise<void> {
    this.socket = await openSocket(port, undefined, (chunk) => {
      const before = this.counter.frames;
      this.counter.push(chunk, this.onFrame);
      this.onFrames(this, before);
    });
  }

  say(op: "subscribe" | "unsubscribe", stream: string): void {
    this.socket?.write(textMessage(JSON.stringify({ op, streams: [stream] })));
  }
}

/** The answer to the subscription, and the snapshot. */
const FIRST_FRAMES = 2;

const readers: Reader[] = [];
let stream: string | null = null;
let expected = Number.POSITIVE_INFINITY;
let missing = 0;
let onProgress: () => void = () => undefined;

function onFrames({ counter }: Reader, before: number): void {
  onProgress();
  if (before >= expected || counter.frames < expected) return;
  missing--;
  if (missing > 0) return;
  const lastAtNs = String(process.hrtime.bigint());
  process.send?.({ lastAtNs, frameBytes: counter.lastBytes } satisfies Arrival);
}

async function until(isReached: (reader: Reader) => boolean): Promise<void> {
  while (!readers.every(isReached)) {
    await new Promise<void>((resolve) => {
      onProgress = resolve;
    });
  }
  onProgress = () => undefined;
}

async function open({ port, sockets, subscribe }: ReadersPlan): Promise<void> {
  stream = subscribe;
  for (let i = 0; i < sockets; i++) {
    const reader = new Reader(onFrames);
    readers.push(reader);
    await reader.open(port);
    if (stream !== null) reader.say("subscribe", stream);
  }
  if (stream !== null) await until(({ counter }) => counter.frames >= FIRST_FRAMES);
}

async function say(op: "subscribe" | "unsubscribe"): Promise<void> {
  for (const reader of readers) {
    reader.answers = 0;
    if (stream !== null) reader.say(op, stream);
  }
  await until(({ answers }) => answers > 0);
}

/** Each socket's next frame counts, wherever its count stands. */
function expectOneMore(): void {
  const most = Math.max(...readers.map(({ counter }) => counter.frames));
  for (const { counter } of readers) counter.frames = most;
  expected = most + 1;
  missing = readers.length;
  process.send?.("expecting");
}

function framesRead(): number {
  return readers.reduce((sum, { counter }) => sum + counter.frames, 0);
}

async function answer(request: ReadersRequest): Promise<string | Counted> {
  if (request === "count") return { frames: framesRead() };
  if (request === "join") await say("subscribe");
  else if (request === "leave") await say("unsubscribe");
  else if (request !== "expect") await open(request);
  return "done";
}

process.on("message", (request: ReadersRequest) => {
  if (request === "expect") expectOneMore();
  else void answer(request).then((word) => process.send?.(word));
});
