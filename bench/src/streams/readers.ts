/**
 * Readers in a process of their own: so many sockets that subscribe and count frames. Told to expect
 * a frame, they say when the last of them has it.
 */
import { FrameCounter } from "./frame-counter.js";
import { openSocket, textMessage } from "./plain-socket.js";

export interface ReadersPlan {
  readonly port: number;
  readonly sockets: number;
  /** null: the server sends by itself. */
  readonly subscribe: string | null;
}

export interface Arrival {
  /** Of the clock that all processes of a machine share. */
  readonly lastAtNs: string;
  readonly frameBytes: number;
}

/** The answer to the subscription, and the snapshot. */
const FIRST_FRAMES = 2;

const counters: FrameCounter[] = [];
let expected = Number.POSITIVE_INFINITY;
let missing = 0;
let onFirst: () => void = () => undefined;

function onFrames(counter: FrameCounter, before: number): void {
  if (before < FIRST_FRAMES) onFirst();
  if (before >= expected || counter.frames < expected) return;
  missing--;
  if (missing > 0) return;
  const lastAtNs = String(process.hrtime.bigint());
  process.send?.({ lastAtNs, frameBytes: counter.lastBytes } satisfies Arrival);
}

async function open({ port, sockets, subscribe }: ReadersPlan): Promise<void> {
  for (let i = 0; i < sockets; i++) {
    const counter = new FrameCounter();
    counters.push(counter);
    const socket = await openSocket(port, undefined, (chunk) => {
      const before = counter.frames;
      counter.push(chunk);
      onFrames(counter, before);
    });
    if (subscribe !== null) {
      socket.write(textMessage(JSON.stringify({ op: "subscribe", streams: [subscribe] })));
    }
  }
  while (subscribe !== null && counters.some(({ frames }) => frames < FIRST_FRAMES)) {
    await new Promise<void>((resolve) => {
      onFirst = resolve;
    });
  }
}

/** Each socket's next frame counts, wherever its count stands. */
function expectOneMore(): void {
  const most = Math.max(...counters.map(({ frames }) => frames));
  for (const counter of counters) counter.frames = most;
  expected = most + 1;
  missing = counters.length;
  process.send?.("expecting");
}

process.on("message", (message: ReadersPlan | "expect") => {
  if (message === "expect") expectOneMore();
  else void open(message).then(() => process.send?.("open"));
});
