/** What carries frames from one side of a link to the other. */

import { FrameDecoder, FrameEncoder } from "./codec.js";
import type { Frame, LinkEnd } from "./frames.js";

export interface LinkTransport {
  /** Bytes that were sent and wait for the other side to read. */
  readonly waitingBytes: number;
  /**
   * Frames arrive in the order in which they were sent, never within `send`.
   *
   * @throws FrameRefused for a frame that the other side would refuse.
   */
  send(frame: Frame): void;
  /** Ends both ends; frames that were sent before arrive. */
  end(): void;
}

export interface Receiver {
  /** Whether it takes no more frames until it has sent some; undefined: never. */
  readonly isFull?: boolean;
  /** `bytes`: that the frame took; 0 for one that was handed over as it is. */
  receive(frame: Frame, bytes?: number): void;
  /** The last call. `problem`: why, if the other side did not just end. */
  ended(problem: Error | undefined): void;
}

export interface MemoryOptions {
  /** Whether every frame is encoded and decoded, as between processes: for tests. */
  readonly isCoded?: boolean;
}

/**
 * Two ends in one process. A frame is handed over as it is, after the caller has returned: what an end
 * receives never runs inside what the other was doing when it sent.
 */
export function memoryTransport({ isCoded = false }: MemoryOptions = {}): {
  connectEdge(receiver: Receiver): LinkTransport;
  connectCore(receiver: Receiver): LinkTransport;
} {
  const edge = new MemoryEnd();
  const core = new MemoryEnd();
  const connect = (side: LinkEnd, own: MemoryEnd, other: MemoryEnd) => (receiver: Receiver) => {
    own.receiver = receiver;
    const pass = isCoded ? codedOnce(side) : (frame: Frame) => frame;
    return {
      waitingBytes: 0,
      send: (frame: Frame) => other.deliver(pass(frame)),
      end: () => {
        other.end();
        own.end();
      },
    };
  };
  return { connectEdge: connect("edge", edge, core), connectCore: connect("core", core, edge) };
}

/** Through bytes in two parts, so that no frame depends on how it is cut. */
function codedOnce(from: LinkEnd): (frame: Frame) => Frame {
  const encoder = new FrameEncoder();
  const decoder = new FrameDecoder(from);
  return (frame) => {
    encoder.add(frame);
    const bytes = encoder.take();
    const half = bytes.length >> 1;
    decoder.push(bytes.subarray(0, half));
    decoder.push(bytes.subarray(half));
    const decoded = decoder.next();
    if (decoded === undefined) throw new Error("a frame was encoded and is not complete");
    return decoded;
  };
}

class MemoryEnd {
  receiver: Receiver | undefined;
  private queue: Frame[] = [];
  private isOver = false;
  private isDue = false;

  deliver(frame: Frame): void {
    if (this.isOver) return;
    this.queue.push(frame);
    this.wake();
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.wake();
  }

  private wake(): void {
    if (this.isDue) return;
    this.isDue = true;
    queueMicrotask(() => this.flush());
  }

  private flush(): void {
    this.isDue = false;
    const { queue, isOver } = this;
    this.queue = [];
    for (const frame of queue) this.receiver?.receive(frame);
    if (isOver) this.receiver?.ended(undefined);
  }
}
